"""Decoder steps by machine code that Numba makes (`translator.model.kernel`): weights packed, compiled when asked.

To import Numba and compile takes a second where the result of an earlier time is at hand, else some ten. So nobody
need wait for it: `Compiled.start` does it in the background, and until then PyTorch takes the steps.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.model.layers import ACTIVATIONS
from translator.model.linear import Linear, are_halves, in_bytes, version
from translator.model.values import Gates, Stepped

if TYPE_CHECKING:
    from translator.model import kernel
    from translator.model.cache import Cache
    from translator.model.transformer import Transformer

log = logging.getLogger(__name__)
ROWS = 12
"""Hypotheses of one source up to which the compiled step is the faster one (docs/performance.md)."""
NEAR = 1e-2
"""Of the largest logit: far more than rounding makes, bytes beside halves included."""
_one_at_a_time = threading.Lock()
Rows = tuple[Linear, int, int]
"""A linear layer, and from which of its rows up to which."""


class Compiled:
    """The compiled step of one model; a copy of the model begins without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._kernel: Any = None
        self._packed: tuple[int, kernel.Decoder] | None = None

    def __reduce__(self) -> tuple[type[Compiled], tuple[()]]:
        """Locks and machine code are not copied."""
        return Compiled, ()

    @property
    def ready(self) -> bool:
        """Whether steps are compiled by now."""
        return self._kernel is not None

    def start(self, model: Transformer, *, wait: bool = False) -> None:
        """Compile behind the caller's back, once; with `wait` it is done on return.

        Does nothing for a model that was not prepared for the CPU, or where Numba is missing.
        """
        with torch.inference_mode():
            if not model.output.prepared:
                return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._compile, args=(model,))
                self._thread.start()
        if wait:
            self._thread.join()

    def step(self, model: Transformer, ids: Tensor, cache: Cache, gates: Gates | None) -> Stepped | None:
        """`Transformer.step` over the hypotheses ids [R] of one source; None if it is not for these, or not yet.

        Raises:
            ValueError: the cache is full.
            IndexError: these are not as many ids as the cache has hypotheses, or one is not in the vocabulary.
        """
        if self._kernel is None or not 0 < len(ids) <= ROWS or cache.cross_keys.shape[1] != 1:
            return None
        return self._step(self._kernel, model, ids, cache, gates)

    def _step(self, code: Any, model: Transformer, ids: Tensor, cache: Cache, gates: Gates | None) -> Stepped:
        cache.check()
        if cache.decoder is None:
            cache.decoder = self._decoder(code, model)
        if cache.views is None or cache.views[0] is not gates:
            cache.views = gates, _memory(code, cache, gates)
        memory = cache.views[1]
        layers, rows, heads, _, _ = cache.keys.shape
        read, vocabulary = ids.numpy(), len(cache.decoder.embedding)
        if len(read) != rows or read.min() < 0 or read.max() >= vocabulary:
            raise IndexError(f"{rows} ids below {vocabulary} are wanted, not {read.tolist()}")
        own = np.empty((rows, layers, heads, cache.length + 1), np.float32)
        cross = np.empty((rows, layers, heads, cache.cross_keys.shape[3]), np.float32)
        logits = np.empty((code.padded(rows), model.config.tgt_vocab), np.float32)
        code.step(cache.decoder, memory, read, cache.length, own, cross, logits)
        cache.length += 1
        return Stepped(torch.from_numpy(logits)[:rows], torch.from_numpy(own), torch.from_numpy(cross))

    def _compile(self, model: Transformer) -> None:
        """Import the kernel and take one step: its machine code is made, or read from an earlier time.

        It is used from then on, if PyTorch's step says the same.
        """
        ids = torch.zeros(1, dtype=torch.long)
        try:
            with _one_at_a_time, torch.inference_mode():
                from translator.model import kernel

                first, second = (model.start(torch.ones(1, 2, model.config.d_model), None, max_length=1) for _ in "ab")
                found, want = self._step(kernel, model, ids, first, None).logits, model.step(ids, second).logits
            if torch.allclose(found, want, rtol=NEAR, atol=NEAR * float(want.abs().max())):
                self._kernel = kernel
            else:
                log.warning("decoding steps are not compiled: they would differ by %g", (found - want).abs().max())
        except Exception as error:  # whatever Numba cannot do here, PyTorch can
            log.info("decoding steps are not compiled: %s", error)

    def _decoder(self, code: Any, model: Transformer) -> kernel.Decoder:
        """The model's weights as the kernel wants them, packed again if one has changed."""
        with self._lock:
            now = sum(version(parameter) for parameter in model.parameters())
            if self._packed is None or self._packed[0] != now:
                self._packed = now, _pack(code, model)
            return self._packed[1]


def memory(model: Transformer) -> int:
    """Bytes that a model holds once it has been used in every way: its weights, each once, and all their layouts."""
    own = sum(each.numel() * each.element_size() for each in (*model.parameters(), *model.buffers()))
    laid_out = sum(layer.laid_out for layer in model.modules() if isinstance(layer, Linear))
    kinds = _linears(model).values() if laid_out else ()
    packed = ((_stored(kind), layer, last - first) for kind in kinds for layer, first, last in kind)
    return own + laid_out + sum(stored.itemsize * layer.in_features * rows for stored, layer, rows in packed)


def _linears(model: Transformer) -> dict[str, list[Rows]]:
    """What a step multiplies with: of each kind the rows of every layer."""

    def rows(layers: Iterator[Linear], last: int | None = None) -> list[Rows]:
        return [(layer, 0, last or layer.out_features) for layer in layers]

    inner = model.decoder[0].cross.inner
    return {
        "qkv": rows(layer.attention.qkv for layer in model.decoder),
        "out": rows(layer.attention.out for layer in model.decoder),
        "query": rows((layer.cross.qkv for layer in model.decoder), inner),
        "cross_out": rows(layer.cross.out for layer in model.decoder),
        "up": rows(layer.feed_forward.up for layer in model.decoder),
        "down": rows(layer.feed_forward.down for layer in model.decoder),
        "output": rows(iter([model.output])),
    }


def _stored(kind: Sequence[Rows]) -> np.dtype:
    """In what the kernel reads these weights: the smallest that holds them exactly, or bytes where that is wanted."""
    if kind[0][0].precision == "int8":
        return np.dtype(np.int8)
    return np.dtype(np.uint16 if all(are_halves(layer.weight.detach()) for layer, _, _ in kind) else np.float32)


def _pack(code: Any, model: Transformer) -> kernel.Decoder:
    config, layers = model.config, list(model.decoder)
    sublayers = [(layer.attention_residual, layer.cross_residual, layer.feed_forward_residual) for layer in layers]
    activations = [ACTIVATIONS[name] for name in ("relu", "gelu", "silu", "none")]
    return code.Decoder(
        embedding=model.tgt_embedding.weight.detach().numpy(),
        positions=model.tgt_positions.detach().numpy(),
        embedding_scale=config.d_model**0.5 if config.scale_embeddings else 1.0,
        embedding_norm=_norms(code, config, list(model.embedding_norms)[1:]),
        pre=config.norm == "pre",
        activation=activations.index(layers[0].feed_forward.activation),
        norms=_norms(code, config, [residual.norm for sublayer in sublayers for residual in sublayer]),
        final_norm=_norms(code, config, [model.decoder_norm] if config.final_norm else []),
        **{name: _matrix(code, kind) for name, kind in _linears(model).items()},
    )


def _norms(code: Any, config: ModelConfig, norms: Sequence[Any]) -> kernel.Norm:
    weights = [norm.weight.detach().numpy() for norm in norms]
    biases = [norm.bias.detach().numpy() for norm in norms if config.norm_bias]
    shape = (len(norms), config.d_model)
    return code.Norm(
        np.array(weights, np.float32).reshape(shape),
        np.array(biases, np.float32).reshape(shape) if biases else np.zeros(shape, np.float32),
        config.norm_eps,
        config.norm_variant == "unbiased",
    )


def _matrix(code: Any, kind: Sequence[Rows]) -> kernel.Matrix:
    weights = [layer.weight[first:last].detach() for layer, first, last in kind]
    biases = [torch.zeros(layer.out_features) if layer.bias is None else layer.bias.detach() for layer, _, _ in kind]
    bias = torch.stack([each[first:last] for each, (_, first, last) in zip(biases, kind, strict=True)])
    stored = _stored(kind)
    if stored == np.int8:
        pairs = [in_bytes(weight) for weight in weights]
        whole, scale = (torch.stack(each) for each in zip(*pairs, strict=True))
    else:
        whole, scale = torch.stack(weights), torch.ones(*bias.shape, 1)
        if stored == np.uint16 and code.has_halves():
            whole = whole.half().view(torch.uint16)
    return code.Matrix(whole.view(*scale.shape, -1).numpy(), scale.numpy(), bias.numpy())


def _memory(code: Any, cache: Cache, gates: Gates | None) -> kernel.Memory:
    layers, rows, heads = cache.keys.shape[:3]

    def factors(kind: str) -> np.ndarray:
        given = None if gates is None else getattr(gates, kind)
        if given is None:
            return np.ones((layers, rows, heads), np.float32)
        given = given.float().reshape(layers, -1, heads).expand(layers, rows, heads)
        return given.contiguous().numpy()

    return code.Memory(
        cache.keys.numpy(),
        cache.values.numpy(),
        cache.cross_keys[:, 0].numpy(),
        cache.cross_values[:, 0].numpy(),
        np.zeros(0, np.bool_) if cache.hidden is None else cache.hidden.numpy().reshape(-1),
        factors("decoder"),
        factors("cross"),
    )
