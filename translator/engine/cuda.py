"""Steps over one source on a GPU, each launched at once as a CUDA graph instead of kernel by kernel.

A step is some 160 small kernels (`python -m benchmarks.launches`), and to ask for them should take a processor longer
than a GPU takes to run them. A graph asks for them all at once. It is captured for a number of hypotheses and some
room, works on memory at fixed addresses, and serves any search that fits there.

Source: "CUDA semantics" of PyTorch's documentation, on CUDA graphs.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.engine.eager import EagerEngine, EagerSession
from translator.model import Cache, Encoded, Gates, Stepped, Transformer

log = logging.getLogger(__name__)
Outputs = tuple[Tensor, Tensor, Tensor]
"""Logits [R, V], the decoder's own weights [R, L, H, room] and those of cross-attention [R, L, H, source]."""
Work = Callable[[], Outputs]
Capture = Callable[[Work, torch.device], tuple[Callable[[], None], Outputs]]

ROWS, SOURCE, ROOM, KEPT = 12, 32, 64, 256 * 2**20
"""Hypotheses at most; a graph has room for a multiple of so many tokens; bytes of the graphs that wait for a search."""
NEAR = 1e-3
"""Of a number, or of what such numbers are like: far more than rounding makes."""
_one_at_a_time = threading.Lock()
"""Held while a thread captures or launches: older versions of PyTorch refuse to launch while another captures."""
_asides: dict[torch.device, torch.cuda.Stream] = {}
"""Where each GPU's work is captured: cuBLAS keeps memory for every stream that it ever met."""


def capture_on_cuda(work: Work, device: torch.device) -> tuple[Callable[[], None], Outputs]:
    """Record what `work` launches: what launches it again, and where its results will then stand."""
    with torch.cuda.device(device):
        here = torch.cuda.current_stream()
        aside = _asides.setdefault(here.device, torch.cuda.Stream())
        with torch.cuda.stream(here):  # comes back to it also where PyTorch does not, after a capture that failed
            aside.wait_stream(here)
            with torch.cuda.stream(aside):
                work()  # cuBLAS and the allocator set up what they must not while they are captured
            here.wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=aside, capture_error_mode="thread_local"):  # other threads may go on
                outputs = work()
    return graph.replay, outputs


CAPTURES: dict[str, Capture] = {"cuda": capture_on_cuda}
"""By the type of a device."""


@dataclass(eq=False, kw_only=True)
class FixedCache(Cache):
    """A cache whose step is the same work whichever step it is: `position` [1] says on the device how many were taken.

    Keys beyond it are there, and hidden.
    """

    position: Tensor

    def advance(self) -> None:
        """Nothing: launching the step sets `position`."""

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Write a layer's key and value [B, H, 1, d_head] at `position`; returns all that there is room for."""
        for kept, new in ((self.keys, key), (self.values, value)):
            kept[layer].index_copy_(2, self.position, new)
        return self.keys[layer], self.values[layer]

    @property
    def first(self) -> Tensor:
        """Where the next token stands, [1]."""
        return self.position

    @property
    def unread(self) -> Tensor:
        """Which positions [room] hold nothing yet, once the next token is written."""
        return torch.arange(self.keys.shape[3], device=self.keys.device) > self.position


class StepGraph:
    """Memory at fixed addresses for one search at a time, and the step over it."""

    def __init__(self, model: Transformer, rows: int, source: int, room: int) -> None:
        config, weight = model.config, model.output.weight
        self.fits, self.length = (rows, source, room), 0
        shape = len(model.decoder), rows, config.decoder_heads, room, config.head_size(config.decoder_heads)
        keys, values = (weight.new_zeros(shape) for _ in "kv")
        over_source = (shape[0], 1, shape[2], source, shape[4])
        cross_keys, cross_values = (weight.new_zeros(over_source).normal_() for _ in "kv")  # for the check below
        self.hidden = torch.zeros(1, 1, 1, source, dtype=torch.bool, device=weight.device)
        self.position = torch.zeros(1, dtype=torch.long, device=weight.device)
        self.cache = FixedCache(keys, values, cross_keys, cross_values, self.hidden, rows, position=self.position)
        self.ids = torch.full((rows,), config.start_id, device=weight.device)

        def work() -> Outputs:
            stepped = model.step(self.ids, self.cache)
            return stepped.logits, stepped.decoder, stepped.cross

        self._replay, self._found = CAPTURES[weight.device.type](work, weight.device)
        kept = keys, values, cross_keys, cross_values, *self._found
        self.bytes = sum(each.nbytes for each in kept)
        self._check(work, config)

    def _check(self, work: Work, config: ModelConfig) -> None:
        """Replay another step than the one that was captured.

        Raises:
            RuntimeError: it does not give what PyTorch gives.
        """
        for found in self._found:
            found.fill_(torch.nan)
        self.ids.add_(1).remainder_(config.tgt_vocab)
        self.position.fill_(min(1, config.max_positions - 1))
        self._replay()
        want = work()
        scales = float(want[0].abs().median()), 1, 1  # few logits are banned, by a number beyond all others
        for found, each, scale in zip(self._found, want, scales, strict=True):
            if not torch.allclose(found, each, rtol=NEAR, atol=NEAR * scale):
                raise RuntimeError("it would not give the same")

    def take(self, cache: Cache) -> None:
        """Let `cache` go on here: from now on its keys and values are this graph's."""
        for name in ("keys", "values"):
            theirs, ours = getattr(cache, name), getattr(self.cache, name)
            ours.zero_()
            ours[:, :, :, : cache.length] = theirs[:, :, :, : cache.length]
            setattr(cache, name, ours[:, :, :, : theirs.shape[3]])
        length = cache.cross_keys.shape[3]
        for name in ("cross_keys", "cross_values"):
            getattr(self.cache, name).zero_()[:, :, :, :length] = getattr(cache, name)
        self.hidden.fill_(True)[..., :length] = False if cache.hidden is None else cache.hidden
        self.length = length

    def step(self, ids: Tensor, cache: Cache) -> Stepped:
        """The next step of the `cache` that is here, over ids [R]."""
        self.ids.copy_(ids)
        self.position.fill_(cache.length)
        with _one_at_a_time:
            self._replay()
        cache.length += 1
        logits, own, cross = self._found  # the next step writes over them
        return Stepped(logits.clone(), own[..., : cache.length].clone(), cross[..., : self.length].clone())


class CudaSession(EagerSession):
    """Steps over one source, each launched at once; others, and the first of all, kernel by kernel.

    The first is taken as it is: a beam's has one hypothesis, and those that follow have more.
    """

    def __init__(self, engine: CudaEngine, cache: Cache, gates: Gates | None) -> None:
        super().__init__(engine.model, cache, gates)
        self._engine = engine
        self._graph: StepGraph | None = None

    def step(self, ids: Tensor | Sequence[int]) -> Stepped:
        """Read one more id of every hypothesis, ids [B].

        Raises:
            ValueError: the cache is full.
        """
        ids = self._tensor(ids)
        graph = self._graph or self._taken() if self._fits(ids) else None
        if graph is None:
            return super().step(ids)
        self.cache.check()
        return graph.step(ids, self.cache)

    def _fits(self, ids: Tensor) -> bool:
        """Whether a graph may take this step."""
        cache = self.cache
        if not self._engine.ready or self.gates is not None or not torch.is_inference_mode_enabled():
            return False
        return bool(cache.length and 0 < len(ids) == cache.rows <= ROWS and cache.cross_keys.shape[1] == 1)

    def _taken(self) -> StepGraph | None:
        """Move the cache into the memory of a graph; None where none could be made."""
        self.cache.check()
        _, rows, _, room, _ = self.cache.keys.shape
        graph = self._engine.graph(rows, _up(self.cache.cross_keys.shape[3], SOURCE), _up(room, ROOM))
        if graph is not None:
            graph.take(self.cache)
            self._graph = graph
            weakref.finalize(self, _wait, graph, self._engine.free)
        return graph

    def reorder(self, rows: Tensor | Sequence[int], *, sources: Tensor | None = None) -> None:
        """Let hypothesis i be what hypothesis rows[i] was; `sources` [N'] names the sources that stay (None = all)."""
        if len(rows) != self.cache.keys.shape[1]:
            self._graph = None
        super().reorder(rows, sources=sources)


class CudaEngine(EagerEngine):
    """A model on a GPU, whose steps over one source are launched as graphs once `compile` was called."""

    def __init__(self, model: Transformer) -> None:
        super().__init__(model)
        self.free: deque[StepGraph] = deque()  # the one that waited longest comes first
        self._captured: list[torch.UntypedStorage] = []

    @property
    def ready(self) -> bool:
        """Whether steps are launched at once by now; not while training, nor once the weights have moved."""
        there = self.model.output.weight.untyped_storage()._cdata
        return bool(self._captured) and self._captured[0]._cdata == there and not self.model.training

    def start(self, encoded: Encoded, *, max_length: int, rows: int = 1, gates: Gates | None = None) -> CudaSession:
        """Begin to decode `rows` hypotheses of each source, at most `max_length` steps."""
        cache = self.model.start(encoded.memory, encoded.src_keep, max_length=max_length, rows=rows)
        return CudaSession(self, cache, gates)

    def compile(self, *, wait: bool = False) -> None:
        """Capture a first step, and launch steps at once from now on; captured anew if the weights have moved."""
        if self.ready or self.device.type not in CAPTURES:
            return
        self.free = deque()
        weights = (self.model.output.weight, *self.model.parameters(), *self.model.buffers())
        self._captured = [each.untyped_storage() for each in weights]  # held, so that nothing else gets their address
        with torch.inference_mode():
            if (graph := self.graph(1, SOURCE, ROOM)) is not None:
                self.free.append(graph)

    def graph(self, rows: int, source: int, room: int) -> StepGraph | None:
        """A free graph, or a new one; None, and no more are tried, if none can be made."""
        for graph in tuple(self.free):
            if graph.fits == (rows, source, room):
                try:
                    self.free.remove(graph)
                except ValueError:  # another thread was faster
                    continue
                return graph
        try:
            with _one_at_a_time:
                return StepGraph(self.model, rows, source, room)
        except (RuntimeError, NotImplementedError) as error:
            log.warning("steps are launched kernel by kernel: %s", error)
            self._captured, self.free = [], deque()
            return None


def _wait(graph: StepGraph, free: deque[StepGraph]) -> None:
    """Let `graph` wait among the `free` ones for the next search; those that waited longest make room."""
    free.append(graph)
    with suppress(IndexError):  # another thread was faster
        while len(free) > 1 and sum(each.bytes for each in tuple(free)) > KEPT:
            free.popleft()


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
