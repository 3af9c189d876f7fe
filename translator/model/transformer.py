"""The encoder-decoder Transformer (Vaswani et al. 2017) with every attention weight in its return values."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.config import ModelConfig
from translator.model.attention import causal_keep, mix
from translator.model.cache import Cache
from translator.model.layers import DecoderLayer, Embedding, EncoderLayer, Stack, layer_norm
from translator.model.linear import Linear
from translator.model.positions import position_table, rows_at
from translator.model.values import Decoded, Encoded, Gates, Stepped


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

    def embed(self, ids: Tensor, *, target: bool, first: Tensor | int = 0) -> Tensor:
        """ids [B, T] as scaled embeddings plus positions, [B, T, D]; the first id stands at index `first`.

        With `first` [1] on the device each sentence has one id.
        """
        embedding, table = (
            (self.tgt_embedding, self.tgt_positions) if target else (self.src_embedding, self.src_positions)
        )
        scale = self.config.d_model**0.5 if self.config.scale_embeddings else 1.0
        x = embedding(ids) * scale + rows_at(table, first, ids.shape[1])
        if self.embedding_norms:
            x = self.embedding_norms[int(target)](x)
        return F.dropout(x, self.config.dropout, self.training)

    def encode(
        self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None, *, maps: bool = True
    ) -> Encoded:
        """Read src_ids [B, S]; `src_keep` None says that no token is padding.

        Without `maps`, and without gates, attention is fused: weights and states are not computed.
        """
        keep, gates = _over_heads(src_keep), gates or Gates()
        x = self.embed(src_ids, target=False)
        if not maps and gates.encoder is None:
            for layer in self.encoder:
                x = layer.fast(x, keep)
            return Encoded.without_maps(self.encoder_norm(x), src_keep)
        weights, states = [], [x]
        for index, layer in enumerate(self.encoder):
            x, layer_weights = layer(x, keep, gates.row("encoder", index))
            weights.append(layer_weights)
            states.append(x)
        return Encoded(self.encoder_norm(x), torch.stack(weights, 1), torch.stack(states, 1), src_keep)

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

    def forward(self, src_ids: Tensor, tgt_ids: Tensor, src_keep: Tensor | None, rows: Tensor | None = None) -> Tensor:
        """Logits [B, T, V] by fused attention, for training; equals `encode` and `decode` within rounding.

        With `rows` [N] only these of the B·T places come back, [N, V]: padding is not projected.
        """
        hidden = self.hidden(src_ids, tgt_ids, src_keep)
        return self.output(hidden if rows is None else hidden.flatten(0, 1).index_select(0, rows))

    def hidden(self, src_ids: Tensor, tgt_ids: Tensor, src_keep: Tensor | None) -> Tensor:
        """What the output projection reads, [B, T, D], by fused attention."""
        return self.hidden_and_cross(src_ids, tgt_ids, src_keep, ())[0]

    def hidden_and_cross(
        self, src_ids: Tensor, tgt_ids: Tensor, src_keep: Tensor | None, layers: Collection[int]
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """`hidden`, and the cross-attention [B, H, T, S] of the decoder's `layers`, which alone is not fused."""
        keep, memory = _over_heads(src_keep), self.encode(src_ids, src_keep, maps=False).memory
        causal = causal_keep(tgt_ids.shape[1], tgt_ids.device) if layers else None
        x, maps = self.embed(tgt_ids, target=True), {}
        for index, layer in enumerate(self.decoder):
            if causal is not None and index in layers:
                x, _, maps[index] = layer(x, causal, memory, keep)
            else:
                x = layer.fast(x, memory, keep)
        return self.decoder_norm(x), maps

    def start(self, memory: Tensor, src_keep: Tensor | None, *, max_length: int, rows: int = 1) -> Cache:
        """A cache for decoding `rows` hypotheses of each source of memory [N, S, D], at most `max_length` steps.

        The cross keys and values of every layer are computed here, once.

        Raises:
            ValueError: there are no positions for so many steps.
        """
        self.check_length(max_length)
        keys, values = zip(*(layer.cross.key_value(memory) for layer in self.decoder), strict=True)
        return self.cache(torch.stack(keys), torch.stack(values), src_keep, max_length=max_length, rows=rows)

    def check_length(self, max_length: int) -> None:
        """Refuse more steps than there are positions.

        Raises:
            ValueError: there are.
        """
        if max_length > self.config.max_positions:
            raise ValueError(f"the model has {self.config.max_positions} positions, not {max_length}")

    def cache(
        self, cross_keys: Tensor, cross_values: Tensor, src_keep: Tensor | None, *, max_length: int, rows: int = 1
    ) -> Cache:
        """An empty cache over the cross keys and values [L, N, H, S, d_head] of N sources; see `start`."""
        layers, sources, heads, _, size = cross_keys.shape
        shape = (layers, sources * rows, heads, max_length, size)
        return Cache(
            keys=cross_keys.new_empty(shape),
            values=cross_keys.new_empty(shape),
            cross_keys=cross_keys,
            cross_values=cross_values,
            hidden=None if src_keep is None else ~src_keep[:, None, None, :],
            rows=rows,
        )

    def step(self, ids: Tensor, cache: Cache, gates: Gates | None = None) -> Stepped:
        """Read one more id of every hypothesis, ids [B]; equals the last row of `decode` over all read so far.

        Raises:
            ValueError: the cache is full.
        """
        x = self.embed(ids[:, None], target=True, first=cache.first)
        gates, unread = gates or Gates(), cache.unread
        own, cross = [], []
        for index, layer in enumerate(self.decoder):
            query, key, value = layer.attention.project(layer.attention_residual.enter(x))
            mixed, read = mix(query, *cache.append(index, key, value), unread)
            x = layer.attention_residual.leave(x, layer.attention.merge(mixed, gates.row("decoder", index)))
            query = cache.by_source(layer.cross.query(layer.cross_residual.enter(x)))
            mixed, weights = mix(query, cache.cross_keys[index], cache.cross_values[index], cache.hidden)
            update = layer.cross.merge(cache.by_row(mixed), gates.row("cross", index))
            x = layer.finish(layer.cross_residual.leave(x, update))
            own.append(read.squeeze(2))
            cross.append(cache.by_row(weights).squeeze(2))
        cache.advance()
        return Stepped(self.output(self.decoder_norm(x)).squeeze(1), own, cross)


def _over_heads(src_keep: Tensor | None) -> Tensor | None:
    """[B, S] so that it broadcasts to [B, H, T, S]."""
    return None if src_keep is None else src_keep[:, None, None, :]
