"""The model run layer by layer, with every intermediate value readable and replaceable.

A site is where one value stands: (kind, what, layer). Kinds are those of attention; what is one of

    residual   the stream before a layer, [B, N, D]; one more than there are layers ("encoder", "decoder")
    q k v      of every head, [B, H, N, E] ("encoder", "decoder", "cross")
    pattern    the attention weights, [B, H, Q, K]
    head       what each head mixed, before the output projection, [B, H, N, E]
    ffn        what the feed-forward adds, [B, N, D] ("encoder", "decoder")

B batch, H heads, N, Q and K positions, D d_model, E the width of a head. Every layout of norms that `Transformer` has
is run as the model runs it, since the layers' own parts do the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from translator.analysis.passes import Pair
from translator.errors import InputError
from translator.model import Attention, Transformer
from translator.model.attention import causal_keep

Site = tuple[str, str, int]
Look = Callable[[Site, Tensor], Tensor]
"""Given a site and its value, what the model goes on with."""


def untouched(_: Site, value: Tensor) -> Tensor:
    """Go on with the `value` [...] as it is."""
    return value


def encoder_pass(model: Transformer, x: Tensor, keep: Tensor | None, look: Look = untouched, first: int = 0) -> Tensor:
    """Memory [B, S, D] from x [B, S, D], the stream before layer `first`; `keep` [B, S] says which may be read."""
    keep = over_heads(keep)
    for index in range(first, len(model.encoder)):
        layer = model.encoder[index]
        x = look(("encoder", "residual", index), x)
        own = layer.attention.project(layer.attention_residual.enter(x))
        x = layer.attention_residual.leave(x, _attended(("encoder", index), layer.attention, own, keep, look))
        update = layer.feed_forward(layer.feed_forward_residual.enter(x))
        x = layer.feed_forward_residual.leave(x, look(("encoder", "ffn", index), update))
    normed: Tensor = model.encoder_norm(look(("encoder", "residual", len(model.encoder)), x))
    return normed


def decoder_pass(
    model: Transformer, x: Tensor, memory: Tensor, keep: Tensor | None, look: Look = untouched, first: int = 0
) -> Tensor:
    """What the output projection reads, [B, T, D], from x [B, T, D], the stream before layer `first`.

    Args:
        memory: [B, S, D], or [1, S, D] for the same one under every row.
        keep: [B, S] or [1, S], which source tokens may be read; None for all.
    """
    keep, causal = over_heads(keep), causal_keep(x.shape[1], x.device)
    for index in range(first, len(model.decoder)):
        layer = model.decoder[index]
        x = look(("decoder", "residual", index), x)
        own = layer.attention.project(layer.attention_residual.enter(x))
        x = layer.attention_residual.leave(x, _attended(("decoder", index), layer.attention, own, causal, look))
        query = layer.cross.query(layer.cross_residual.enter(x))
        across = (query, *layer.cross.key_value(memory))
        x = layer.cross_residual.leave(x, _attended(("cross", index), layer.cross, across, keep, look))
        update = layer.feed_forward(layer.feed_forward_residual.enter(x))
        x = layer.feed_forward_residual.leave(x, look(("decoder", "ffn", index), update))
    normed: Tensor = model.decoder_norm(look(("decoder", "residual", len(model.decoder)), x))
    return normed


def _attended(
    where: tuple[str, int],
    attention: Attention,
    projected: tuple[Tensor, Tensor, Tensor],
    keep: Tensor | None,
    look: Look,
) -> Tensor:
    """What an attention adds, [B, N, D], from its queries, keys and values."""
    kind, index = where
    query, key, value = (look((kind, name, index), each) for name, each in zip("qkv", projected, strict=True))
    weights = look((kind, "pattern", index), attention.weigh(query, key, keep))
    return attention.merge(look((kind, "head", index), weights @ value))


def over_heads(keep: Tensor | None) -> Tensor | None:
    """[B, S] so that it broadcasts to [B, H, T, S]."""
    return None if keep is None else keep[:, None, None, :]


def word_scale(model: Transformer) -> float:
    """What the model multiplies its word embeddings by."""
    return float(model.config.d_model**0.5) if model.config.scale_embeddings else 1.0


def source_words(pair: Pair) -> Tensor:
    """The source's word embeddings as the model scales them, [S, D]."""
    words: Tensor = (pair.model.src_embedding(pair.src_ids[0]) * word_scale(pair.model)).detach()
    return words


def enter(model: Transformer, words: Tensor) -> Tensor:
    """The encoder's stream before its first layer, [B, S, D], from scaled word embeddings [B, S, D]."""
    x = words + model.src_positions[: words.shape[1]]
    return model.embedding_norms[0](x) if model.embedding_norms else x


@dataclass(frozen=True, eq=False)
class Recording:
    """One pass over a pair, with the value of every site; `hidden` [B, T, D] is what the output projection reads."""

    pair: Pair
    values: dict[Site, Tensor]
    memory: Tensor
    hidden: Tensor


def record(pair: Pair, words: Tensor | None = None) -> Recording:
    """Run the model over `pair` and keep every value.

    Args:
        words: the source's word embeddings where they are others than the pair's, [B, S, D].
    Raises:
        InputError: the model is not laid out as ours are.
    """
    model = layered(pair)
    values: dict[Site, Tensor] = {}

    def keep(site: Site, value: Tensor) -> Tensor:
        values[site] = value
        return value

    with torch.inference_mode():
        x = enter(model, source_words(pair)[None] if words is None else words)
        memory = encoder_pass(model, x, pair.src_keep, keep)
        reads = model.embed(pair.reads, target=True).expand(len(x), -1, -1)
        hidden = decoder_pass(model, reads, memory, pair.src_keep, keep)
    return Recording(pair, values, memory, hidden)


def layered(pair: Pair) -> Transformer:
    """The model of `pair`, if its layers can be run one by one.

    Raises:
        InputError: it is of another kind.
    """
    if not isinstance(pair.model, Transformer):
        kind = type(pair.model).__name__
        raise InputError(f"the model is a {kind}; this view runs single layers, which are known of our own layout only")
    return pair.model
