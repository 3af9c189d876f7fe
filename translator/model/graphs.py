"""Steps over one source on a GPU, each launched at once as a CUDA graph instead of kernel by kernel.

A step is some 160 small kernels (`python -m benchmarks.launches`), and to ask for them should take a processor longer
than a GPU takes to run them. A graph asks for them all at once. It is captured for a number of hypotheses and some
room, works on memory at fixed places, and serves any search that fits there.

Source: "CUDA semantics" of PyTorch's documentation, on CUDA graphs.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.model.cache import Cache
from translator.model.values import Gates, Stepped

if TYPE_CHECKING:
    from translator.model.transformer import Transformer

log = logging.getLogger(__name__)
Outputs = tuple[Tensor, Tensor, Tensor]
"""Logits [R, V], the decoder's own weights [R, L, H, room] and those of cross-attention [R, L, H, source]."""
Work = Callable[[], Outputs]
Capture = Callable[[Work, torch.device], tuple[Callable[[], None], Outputs]]

ROWS, SOURCE, ROOM, KEPT = 12, 32, 64, 256 * 2**20
"""Hypotheses at most; a place has room for a multiple of so many tokens; bytes of the places that wait for a search."""
NEAR = 1e-3
"""Of a number, or of what such numbers are like: far more than rounding makes."""
_one_at_a_time = threading.Lock()
"""Held by whoever captures or launches: older versions of PyTorch refuse to launch while another thread captures."""
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
        """Which places [room] hold nothing yet, once the next token is written."""
        return torch.arange(self.keys.shape[3], device=self.keys.device) > self.position


class Place:
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
            stepped = model.next_row(self.ids, self.cache)
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
        """Let `cache` go on here: from now on its keys and values are this place's."""
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


class Graphs:
    """The places of one model; a copy of the model begins without."""

    def __init__(self) -> None:
        self._model: Callable[[], Transformer | None] = lambda: None
        self._free: deque[Place] = deque()  # the one that waited longest comes first

    def __reduce__(self) -> tuple[type[Graphs], tuple[()]]:
        """Graphs belong to one model's memory."""
        return Graphs, ()

    @property
    def ready(self) -> bool:
        """Whether steps are launched at once by now."""
        return self._model() is not None

    def start(self, model: Transformer) -> None:
        """Launch steps at once from now on; does nothing for a model that is on no GPU."""
        if model.output.weight.device.type in CAPTURES and not self.ready:
            self._model = weakref.ref(model)
            with torch.inference_mode():
                if (place := self._place(model, 1, SOURCE, ROOM)) is not None:
                    self._free.append(place)

    def forget(self) -> None:
        """The model's weights move: what was captured reads them where they were."""
        self._model, self._free = (lambda: None), deque()

    def step(self, model: Transformer, ids: Tensor, cache: Cache, gates: Gates | None) -> Stepped | None:
        """`Transformer.step` over the hypotheses ids [R] of one source; None if it is not for these, or the first.

        A first step is taken as it is: a beam's has one hypothesis, and those that follow have more.

        Raises:
            ValueError: the cache is full.
        """
        if self._model() is not model or model.training or gates is not None or not torch.is_inference_mode_enabled():
            return None
        if not cache.length or not 0 < len(ids) == cache.rows <= ROWS or cache.cross_keys.shape[1] != 1:
            return None
        cache.check()
        if cache.place is None:
            _, rows, _, room, _ = cache.keys.shape
            place = self._place(model, rows, _up(cache.cross_keys.shape[3], SOURCE), _up(room, ROOM))
            if place is None:
                return None
            place.take(cache)
            cache.place = place
            weakref.finalize(cache, _wait, place, self._free)
        return cache.place.step(ids, cache)

    def _place(self, model: Transformer, rows: int, source: int, room: int) -> Place | None:
        """A free place, or a new one; None, and no more are tried, if none can be made."""
        for place in tuple(self._free):
            if place.fits == (rows, source, room):
                try:
                    self._free.remove(place)
                except ValueError:  # another thread was faster
                    continue
                return place
        try:
            with _one_at_a_time:
                return Place(model, rows, source, room)
        except (RuntimeError, NotImplementedError) as error:
            log.warning("steps are launched kernel by kernel: %s", error)
            self.forget()
            return None


def _wait(place: Place, free: deque[Place]) -> None:
    """Let `place` wait among the `free` ones for the next search; those that waited longest make room."""
    free.append(place)
    with suppress(IndexError):  # another thread was faster
        while len(free) > 1 and sum(each.bytes for each in tuple(free)) > KEPT:
            free.popleft()


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
