"""A seq2seq model of `transformers` behind the interface of our own `Transformer`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor

from translator.adapted.gates import HeadGates
from translator.errors import InputError
from translator.model import Decoded, Encoded, Gates, Stepped


class UnavailableError(InputError, AttributeError):
    """What an adapted model does not have; `hasattr` says so too."""


@dataclass(frozen=True)
class AdaptedConfig:
    """What search, replay and page ask of a model's `ModelConfig`; what an adapted model cannot say is refused."""

    name: str
    src_vocab: int
    tgt_vocab: int
    max_positions: int
    head_counts: dict[str, tuple[int, int]]
    pad_id: int
    start_id: int
    eos_id: int
    banned_ids: tuple[int, ...] = ()
    banned_sequences: tuple[tuple[int, ...], ...] = ()
    min_length: int = 0
    masked_ids: tuple[int, ...] = ()
    padded_length: int | None = None

    @property
    def encoder_layers(self) -> int:
        """Layers of the encoder."""
        return self.head_counts["encoder"][0]

    @property
    def decoder_layers(self) -> int:
        """Layers of the decoder."""
        return self.head_counts["decoder"][0]

    @property
    def encoder_heads(self) -> int:
        """Heads of each encoder layer."""
        return self.head_counts["encoder"][1]

    @property
    def decoder_heads(self) -> int:
        """Heads of each decoder layer."""
        return self.head_counts["decoder"][1]

    def __getattr__(self, name: str) -> NoReturn:
        _refuse(self.__dict__.get("name", "this model"), name)


class AdaptedCache:
    """What the decoder remembers of B hypotheses: the keys and values of `transformers`, and the sources' states."""

    def __init__(self, memory: Tensor, keep: Tensor | None, rows: int) -> None:
        self.memory = memory.repeat_interleave(rows, 0)
        self.keep = None if keep is None else keep.repeat_interleave(rows, 0)
        self.rows = rows
        self.length = 0
        self.past: Any = None

    def reorder(self, rows: Tensor, *, sources: Tensor | None = None) -> None:
        """Let hypothesis i be what hypothesis rows[i] was; `sources` [N'] names the sources that stay (None = all)."""
        count = len(self.memory) // self.rows if sources is None else len(sources)
        self.memory = self.memory.index_select(0, rows)
        self.keep = None if self.keep is None else self.keep.index_select(0, rows)
        if self.past is not None:
            self.past.reorder_cache(rows)
        self.rows = len(rows) // count


class AdaptedModel:
    """An encoder-decoder of `transformers`, eager attention, in evaluation mode; shapes as in `Transformer`."""

    def __init__(self, network: Any, config: AdaptedConfig | None, **sizes: Any) -> None:
        """`config` None: read from the network, with `sizes` over what it says.

        Raises:
            InputError: `network` is no encoder-decoder, or does not return its attention.
        """
        self.network = network.eval().requires_grad_(False)
        encoder, decoder = _sides(network)
        self.config = config or _config_of(network, **sizes)
        self.gates = HeadGates(encoder, decoder, self.config.head_counts)

    @property
    def output(self) -> Any:
        """The output projection, whose weight says where the model is."""
        return self.network.get_output_embeddings()

    def __getattr__(self, name: str) -> NoReturn:
        config = self.__dict__.get("config")
        _refuse(config.name if config is not None else "this model", name)

    def encode(
        self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None, *, maps: bool = True
    ) -> Encoded:
        """Read src_ids [B, S]; `src_keep` None says that no token is padding. Maps come with it, wanted or not."""
        with self.gates.applied(gates):
            found = _sides(self.network)[0](
                input_ids=src_ids,
                attention_mask=_mask(src_ids, src_keep),
                output_attentions=True,
                output_hidden_states=True,
                return_dict=True,
            )
        weights, states = (torch.stack(each, 1) for each in (found.attentions, found.hidden_states))
        return Encoded(found.last_hidden_state, weights, states, src_keep)

    def decode(self, tgt_ids: Tensor, memory: Tensor, src_keep: Tensor | None, gates: Gates | None = None) -> Decoded:
        """Read tgt_ids [B, T] (the start token first); row t of everything predicts the token after tgt_ids[:, t]."""
        with self.gates.applied(gates):
            found = self.network(
                encoder_outputs=(memory,),
                attention_mask=_mask(memory[..., 0], src_keep),
                decoder_input_ids=tgt_ids,
                use_cache=False,
                output_attentions=True,
                output_hidden_states=True,
                return_dict=True,
            )
        maps = [torch.stack(kind, 1) for kind in (found.decoder_attentions, found.cross_attentions)]
        return Decoded(found.logits, maps[0], maps[1], torch.stack(found.decoder_hidden_states, 1))

    def start(self, memory: Tensor, src_keep: Tensor | None, *, max_length: int, rows: int = 1) -> AdaptedCache:
        """A cache for decoding `rows` hypotheses of each source of memory [N, S, D]."""
        return AdaptedCache(memory, src_keep, rows)

    def step(self, ids: Tensor, cache: AdaptedCache, gates: Gates | None = None) -> Stepped:
        """Read one more id of every hypothesis, ids [B]."""
        with self.gates.applied(gates):
            found = self.network(
                encoder_outputs=(cache.memory,),
                attention_mask=_mask(cache.memory[..., 0], cache.keep),
                decoder_input_ids=ids[:, None],
                past_key_values=cache.past,
                use_cache=True,
                output_attentions=True,
                return_dict=True,
            )
        cache.past = found.past_key_values
        cache.length += 1
        own, cross = (
            [layer[:, :, -1] for layer in kind] for kind in (found.decoder_attentions, found.cross_attentions)
        )
        return Stepped(found.logits[:, -1], own, cross)


def _refuse(model: str, name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnavailableError(
        f"this needs {name!r} of our own model; {model} was adapted from transformers, which gives its translations, "
        "attention maps and probabilities alone"
    )


def _mask(like: Tensor, keep: Tensor | None) -> Tensor:
    """The attention mask [B, S] of `transformers`: 1 where a token is real."""
    return torch.ones(like.shape, dtype=torch.long, device=like.device) if keep is None else keep.long()


def _sides(network: Any) -> tuple[Any, Any]:
    try:
        encoder, decoder = network.get_encoder(), network.get_decoder()
    except (AttributeError, TypeError, NotImplementedError) as error:
        raise InputError(f"{type(network).__name__} has no encoder and decoder; adapt takes seq2seq models") from error
    if not getattr(network.config, "is_encoder_decoder", False) or encoder is decoder or encoder is network:
        raise InputError(f"{type(network).__name__} is not an encoder-decoder model; adapt takes seq2seq models")
    return encoder, decoder


def _config_of(network: Any, **sizes: Any) -> AdaptedConfig:
    said, how = network.config, network.generation_config
    if hasattr(network, "set_attn_implementation"):
        network.set_attn_implementation("eager")  # no other returns its weights
    eos = how.eos_token_id if how.eos_token_id is not None else said.eos_token_id
    start = how.decoder_start_token_id if how.decoder_start_token_id is not None else said.decoder_start_token_id
    start = start if start is not None else how.bos_token_id
    pad = how.pad_token_id if how.pad_token_id is not None else said.pad_token_id
    eos = eos[0] if isinstance(eos, list) else eos
    for name, value in (("eos_token_id", eos), ("decoder_start_token_id", start), ("pad_token_id", pad)):
        if not isinstance(value, int):
            raise InputError(f"{name} is {value!r} in the configuration of {type(network).__name__}; set it first")
    vocab = network.get_output_embeddings().weight.shape[0]
    probe = torch.full((1, 2), eos, device=network.get_output_embeddings().weight.device)
    with torch.inference_mode():
        found = network(input_ids=probe, decoder_input_ids=probe, output_attentions=True, return_dict=True)
    counts = {}
    for kind, maps in (
        ("encoder", found.encoder_attentions),
        ("decoder", found.decoder_attentions),
        ("cross", found.cross_attentions),
    ):
        if not maps or any(each is None or each.dim() != 4 for each in maps):
            raise InputError(f"{type(network).__name__} returns no {kind} attention; its traces would have no maps")
        counts[kind] = (len(maps), maps[0].shape[1])
    config = AdaptedConfig(
        name=str(said._name_or_path or type(network).__name__),
        src_vocab=network.get_input_embeddings().weight.shape[0],
        tgt_vocab=vocab,
        max_positions=_positions(said),
        head_counts=counts,
        pad_id=pad,
        start_id=start,
        eos_id=eos,
    )
    return dataclasses.replace(config, **sizes)


def _positions(said: Any) -> int:
    """Tokens at most; 1024 for a model with relative positions alone, which would take any number."""
    named = (getattr(said, name, None) for name in ("max_position_embeddings", "n_positions"))
    return next((count for count in named if isinstance(count, int) and count > 0), 1024)
