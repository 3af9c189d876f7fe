"""The lesson's tensors for one sentence, from text to the next token.

Everything is recomputed from the model's own modules and checked against its own forward pass; NumPy comes
out. S source tokens (EOS too), T target rows, D d_model, H heads, E d_head, F d_ff, V vocabulary.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from translator.analysis.passes import layer_of, pair_of, to_numpy
from translator.config import Positions
from translator.decode.replay import encode, source_keep, source_tensor
from translator.model.attention import Attention
from translator.model.layers import FeedForward
from translator.model.positions import position_table
from translator.pipeline import Translator
from translator.trace import Token, Trace


@dataclass(frozen=True, eq=False)
class Embedded:
    """How source tokens enter: `rows` of the table, `positions`, and their sum `summed` [S, D]; `scale` is √D or 1."""

    tokens: tuple[Token, ...]
    ids: tuple[int, ...]
    rows: np.ndarray
    scale: float
    positions: np.ndarray
    summed: np.ndarray


@dataclass(frozen=True, eq=False)
class Attended:
    """One multi-head attention taken apart.

    `query` [H, T, E], `key` and `value` [H, S, E]; `products` [H, T, S] = query · key before any scaling;
    `weights` [H, T, S]; `mixed` [H, T, E]; `joined` [T, H·E], the heads side by side; `parts` [H, T, D],
    what each head adds to `output` [T, D] (their sum and the bias of the output projection).
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    products: np.ndarray
    weights: np.ndarray
    mixed: np.ndarray
    joined: np.ndarray
    parts: np.ndarray
    output: np.ndarray

    def weights_without_scale(self) -> np.ndarray:
        """What the softmax would give if the products were not divided by √E; hidden keys stay hidden, [H, T, S]."""
        scores = np.where(self.weights > 0, self.products.astype(np.float64), -np.inf)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights: np.ndarray = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights


@dataclass(frozen=True, eq=False)
class EncoderLayerWalk:
    """One encoder layer over one sentence: the stream `before`, `middle` and `after` [S, D], and all between.

    `norm_before` and `norm_after` [S, D] are what the first layer norm reads and gives (before the sublayer with
    pre-norm, after the sum with post-norm). `ff_in` [S, D] is what the feed-forward reads, `hidden` [S, F] its
    activations, `ff_out` [S, D] what it adds; `convolved` [S, D] is the same by two convolutions of width 1.
    """

    tokens: tuple[Token, ...]
    before: np.ndarray
    norm_before: np.ndarray
    norm_after: np.ndarray
    attention: Attended
    middle: np.ndarray
    ff_in: np.ndarray
    hidden: np.ndarray
    ff_out: np.ndarray
    convolved: np.ndarray
    after: np.ndarray


def layers(translator: Translator) -> tuple[int, int]:
    """How many layers encoder and decoder have."""
    config = translator.bundle.model.config
    return config.encoder_layers, config.decoder_layers


@torch.inference_mode()
def embedded(translator: Translator, text: str) -> Embedded:
    """What the first encoder layer reads, and what it is the sum of.

    Raises:
        InputError: the text is blank or too long.
    """
    model, ids = translator.bundle.model, translator.source_ids(text)
    read = source_tensor(model, ids)
    rows = model.src_embedding(read)[0]
    return Embedded(
        tokens=_tokens(translator, text, read.shape[1]),
        ids=tuple(read[0].tolist()),
        rows=_numpy(rows),
        scale=model.config.d_model**0.5 if model.config.scale_embeddings else 1.0,
        positions=_numpy(model.src_positions[: read.shape[1]]),
        summed=_numpy(model.embed(read, target=False)[0]),
    )


@torch.inference_mode()
def encoder_layer(translator: Translator, text: str, layer: int) -> EncoderLayerWalk:
    """Walk through encoder layer `layer` (from 0).

    Raises:
        InputError: the text is blank or too long, or there is no such layer.
    """
    model, ids = translator.bundle.model, translator.source_ids(text)
    layer = layer_of(model.config.encoder_layers, layer)
    found, module = encode(translator.engine, ids), model.encoder[layer]
    x = found.states[:, layer]
    read = module.attention_residual.enter(x)
    keep = source_keep(model, ids)
    attention = _attended(module.attention, read, read, None if keep is None else keep[:, None, None, :])
    update = torch.as_tensor(attention.output, device=x.device)[None]
    middle = module.attention_residual.leave(x, update)
    ff_in = module.feed_forward_residual.enter(middle)
    exact = copy.deepcopy(module.feed_forward).double()  # in float32 the two ways part in the sixth digit
    norms = (x, read) if module.attention_residual.pre else (x + update, middle)
    return EncoderLayerWalk(
        tokens=_tokens(translator, text, x.shape[1]),
        before=_numpy(x[0]),
        norm_before=_numpy(norms[0][0]),
        norm_after=_numpy(norms[1][0]),
        attention=attention,
        middle=_numpy(middle[0]),
        ff_in=_numpy(ff_in[0]),
        hidden=_numpy(module.feed_forward.activation(module.feed_forward.up(ff_in))[0]),
        ff_out=to_numpy(exact(ff_in.double())[0]),
        convolved=to_numpy(as_convolution(exact, ff_in.double())[0]),
        after=_numpy(found.states[0, layer + 1]),
    )


@torch.inference_mode()
def cross_attention(translator: Translator, trace: Trace, layer: int) -> Attended:
    """The cross-attention of decoder layer `layer` (from 0) over a finished translation, taken apart.

    Raises:
        InputError: there is no such layer, or the trace is not of this model (see `pair_of`).
    """
    pair = pair_of(translator, trace)
    layer = layer_of(pair.model.config.decoder_layers, layer)
    memory, keep = pair.encode().memory, pair.src_keep
    x = pair.decode(memory).states[:, layer]
    module = pair.model.decoder[layer]
    own = module.attention_residual.enter(x)
    update = module.attention.fused(*module.attention.project(own), None, causal=True)
    x = module.attention_residual.leave(x, update)
    query = module.cross_residual.enter(x)
    return _attended(module.cross, query, memory, None if keep is None else keep[:, None, None, :])


@torch.inference_mode()
def next_token_logits(translator: Translator, trace: Trace) -> np.ndarray:
    """The logits that predicted every token of a translation, [T, V].

    Raises:
        InputError: the trace is not of this model (see `pair_of`).
    """
    pair = pair_of(translator, trace)
    return _numpy(pair.decode(pair.encode().memory).logits[0])


def as_convolution(feed_forward: FeedForward, x: Tensor) -> Tensor:
    """The feed-forward of `x` [B, S, D] as two convolutions of width 1 along the sentence: the same numbers.

    Source: Vaswani et al. 2017, section 3.3, "two convolutions with kernel size 1".
    """
    up, down = feed_forward.up, feed_forward.down
    hidden = feed_forward.activation(F.conv1d(x.transpose(1, 2), up.weight[:, :, None], up.bias))
    return F.conv1d(hidden, down.weight[:, :, None], down.bias).transpose(1, 2)


@torch.inference_mode()
def position_layouts(translator: Translator, positions: int, d_model: int) -> dict[str, np.ndarray]:
    """The three ways of this package to number positions, each [positions, d_model].

    "learned" is a table as training starts with it, drawn from a fixed seed: it has no order yet.
    """
    config = replace(translator.bundle.model.config, max_positions=positions, padded_length=None)
    config = replace(config, d_model=d_model, d_head=1, first_position=0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        tables = {name: position_table(replace(config, positions=name)) for name in _LAYOUTS}
    return {name: _numpy(table) for name, table in tables.items()}


_LAYOUTS: tuple[Positions, ...] = ("interleaved", "concatenated", "learned")  # those that the documents have


def dot_product_variances(widths: tuple[int, ...], *, samples: int = 2000, seed: int = 0) -> np.ndarray:
    """The variance of q · k and of q · k / √E for random q and k of unit variance, a row a width: [len(widths), 2]."""
    rng = np.random.default_rng(seed)
    products = [np.einsum("ne,ne->n", *rng.standard_normal((2, samples, width))) for width in widths]
    return np.array([(p.var(), (p / width**0.5).var()) for p, width in zip(products, widths, strict=True)])


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probabilities of logits [..., V] divided by `temperature`: [..., V]."""
    scores = np.asarray(logits, dtype=np.float64) / temperature
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probs: np.ndarray = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return probs


def _attended(module: Attention, x: Tensor, memory: Tensor, keep: Tensor | None) -> Attended:
    query, (key, value) = module.query(x), module.key_value(memory)
    output, weights = module.attend(query, key, value, keep)
    mixed = weights @ value
    projection = module.out.weight.unflatten(1, (module.heads, module.d_head))  # [D, H, E]
    return Attended(
        query=_numpy(query[0]),
        key=_numpy(key[0]),
        value=_numpy(value[0]),
        products=_numpy((query @ key.transpose(-2, -1))[0]),
        weights=_numpy(weights[0]),
        mixed=_numpy(mixed[0]),
        joined=_numpy(mixed[0].transpose(0, 1).flatten(1)),
        parts=_numpy(torch.einsum("hte,dhe->htd", mixed[0], projection)),
        output=_numpy(output[0]),
    )


def _tokens(translator: Translator, text: str, length: int) -> tuple[Token, ...]:
    """Every token that the encoder reads: the text's, EOS, and padding that it attends to."""
    src = translator.bundle.src
    own = (*src.encode(text).tokens, *map(src.token, src.closing_ids))
    return (*own, *(src.token(src.pad_id),) * (length - len(own)))


def _numpy(x: Tensor) -> np.ndarray:
    return x.detach().float().cpu().numpy()
