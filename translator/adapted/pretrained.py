"""What `adapt` asks of a model and a tokenizer of `transformers`, most of whose methods have no types of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor, nn


class Past(Protocol):
    """Keys and values of the tokens that a decoder has read."""

    def reorder_cache(self, beam_idx: Tensor, /) -> object:
        """Let hypothesis i be what hypothesis beam_idx[i] was."""


class Reading(Protocol):
    """What an encoder returns: its last states [B, S, D], and a tensor for each layer."""

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...]
    attentions: tuple[Tensor, ...]


class Answer(Protocol):
    """What a whole model returns: logits [B, T, V], and a tensor for each layer, as far as they were asked for."""

    logits: Tensor
    encoder_attentions: tuple[Tensor | None, ...] | None
    decoder_attentions: tuple[Tensor, ...]
    cross_attentions: tuple[Tensor, ...]
    decoder_hidden_states: tuple[Tensor, ...]
    past_key_values: Past | None


class PretrainedModel(Protocol):
    """An encoder-decoder with a language model head, such as any `AutoModelForSeq2SeqLM` makes."""

    @property
    def config(self) -> object:
        """Its configuration."""

    def get_encoder(self) -> nn.Module:
        """The encoder, which returns a `Reading`."""

    def get_decoder(self) -> nn.Module:
        """The decoder."""

    def get_input_embeddings(self) -> nn.Module:
        """The embedding of source ids."""

    def get_output_embeddings(self) -> nn.Module | None:
        """The output projection, if there is one."""

    def eval(self) -> object:
        """Switch dropout off."""

    def requires_grad_(self, requires_grad: bool = True, /) -> object:
        """Let its weights be trained, or not."""

    def parameters(self) -> Iterator[Tensor]:
        """Its weights."""

    def state_dict(self) -> Mapping[str, Tensor]:
        """Its weights by name."""

    def __call__(self, **inputs: object) -> Answer:
        """Read what is named."""


class PretrainedTokenizer(Protocol):
    """A tokenizer, fast or not, set to its languages."""

    @property
    def pad_token_id(self) -> int | None:
        """The id of padding."""

    @property
    def unk_token_id(self) -> int | None:
        """The id of what it does not know."""

    @property
    def all_special_ids(self) -> Sequence[int]:
        """The ids that stand for no text."""

    def __call__(
        self, *, text: str = ..., text_target: str = ..., truncation: bool = ..., return_offsets_mapping: bool = ...
    ) -> Mapping[str, Any]:
        """The "input_ids" of a text of either side, and its "offset_mapping" where that is asked of a fast one."""

    def decode(self, token_ids: list[int], /, *, clean_up_tokenization_spaces: bool) -> object:
        """The text of ids."""

    def convert_ids_to_tokens(self, ids: int, /) -> object:
        """The piece of an id; None where there is none."""

    def convert_tokens_to_string(self, tokens: list[str], /) -> str:
        """The text of pieces."""
