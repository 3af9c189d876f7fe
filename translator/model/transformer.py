"""The encoder-decoder Transformer (Vaswani et al. 2017) with every attention weight in its return values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.config import ModelConfig
from translator.model.attention import causal_keep, mix
from translator.model.cache import Cache, LayerCache
from translator.model.layers import DecoderLayer, Embedding, EncoderLayer, Stack, layer_norm
from translator.model.linear import Linear
from translator.model.positions import position_table
from translator.model.single import Single


@dataclass(frozen=True, eq=False)
class Gates:
    """A factor for each head of each attention; None leaves that attention alone (Voita et al. 2019).

    Each is [L, H], or [L, B, H] for a gate of its own for every row of the batch.
    """

    encoder: Tensor | None = None
    decoder: Tensor | None = None
    cross: Tensor | None = None

    def row(self, kind: str, layer: int) -> Tensor | None:
        """The gates of one layer, [H] or [B, H]."""
        gates = getattr(self, kind)
        return None if gates is None else gates[layer]

    def to(self, device: torch.device) -> Gates:
        """The same gates on another device."""
        found = (getattr(self, kind) for kind in ("encoder", "decoder", "cross"))
        return Gates(*(None if gates is None else gates.to(device) for gates in found))


@dataclass(frozen=True, eq=False)
class Encoded:
    """memory [B, S, D]; weights [B, L, H, S, S]; states [B, L + 1, S, D], the stream before layer 1 and after each."""

    memory: Tensor
    weights: Tensor
    states: Tensor


@dataclass(frozen=True, eq=False)
class Decoded:
    """logits [B, T, V]; decoder [B, L, H, T, T]; cross [B, L, H, T, S]; states [B, L + 1, T, D]."""

    logits: Tensor
    decoder: Tensor
    cross: Tensor
    states: Tensor


@dataclass(frozen=True, eq=False)
class Stepped:
    """What one cached step gives: logits [B, V], and for each layer the weights it read by.

    `own` are [B, H, T] over all T tokens read so far, `over_source` [B, H, S].
    """

    logits: Tensor
    own: Sequence[Tensor]
    over_source: Sequence[Tensor]

    @cached_property
    def decoder(self) -> Tensor:
        """Weights of the decoder's own attention, [B, L, H, T]."""
        return torch.stack(tuple(self.own), 1)

    @cached_property
    def cross(self) -> Tensor:
        """Weights of cross-attention, [B, L, H, S]."""
        return torch.stack(tuple(self.over_source), 1)


class Transformer(nn.Module):
    """Encoder and decoder as `config` describes them.

    Shapes: B batch, L layers, H heads, S source, T target, D d_model, V vocabulary.
    `src_keep` [B, S] is True where a source token is real.
    """

    src_positions: Tensor
    tgt_positions: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.src_embedding = Embedding(config.src_vocab, config.d_model)
        self.tgt_embedding = (
            self.src_embedding if config.embeddings == "shared" else Embedding(config.tgt_vocab, config.d_model)
        )
        self.output = Linear(config.d_model, config.tgt_vocab, bias=config.output_bias)
        self._positions()
        self.embedding_norms = Stack[nn.Module](layer_norm(config) for _ in range(2 if config.embedding_norm else 0))
        self.encoder = Stack[EncoderLayer](EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = Stack[DecoderLayer](DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = layer_norm(config) if config.final_norm else nn.Identity()
        self.decoder_norm = layer_norm(config) if config.final_norm else nn.Identity()
        self._initialise()
        if config.embeddings != "separate":
            self.output.weight = self.tgt_embedding.weight

    def _positions(self) -> None:
        """Sinusoids are made anew and not stored; learned tables are weights, one for each side."""
        for name in ("src_positions", "tgt_positions"):
            table = position_table(self.config)
            if isinstance(table, nn.Parameter):
                self.register_parameter(name, table)
            else:
                self.register_buffer(name, table, persistent=False)

    def _initialise(self) -> None:
        """Xavier-uniform matrices (as two source documents start), embeddings at the scale their use expects."""
        if self.output.weight.is_meta:
            return
        if self.config.xavier:
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter)
        std = self.config.d_model**-0.5 if self.config.scale_embeddings else 1.0
        for embedding in (self.src_embedding, self.tgt_embedding):
            nn.init.normal_(embedding.weight, std=std)
        for module in self.modules():
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def embed(self, ids: Tensor, *, target: bool, first: int = 0) -> Tensor:
        """ids [B, T] as scaled embeddings plus positions, [B, T, D]; the first id stands at index `first`."""
        embedding, table = (
            (self.tgt_embedding, self.tgt_positions) if target else (self.src_embedding, self.src_positions)
        )
        scale = self.config.d_model**0.5 if self.config.scale_embeddings else 1.0
        x = embedding(ids) * scale + table[first : first + ids.shape[1]]
        if self.embedding_norms:
            x = self.embedding_norms[int(target)](x)
        return F.dropout(x, self.config.dropout, self.training)

    def encode(self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None) -> Encoded:
        """Read src_ids [B, S]; `src_keep` None says that no token is padding."""
        gates = gates or Gates()
        keep = _over_heads(src_keep)
        x = self.embed(src_ids, target=False)
        weights, states = [], [x]
        for index, layer in enumerate(self.encoder):
            x, layer_weights = layer(x, keep, gates.row("encoder", index))
            weights.append(layer_weights)
            states.append(x)
        return Encoded(self.encoder_norm(x), torch.stack(weights, 1), torch.stack(states, 1))

    def decode(self, tgt_ids: Tensor, memory: Tensor, src_keep: Tensor | None, gates: Gates | None = None) -> Decoded:
        """Read tgt_ids [B, T] (the start token first); row t of everything predicts the token after tgt_ids[:, t]."""
        gates = gates or Gates()
        keep, causal = _over_heads(src_keep), causal_keep(tgt_ids.shape[1], tgt_ids.device)
        x = self.embed(tgt_ids, target=True)
        own, cross, states = [], [], [x]
        for index, layer in enumerate(self.decoder):
            x, a, b = layer(x, causal, memory, keep, (gates.row("decoder", index), gates.row("cross", index)))
            own.append(a)
            cross.append(b)
            states.append(x)
        logits = self.output(self.decoder_norm(x))
        return Decoded(logits, torch.stack(own, 1), torch.stack(cross, 1), torch.stack(states, 1))

    def forward(
        self, src_ids: Tensor, tgt_ids: Tensor, src_keep: Tensor | None, tgt_keep: Tensor | None = None
    ) -> Tensor:
        """Logits [B, T, V] by fused attention, for training; equals `encode` and `decode` within rounding.

        With `tgt_keep` [B, T] only the rows where it is True come back, [rows, V]: padding is not projected.
        """
        hidden = self.hidden(src_ids, tgt_ids, src_keep)
        return self.output(hidden if tgt_keep is None else hidden[tgt_keep])

    def hidden(self, src_ids: Tensor, tgt_ids: Tensor, src_keep: Tensor | None) -> Tensor:
        """What the output projection reads, [B, T, D], by fused attention."""
        keep = _over_heads(src_keep)
        memory = self.memory(src_ids, src_keep)
        x = self.embed(tgt_ids, target=True)
        for layer in self.decoder:
            x = layer.fast(x, memory, keep)
        return self.decoder_norm(x)

    def memory(self, src_ids: Tensor, src_keep: Tensor | None) -> Tensor:
        """`encode(...).memory` by fused attention, without the weights: [B, S, D]."""
        keep = _over_heads(src_keep)
        x = self.embed(src_ids, target=False)
        for layer in self.encoder:
            x = layer.fast(x, keep)
        return self.encoder_norm(x)

    def start(self, memory: Tensor, src_keep: Tensor | None, *, max_length: int, rows: int = 1) -> Cache:
        """A cache for decoding `rows` hypotheses of each source of memory [N, S, D], at most `max_length` steps.

        The cross keys and values of every layer are computed here, once.
        """
        size = (
            memory.shape[0] * rows,
            self.config.decoder_heads,
            max_length,
            self.config.head_size(self.config.decoder_heads),
        )
        layers = []
        for layer in self.decoder:
            key, value = layer.cross.key_value(memory)
            own_key, own_value = memory.new_empty(size), memory.new_empty(size)
            layers.append(LayerCache(own_key, own_value, key.contiguous(), value.contiguous()))
        return Cache(layers, None if src_keep is None else ~src_keep[:, None, None, :], rows)

    def step(self, ids: Tensor, cache: Cache, gates: Gates | None = None) -> Stepped:
        """Read one more id of every hypothesis, ids [B]; equals the last row of `decode` over all read so far.

        Raises:
            ValueError: the cache is full.
        """
        if len(ids) == 1 and self.output.prepared:
            return self._single(ids, cache, gates)
        x = self.embed(ids[:, None], target=True, first=cache.length)
        gates = gates or Gates()
        own, cross = [], []
        for index, (layer, kept) in enumerate(zip(self.decoder, cache.layers, strict=True)):
            query, key, value = layer.attention.project(layer.attention_residual.enter(x))
            key, value = kept.append(key, value, cache.length)
            mixed, read = mix(query, key, value)
            x = layer.attention_residual.leave(x, layer.attention.merge(mixed, gates.row("decoder", index)))
            query = cache.by_source(layer.cross.query(layer.cross_residual.enter(x)))
            mixed, weights = mix(query, kept.cross_key, kept.cross_value, cache.hidden)
            update = layer.cross.merge(cache.by_row(mixed), gates.row("cross", index))
            x = layer.finish(layer.cross_residual.leave(x, update))
            own.append(read.squeeze(2))
            cross.append(cache.by_row(weights).squeeze(2))
        cache.length += 1
        return Stepped(self.output(self.decoder_norm(x)).squeeze(1), own, cross)

    def _single(self, ids: Tensor, cache: Cache, gates: Gates | None) -> Stepped:
        """`step` of one hypothesis."""
        if cache.single is None or cache.single.gates is not gates:
            cache.single = Single(self, cache, gates)
        stepped = Stepped(*cache.single.step(ids))
        cache.length += 1
        return stepped


def _over_heads(src_keep: Tensor | None) -> Tensor | None:
    """[B, S] so that it broadcasts to [B, H, T, S]."""
    return None if src_keep is None else src_keep[:, None, None, :]
