"""Sources read and decoder steps taken by machine code that Numba makes (`translator.model.kernel`), when asked.

To import Numba and compile takes a second or two where the result of an earlier time is at hand, else some twenty. So
nobody need wait for it: `Compiled.start` does it in the background, and until then PyTorch does the work.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from translator.model import pack
from translator.model.team import TEAM
from translator.model.values import Encoded, Gates, Stepped

if TYPE_CHECKING:
    from translator.model import kernel
    from translator.model.cache import Cache
    from translator.model.transformer import Transformer

log = logging.getLogger(__name__)
ROWS, TOKENS = 12, 64
"""Hypotheses of one source, and tokens of one, up to which machine code is the faster one (docs/performance.md)."""
NEAR = 1e-2
"""Of the largest number: far more than rounding makes, bytes beside halves included."""
_one_at_a_time = threading.Lock()


class Compiled:
    """What of one model is compiled; a copy of the model begins without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._kernel: Any = None
        self._model: Callable[[], Transformer | None] = lambda: None
        self._parameters: list[nn.Parameter] = []
        self._packed: tuple[int, kernel.Encoder, kernel.Decoder] | None = None

    def __reduce__(self) -> tuple[type[Compiled], tuple[()]]:
        """Locks and machine code are not copied."""
        return Compiled, ()

    @property
    def ready(self) -> bool:
        """Whether machine code is at hand by now."""
        return self._kernel is not None

    def _serves(self, model: Transformer) -> bool:
        """Whether machine code is at hand for this very model, and not for one that it is a shallow copy of."""
        return self._kernel is not None and self._model() is model

    def start(self, model: Transformer, *, wait: bool = False) -> None:
        """Compile behind the caller's back, once; with `wait` it is done on return.

        Does nothing for a model that was not prepared for the CPU, or where Numba is missing.
        """
        with torch.inference_mode():
            if not model.output.prepared:
                return
        with self._lock:
            if self._thread is None:
                self._model = weakref.ref(model)
                self._thread = threading.Thread(target=self._compile, args=(model,))
                self._thread.start()
        if wait:
            self._thread.join()

    def encode(
        self, model: Transformer, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None
    ) -> Encoded | None:
        """`Transformer.encode` of one source src_ids [1, S]; None if it is not for this one, or not yet.

        Raises:
            IndexError: an id is not in the vocabulary, or there are no positions for so many.
        """
        if not self._serves(model) or len(src_ids) != 1 or not 0 < src_ids.shape[1] <= TOKENS:
            return None
        return self._encode(self._kernel, model, src_ids, src_keep, gates)

    def _encode(
        self, code: Any, model: Transformer, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None
    ) -> Encoded:
        encoder, _ = self._weights(code, model)
        ids = _ids(src_ids[0], len(encoder.embedding))
        if len(ids) > len(encoder.positions):
            raise IndexError(f"the model has {len(encoder.positions)} positions, not {len(ids)}")
        layers, heads, width = len(model.encoder), model.config.encoder_heads, model.config.d_model
        weights = np.empty((layers, heads, len(ids), len(ids)), np.float32)
        states = np.empty((layers + 1, len(ids), width), np.float32)
        memory = np.empty((len(ids), width), np.float32)
        factors = _factors(gates, "encoder", (layers, 1, heads))[:, 0]
        hidden = _hidden(None if src_keep is None else ~src_keep)
        with TEAM.board() as board:
            code.encode(encoder, ids, hidden, factors, weights, states, memory, board)
        return Encoded(*(torch.from_numpy(each)[None] for each in (memory, weights, states)))

    def read(self, model: Transformer, memory: Tensor) -> tuple[Tensor, Tensor] | None:
        """Keys and values [L, 1, H, S, d_head] of cross-attention to memory [1, S, D]; None as in `encode`."""
        if not self._serves(model) or len(memory) != 1 or not 0 < memory.shape[1] <= TOKENS:
            return None
        return self._read(self._kernel, model, memory)

    def _read(self, code: Any, model: Transformer, memory: Tensor) -> tuple[Tensor, Tensor]:
        _, decoder = self._weights(code, model)
        heads = model.config.decoder_heads
        shape = len(model.decoder), 1, heads, memory.shape[1], model.config.head_size(heads)
        keys, values = np.empty(shape, np.float32), np.empty(shape, np.float32)
        with TEAM.board() as board:
            code.read_source(decoder, memory[0].contiguous().numpy(), keys[:, 0], values[:, 0], board)
        return torch.from_numpy(keys), torch.from_numpy(values)

    def step(self, model: Transformer, ids: Tensor, cache: Cache, gates: Gates | None) -> Stepped | None:
        """`Transformer.step` over the hypotheses ids [R] of one source; None if it is not for these, or not yet.

        Raises:
            ValueError: the cache is full.
            IndexError: these are not as many ids as the cache has hypotheses, or one is not in the vocabulary.
        """
        if not self._serves(model) or not 0 < len(ids) <= ROWS or cache.cross_keys.shape[1] != 1:
            return None
        return self._step(self._kernel, model, ids, cache, gates)

    def _step(self, code: Any, model: Transformer, ids: Tensor, cache: Cache, gates: Gates | None) -> Stepped:
        cache.check()
        if cache.decoder is None:
            _, cache.decoder = self._weights(code, model)
        if cache.views is None or cache.views[0] is not gates:
            cache.views = gates, _memory(code, cache, gates)
        memory = cache.views[1]
        layers, rows, heads, _, _ = cache.keys.shape
        if len(ids) != rows:
            raise IndexError(f"{rows} ids are wanted, not {len(ids)}")
        read = _ids(ids, len(cache.decoder.embedding))
        own = np.empty((rows, layers, heads, cache.length + 1), np.float32)
        cross = np.empty((rows, layers, heads, cache.cross_keys.shape[3]), np.float32)
        logits = np.empty((code.padded(rows), model.config.tgt_vocab), np.float32)
        with TEAM.board() as board:
            code.step(cache.decoder, memory, read, cache.length, own, cross, logits, board)
        cache.length += 1
        return Stepped(torch.from_numpy(logits)[:rows], torch.from_numpy(own), torch.from_numpy(cross))

    def _compile(self, model: Transformer) -> None:
        """Import the kernel, read a source and take one step: machine code is made, or read from an earlier time.

        It is used from then on, if PyTorch says the same.
        """
        ids = torch.zeros(1, 1, dtype=torch.long)
        try:
            with _one_at_a_time, torch.inference_mode():
                from translator.model import kernel, product, share

                product.serve(np.zeros(share.BOARD, np.int64), 0)
                found, want = self._encode(kernel, model, ids, None, None), model.encode(ids, None)
                first, second = (model.start(want.memory, None, max_length=1) for _ in "ab")
                stepped = self._step(kernel, model, ids[0], first, None)
                pairs = [(found.memory, want.memory), (stepped.logits, model.step(ids[0], second).logits)]
                pairs += zip(
                    self._read(kernel, model, want.memory), (first.cross_keys, first.cross_values), strict=True
                )
            far = [float((ours - theirs).abs().max()) for ours, theirs in pairs]
            if all(off <= NEAR * float(theirs.abs().max()) for off, (_, theirs) in zip(far, pairs, strict=True)):
                self._kernel = kernel
            else:
                log.warning("decoding is not compiled: it would differ by %g", max(far))
        except Exception as error:  # whatever Numba cannot do here, PyTorch can
            log.info("decoding is not compiled: %s", error)

    def _weights(self, code: Any, model: Transformer) -> tuple[kernel.Encoder, kernel.Decoder]:
        """The model's weights as the kernel wants them, packed again if one has changed in its place."""
        with self._lock:
            if self._packed is None:
                self._parameters = [each for each in model.parameters() if not each.is_inference()]
            now = sum([each._version for each in self._parameters])
            if self._packed is None or self._packed[0] != now:
                self._packed = now, pack.encoder(code, model), pack.decoder(code, model)
            return self._packed[1:]


def _ids(ids: Tensor, vocabulary: int) -> np.ndarray:
    """Ids [N] as NumPy, each of them in the vocabulary."""
    found = ids.tolist()
    if min(found) < 0 or max(found) >= vocabulary:
        raise IndexError(f"ids below {vocabulary} are wanted, not {found}")
    return np.array(found)


def _hidden(hidden: Tensor | None) -> np.ndarray:
    """Which tokens [S] are not read; none named where all are."""
    return np.zeros(0, np.bool_) if hidden is None else hidden.numpy().reshape(-1)


def _factors(gates: Gates | None, kind: str, shape: tuple[int, int, int]) -> np.ndarray:
    """Gates [L, R, H] of one kind for every row."""
    given = None if gates is None else getattr(gates, kind)
    if given is None:
        return np.ones(shape, np.float32)
    return given.float().reshape(shape[0], -1, shape[2]).expand(shape).contiguous().numpy()


def _memory(code: Any, cache: Cache, gates: Gates | None) -> kernel.Memory:
    layers, rows, heads = cache.keys.shape[:3]
    shape = layers, rows, heads
    return code.Memory(
        cache.keys.numpy(),
        cache.values.numpy(),
        cache.cross_keys[:, 0].numpy(),
        cache.cross_values[:, 0].numpy(),
        _hidden(cache.hidden),
        _factors(gates, "decoder", shape),
        _factors(gates, "cross", shape),
    )
