"""Decoding on a CPU: by packed linear layers, and over one source by machine code once that is compiled.

To import Numba and compile takes a second or two where the result of an earlier time is at hand, else some twenty. So
no caller has to wait for it: `CpuEngine.compile` does it in the background, and until then PyTorch does the work.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from translator.config import Weights
from translator.engine.cpu import layout
from translator.engine.cpu.linear import PackedLinear, pack
from translator.engine.eager import EagerEngine, EagerSession
from translator.engine.ranking import Ranked
from translator.errors import InputError
from translator.model import Cache, Encoded, Gates, Stepped, Transformer

if TYPE_CHECKING:
    from translator.engine.cpu import kernel
    from translator.engine.cpu.compiled import Compiled

log = logging.getLogger(__name__)
ROWS, TOKENS = 12, 64
"""Hypotheses of one source, and tokens of one, up to which machine code is the faster one (docs/engine.md)."""
_one_at_a_time = threading.Lock()


class CpuSession(EagerSession):
    """Steps over one source by machine code; others, and those before it is at hand, by PyTorch."""

    def __init__(self, engine: CpuEngine, cache: Cache, gates: Gates | None) -> None:
        super().__init__(engine.model, cache, gates)
        self._engine = engine
        self._compiled: Compiled | None = None
        self._decoder: kernel.Decoder | None = None
        self._kept: kernel.KVCache | None = None

    def step(self, ids: Tensor | Sequence[int]) -> Stepped:
        """Read one more id of every hypothesis, ids [B].

        Raises:
            ValueError: the cache is full.
            IndexError: these are not as many ids as there are hypotheses, or one is not in the vocabulary.
        """
        compiled, decoder, kept = self._compiled, self._decoder, self._kept
        if compiled is not None and decoder is not None and kept is not None and torch.is_inference_mode_enabled():
            return compiled.step(ids, self.cache, decoder, kept)  # all else was judged when these were made
        compiled = self._engine.compiled
        if compiled is None or not 0 < len(ids) <= ROWS or self.cache.cross_keys.shape[1] != 1:
            self._settle()
            return super().step(ids)
        if self._decoder is None:
            self._compiled, self._decoder = compiled, compiled.decoder
        if self._kept is None:
            self._kept = compiled.kv_cache(self.cache, self.gates)
        return compiled.step(ids, self.cache, self._decoder, self._kept)

    def rank(self, logits: Tensor, scores: Sequence[Sequence[float]], count: int) -> Ranked:
        """The best continuations of scores [N, rows] by what a step gave, logits [B, V]."""
        if self._compiled is None or self._kept is None or len(scores) > 1:
            return super().rank(logits, scores, count)
        return self._compiled.rank(logits, scores[0], count)

    def reorder(self, rows: Tensor | Sequence[int], *, sources: Tensor | None = None) -> None:
        """Let hypothesis i be what hypothesis rows[i] was; `sources` [N'] names the sources that stay (None = all)."""
        compiled, kept = self._compiled, self._kept
        if compiled is not None and kept is not None and sources is None and len(rows) == self.rows:
            compiled.reorder(rows, self.cache, kept)
            return
        self._settle()
        super().reorder(rows, sources=sources)

    def _settle(self) -> None:
        """Let the cache be what PyTorch takes it for."""
        if self._compiled is not None and self._kept is not None:
            self._compiled.settle(self.cache, self._kept)
        self._kept = None


class CpuEngine(EagerEngine):
    """A float32 model on the CPU, whose linear layers it replaces by packed ones."""

    def __init__(self, model: Transformer, precision: Weights = "fp32") -> None:
        """`precision` "int8" keeps three quarters of the weights of a decoding step in bytes.

        Raises:
            InputError: int8 is not available here.
        """
        if precision == "int8" and find_spec("numba") is None:
            raise InputError("precision is 'int8', which needs one package more: pip install numba")
        pack(model, precision)
        super().__init__(model)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._compiled: Compiled | None = None

    @property
    def compiled(self) -> Compiled | None:
        """Machine code that is at hand and may be used here and now, by a thread in inference mode."""
        weight = self.model.output.weight
        usable = weight.is_cpu and weight.dtype == torch.float32 and torch.is_inference_mode_enabled()
        return self._compiled if usable else None

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, each once, and of all their layouts."""
        layers = [layer for layer in self.model.modules() if isinstance(layer, PackedLinear)]
        packed = sum(layer.packed_nbytes for layer in layers)
        return super().nbytes + packed + (layout.nbytes(self.model) if packed else 0)

    def encode(
        self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None, *, maps: bool = True
    ) -> Encoded:
        """Read sources src_ids [B, S], of which `src_keep` [B, S] (None: all) is real.

        Raises:
            IndexError: an id is not in the vocabulary, or there are no positions for so many.
        """
        compiled = self.compiled
        if compiled is None or len(src_ids) != 1 or not 0 < src_ids.shape[1] <= TOKENS:
            return super().encode(src_ids, src_keep, gates, maps=maps)
        return compiled.encode(src_ids, src_keep, gates)

    def start(self, encoded: Encoded, *, max_length: int, rows: int = 1, gates: Gates | None = None) -> CpuSession:
        """Begin to decode `rows` hypotheses of each source, at most `max_length` steps."""
        memory, src_keep, compiled = encoded.memory, encoded.src_keep, self.compiled
        if compiled is None or len(memory) != 1 or not 0 < memory.shape[1] <= TOKENS:
            cache = self.model.start(memory, src_keep, max_length=max_length, rows=rows)
        else:
            self.model.check_length(max_length)
            cache = self.model.cache(*compiled.read(memory), src_keep, max_length=max_length, rows=rows)
        return CpuSession(self, cache, gates)

    def compile(self, *, wait: bool = False) -> None:
        """Compile in the background, once; with `wait` it is done on return. Where Numba is missing PyTorch remains."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._compile)
                self._thread.start()
        if wait:
            self._thread.join()

    def _compile(self) -> None:
        """Make machine code, or read it from an earlier time; it is used from then on if PyTorch says the same."""
        try:
            with _one_at_a_time, torch.inference_mode():
                from translator.engine.cpu.compiled import Compiled  # brings Numba

                compiled = Compiled(self.model)
                compiled.check()
            self._compiled = compiled
        except ModuleNotFoundError as error:  # the extra "fast" was not chosen
            log.info("decoding is not compiled: %s", error)
        except Exception as error:  # whatever Numba cannot do here, PyTorch can
            log.warning("decoding is not compiled: %s: %s", type(error).__name__, error)
