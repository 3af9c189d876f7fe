"""A seq2seq model of `transformers` behind the interface of our own `Transformer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import torch
from torch import Tensor, nn

from translator.adapted.gates import HeadGates
from translator.adapted.pretrained import Answer, Past, PretrainedModel, Reading
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
        self.past: Past | None = None

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

    def __init__(self, network: PretrainedModel) -> None:
        """Put `network` into evaluation mode.

        Raises:
            InputError: it is no encoder-decoder that writes tokens, or does not return its attention.
        """
        encoder, decoder = _sides(network)
        network.eval()
        network.requires_grad_(False)
        self.network = network
        self.output = _output(network)
        self.config = _config_of(network)
        self.gates = HeadGates(encoder, decoder, self.config.head_counts)

    def __getattr__(self, name: str) -> NoReturn:
        config = self.__dict__.get("config")
        _refuse(config.name if config is not None else "this model", name)

    def encode(
        self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None, *, maps: bool = True
    ) -> Encoded:
        """Read src_ids [B, S]; `src_keep` None says that no token is padding. Maps come with it, wanted or not."""
        with self.gates.applied(gates):
            found: Reading = self.network.get_encoder()(
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
            found: Answer = self.network(
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
            found: Answer = self.network(
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


def _sides(network: PretrainedModel) -> tuple[nn.Module, nn.Module]:
    itself: object = network
    try:
        encoder, decoder = network.get_encoder(), network.get_decoder()
    except (AttributeError, TypeError, NotImplementedError) as error:
        raise InputError(f"{type(network).__name__} has no encoder and decoder; adapt takes seq2seq models") from error
    if not getattr(network.config, "is_encoder_decoder", False) or encoder is decoder or encoder is itself:
        raise InputError(f"{type(network).__name__} is not an encoder-decoder model; adapt takes seq2seq models")
    return encoder, decoder


def _output(network: PretrainedModel) -> nn.Module:
    """The output projection, whose weight [V, D] says where the model is."""
    found = network.get_output_embeddings()
    if found is None:
        raise InputError(f"{type(network).__name__} writes no tokens; adapt takes seq2seq models with a head that does")
    return found


def _weight(module: nn.Module) -> Tensor:
    weight = module.weight
    if not isinstance(weight, Tensor):
        raise InputError(f"{type(module).__name__} has no weight of its own; adapt takes models with one table of ids")
    return weight


def _config_of(network: PretrainedModel) -> AdaptedConfig:
    if hasattr(network, "set_attn_implementation"):
        network.set_attn_implementation("eager")  # no other returns its weights
    start = _said(network, "decoder_start_token_id")
    start_id = _id(network, "decoder_start_token_id", start if start is not None else _said(network, "bos_token_id"))
    eos = _said(network, "eos_token_id")
    eos_id = _id(network, "eos_token_id", eos[0] if isinstance(eos, list) and eos else eos)
    written = _weight(_output(network))
    return AdaptedConfig(
        name=str(getattr(network.config, "_name_or_path", "") or type(network).__name__),
        src_vocab=len(_weight(network.get_input_embeddings())),
        tgt_vocab=len(written),
        max_positions=_positions(network.config),
        head_counts=_head_counts(network, torch.full((1, 2), eos_id, device=written.device)),
        pad_id=_id(network, "pad_token_id", _said(network, "pad_token_id")),
        start_id=start_id,
        eos_id=eos_id,
    )


def _said(network: PretrainedModel, name: str) -> object:
    """What the settings of generation say, or else the configuration."""
    places = (getattr(network, "generation_config", None), network.config)
    return next((value for each in places if (value := getattr(each, name, None)) is not None), None)


def _id(network: PretrainedModel, name: str, value: object) -> int:
    if not isinstance(value, int):
        raise InputError(f"{name} is {value!r} in the configuration of {type(network).__name__}; set it first")
    return value


@torch.inference_mode()
def _head_counts(network: PretrainedModel, probe: Tensor) -> dict[str, tuple[int, int]]:
    """Layers and heads by kind of attention, as they come of reading `probe` [1, T]."""
    found = network(input_ids=probe, decoder_input_ids=probe, output_attentions=True, return_dict=True)
    counts = {}
    for kind, maps in (
        ("encoder", found.encoder_attentions),
        ("decoder", found.decoder_attentions),
        ("cross", found.cross_attentions),
    ):
        layers = [each for each in maps or () if each is not None and each.dim() == 4]
        if not layers or len(layers) != len(maps or ()):
            raise InputError(f"{type(network).__name__} returns no {kind} attention; its traces would have no maps")
        counts[kind] = (len(layers), layers[0].shape[1])
    return counts


def _positions(said: object) -> int:
    """Tokens at most; 1024 for a model with relative positions alone, which would take any number."""
    named = (getattr(said, name, None) for name in ("max_position_embeddings", "n_positions"))
    return next((count for count in named if isinstance(count, int) and count > 0), 1024)
