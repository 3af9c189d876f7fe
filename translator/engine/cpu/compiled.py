"""Sources read and decoder steps taken by machine code that Numba makes (`translator.engine.cpu.kernel`).

Importing this module brings Numba.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from translator.engine.cpu import beams, kernel, matmul, weights, work_queue
from translator.engine.cpu.workers import WORKERS
from translator.engine.ranking import Ranked, placed, rank
from translator.model import Cache, Encoded, Gates, Stepped, Transformer

NEAR = 1e-2
"""Of the largest number: far more than rounding makes, int8 beside float16 included."""


class Compiled:
    """The compiled passes of one model on the CPU; all need inference mode."""

    def __init__(self, model: Transformer) -> None:
        self._model, self._lock = model, threading.Lock()
        self._parameters: list[nn.Parameter] = [each for each in model.parameters() if not each.is_inference()]
        self._stored: tuple[int, kernel.Encoder, kernel.Decoder] | None = None

    def check(self) -> None:
        """Read a source and take one step, which compiles all, and compare with PyTorch.

        Raises:
            RuntimeError: the numbers differ.
        """
        model, ids = self._model, torch.zeros(1, 1, dtype=torch.long)
        matmul.serve(np.zeros(work_queue.QUEUE, np.int64), 0)
        found, want = self.encode(ids, None, None), model.encode(ids, None)
        first, second = (model.start(want.memory, None, max_length=1) for _ in "ab")
        kept = self.kv_cache(first, None)
        stepped = self.step(ids[0], first, self.decoder, kept)
        self.reorder(ids[0], first, kept)
        self.settle(first, kept)
        ranked, ordinary = self.rank(stepped.logits, [0.0], 1), rank(stepped.logits, [[0.0]], 1)
        pairs = [(found.memory, want.memory), (stepped.logits, model.step(ids[0], second).logits)]
        pairs.append((ranked.log_probs, ordinary.log_probs))
        pairs += zip(self.read(want.memory), (first.cross_keys, first.cross_values), strict=True)
        far = [float((ours - theirs).abs().max()) for ours, theirs in pairs]
        if not all(off <= NEAR * float(theirs.abs().max()) for off, (_, theirs) in zip(far, pairs, strict=True)):
            raise RuntimeError(f"it would differ by {max(far):g}")

    def encode(self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None) -> Encoded:
        """`Transformer.encode` of one source src_ids [1, S].

        Raises:
            IndexError: an id is not in the vocabulary, or there are no positions for so many.
        """
        model, (encoder, _) = self._model, self._weights()
        ids = _ids(src_ids[0], len(encoder.embedding))
        if len(ids) > len(encoder.positions):
            raise IndexError(f"the model has {len(encoder.positions)} positions, not {len(ids)}")
        layers, heads, width = len(model.encoder), model.config.encoder_heads, model.config.d_model
        weights_ = np.empty((layers, heads, len(ids), len(ids)), np.float32)
        states = np.empty((layers + 1, len(ids), width), np.float32)
        memory = np.empty((len(ids), width), np.float32)
        factors = _factors(gates, "encoder", (layers, 1, heads))[:, 0]
        hidden = _hidden(None if src_keep is None else ~src_keep)
        with WORKERS.queue() as queue:
            kernel.encode(encoder, ids, hidden, factors, weights_, states, memory, queue)
        read, maps, stream = (torch.from_numpy(each)[None] for each in (memory, weights_, states))
        return Encoded(read, maps, stream, src_keep)

    def read(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [L, 1, H, S, d_head] of cross-attention to memory [1, S, D]."""
        model, (_, decoder) = self._model, self._weights()
        heads = model.config.decoder_heads
        shape = len(model.decoder), 1, heads, memory.shape[1], model.config.head_size(heads)
        keys, values = np.empty(shape, np.float32), np.empty(shape, np.float32)
        with WORKERS.queue() as queue:
            kernel.read_source(decoder, memory[0].contiguous().numpy(), keys[:, 0], values[:, 0], queue)
        return torch.from_numpy(keys), torch.from_numpy(values)

    @property
    def decoder(self) -> kernel.Decoder:
        """The decoder's weights as they are now."""
        return self._weights()[1]

    @staticmethod
    def kv_cache(cache: Cache, gates: Gates | None) -> kernel.KVCache:
        """A cache over one source as the kernel sees it until `settle`, with heads gated by `gates`."""
        layers, rows, heads = cache.keys.shape[:3]
        shape = layers, rows, heads
        return kernel.KVCache(
            cache.keys.numpy(),
            cache.values.numpy(),
            np.repeat(np.arange(rows)[:, None], cache.keys.shape[3], 1),
            cache.cross_keys[:, 0].numpy(),
            cache.cross_values[:, 0].numpy(),
            _hidden(cache.hidden),
            _factors(gates, "decoder", shape),
            _factors(gates, "cross", shape),
        )

    def step(self, ids: Tensor | Sequence[int], cache: Cache, decoder: kernel.Decoder, kept: kernel.KVCache) -> Stepped:
        """`Transformer.step` over the hypotheses ids [R] of one source; `kept` is what `kv_cache` gives for its cache.

        Raises:
            ValueError: the cache is full.
            IndexError: these are not as many ids as the cache has hypotheses, or one is not in the vocabulary.
        """
        cache.check()
        layers, rows, heads, _, _ = cache.keys.shape
        if len(ids) != rows:
            raise IndexError(f"{rows} ids are wanted, not {len(ids)}")
        read = _ids(ids, len(decoder.embedding))
        own = np.empty((rows, layers, heads, cache.length + 1), np.float32)
        cross = np.empty((rows, layers, heads, cache.cross_keys.shape[3]), np.float32)
        logits = np.empty((matmul.padded(rows), self._model.config.tgt_vocab), np.float32)
        with WORKERS.queue() as queue:
            total = kernel.step(decoder, kept, read, cache.length, own, cross, logits, queue)
        cache.advance()
        found = torch.from_numpy(logits)
        return Stepped(found if len(logits) == rows else found[:rows], own, cross, float(total))

    @staticmethod
    def rank(logits: Tensor, scores: Sequence[float], count: int) -> Ranked:
        """`ranking.rank` of one source: logits [R, V] of a step, scores [R] of its hypotheses."""
        vocabulary = logits.shape[1]
        given = np.array(scores, np.float32)
        log_probs = np.empty((len(given), vocabulary), np.float32)
        count = min(count, log_probs.size)
        totals, places, chosen = np.empty(count, np.float32), np.empty(count, np.int64), np.empty(count, np.float32)
        beams.rank(logits.numpy(), given, log_probs, totals, places, chosen)
        best = placed(totals.tolist(), places.tolist(), chosen.tolist(), vocabulary)
        return Ranked(torch.from_numpy(log_probs), [best])

    @staticmethod
    def reorder(rows: Tensor | Sequence[int], cache: Cache, kept: kernel.KVCache) -> None:
        """`Cache.reorder` to as many rows of one source: keys and values stay, `kept.places` says where."""
        kept.places[:, : cache.length] = kept.places[np.asarray(rows), : cache.length]

    @staticmethod
    def settle(cache: Cache, kept: kernel.KVCache) -> None:
        """Lay keys and values in the rows of their hypotheses, for who knows of no `kept.places`."""
        steps = np.arange(cache.length)
        for cached in (kept.keys, kept.values):
            own = cached[:, kept.places[:, : cache.length], :, steps]  # [R, T, L, H, E]
            cached[:, :, :, : cache.length] = own.transpose(2, 0, 3, 1, 4)
        kept.places[:] = np.arange(len(kept.places))[:, None]

    def _weights(self) -> tuple[kernel.Encoder, kernel.Decoder]:
        """The model's weights as the kernel reads them, stored again if one has changed in its place."""
        with self._lock:
            now = sum([each._version for each in self._parameters])
            if self._stored is None or self._stored[0] != now:
                self._stored = now, weights.encoder(self._model), weights.decoder(self._model)
            return self._stored[1:]


def _ids(ids: Tensor | Sequence[int], vocabulary: int) -> np.ndarray:
    """Ids [N] as NumPy, each of them in the vocabulary."""
    found = ids.tolist() if isinstance(ids, Tensor) else ids
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
