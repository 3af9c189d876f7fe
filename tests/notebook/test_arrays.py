"""Attention arrays of other programs, in the forms of `transformers` and BertViz, and what is refused of them."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BartConfig, BartForConditionalGeneration

import translator
from translator.errors import InputError
from translator.notebook import arrays
from translator.notebook.arrays import arrays_trace

SOURCE = ["<s>", "ĠIch", "Ġren", "ne", "</s>"]


@pytest.fixture(scope="module")
def bart() -> BartForConditionalGeneration:
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=40, d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=4, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32,
        attn_implementation="eager", forced_eos_token_id=None,
    )  # fmt: skip
    return BartForConditionalGeneration(config).eval()


def test_maps_of_a_forward_pass(bart: BartForConditionalGeneration) -> None:
    ids, read = torch.tensor([[0, 5, 6, 7, 2]]), torch.tensor([[2, 8, 9]])
    with torch.no_grad():
        out = bart(input_ids=ids, decoder_input_ids=read, output_attentions=True)
    trace = arrays_trace(
        encoder_attention=out.encoder_attentions,
        decoder_attention=out.decoder_attentions,
        cross_attention=out.cross_attentions,
        encoder_tokens=SOURCE,
        decoder_tokens=["</s>", "ĠI", "Ġrun"],
    )
    for kind, layers in (
        ("encoder", out.encoder_attentions),
        ("decoder", out.decoder_attentions),
        ("cross", out.cross_attentions),
    ):
        assert np.array_equal(trace.weights(kind), torch.stack(layers, 1)[0].numpy())
    assert [token.surface for token in trace.reads] == ["</s>", "I", "run"]
    assert [token.surface for token in trace.tgt] == ["I", "run", "…"]
    assert [token.word for token in trace.src] == [-1, 0, 1, 1, -1]
    assert trace.source == "Ich renne" and trace.kinds == ("encoder", "decoder", "cross")


def test_maps_of_generate_are_those_of_a_forward_pass(bart: BartForConditionalGeneration) -> None:
    ids = torch.tensor([[0, 5, 6, 7, 2]])
    with torch.no_grad():
        made = bart.generate(
            ids, max_new_tokens=6, min_new_tokens=6, do_sample=False, num_beams=1, output_attentions=True,
            return_dict_in_generate=True,
        )  # fmt: skip
        out = bart(input_ids=ids, decoder_input_ids=made.sequences[:, :-1], output_attentions=True)
    tokens = [f"t{number}" for number in range(made.sequences.shape[1])]
    trace = arrays_trace(
        decoder_attention=made.decoder_attentions,
        cross_attention=made.cross_attentions,
        encoder_tokens=SOURCE,
        decoder_tokens=tokens,
    )
    assert np.allclose(trace.decoder, torch.stack(out.decoder_attentions, 1)[0].numpy(), atol=1e-6)
    assert np.allclose(trace.cross, torch.stack(out.cross_attentions, 1)[0].numpy(), atol=1e-6)
    assert [token.surface for token in trace.tgt] == tokens[1:]


@pytest.mark.parametrize(
    ("texts", "surfaces", "words"),
    [
        (["[CLS]", "play", "##ing", "cats", "[SEP]"], ["[CLS]", "play", "ing", "cats", "[SEP]"], [-1, 0, 0, 1, -1]),
        (["▁Das", "▁Hau", "s"], ["Das", "Hau", "s"], [0, 1, 1]),
        (["th</w>", "pl", "ay</w>"], ["th", "pl", "ay"], [0, 1, 1]),
        (["a", "b"], ["a", "b"], [0, 1]),
    ],
)
def test_pieces_of_words_are_told_by_their_marks(texts: list[str], surfaces: list[str], words: list[int]) -> None:
    maps = np.full((1, 1, len(texts), len(texts)), 1 / len(texts))
    trace = arrays_trace(encoder_attention=maps, encoder_tokens=texts)
    assert [token.surface for token in trace.src] == surfaces
    assert [token.word for token in trace.src] == words


def even(*shape: int) -> np.ndarray:
    return np.full(shape, 1 / shape[-1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "there is no attention"),
        ({"encoder_attention": [even(1, 2, 3, 3)], "encoder_tokens": ["a"]}, "3 queries × 3 keys; the tokens are 1"),
        ({"encoder_attention": [even(2, 2, 3, 3)], "encoder_tokens": ["a"] * 3}, "a batch of 2"),
        ({"encoder_attention": [even(1, 2, 3, 3) * 9], "encoder_tokens": ["a"] * 3}, "after the softmax"),
        ({"encoder_attention": even(3, 3), "encoder_tokens": ["a"] * 3}, r"the shape \(3, 3\)"),
        ({"cross_attention": even(1, 1, 2, 3), "encoder_tokens": ["a"] * 3}, "needs decoder_tokens"),
        ({"encoder_attention": "maps", "encoder_tokens": ["a"]}, "holds str"),
        ({"encoder_attention": even(1, 1, 2, 2), "encoder_tokens": "ab"}, "a list of texts"),
        ({"encoder_attention": even(2, 1, 1, 1), "encoder_tokens": ["a"], "include_layers": [2]}, "layers 0 to 1"),
        ({"encoder_attention": [even(1, 1, 2, 2), even(1, 2, 2, 2)], "encoder_tokens": ["a"] * 2}, "the same"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        arrays_trace(**given)


def test_arguments_that_contradict_each_other() -> None:
    maps = [even(1, 2, 3, 3)]
    with pytest.raises(InputError, match="encoder_tokens is given beside"):
        translator.explore(maps, ["a"] * 3, encoder_tokens=["a"] * 3)
    with pytest.raises(InputError, match="no argument 'heads_shown'"):
        translator.explore(maps, ["a"] * 3, heads_shown=3)
    with pytest.raises(InputError, match="html_action is 'draw'"):
        translator.head_view(maps, ["a"] * 3, html_action="draw")
    with pytest.raises(InputError, match="sentence_b_start is 9"):
        translator.model_view(maps, ["a"] * 3, sentence_b_start=9)


BERTVIZ = ("attention", "tokens", "sentence_b_start", "prettify_tokens")
ENCODER_DECODER = (
    *("encoder_attention", "decoder_attention", "cross_attention", "encoder_tokens", "decoder_tokens"),
    "include_layers",
)


@pytest.mark.parametrize(
    ("view", "places", "names"),
    [
        ("head_view", (*BERTVIZ, "layer", "heads"), (*ENCODER_DECODER, "html_action")),
        ("model_view", (*BERTVIZ, "display_mode"), (*ENCODER_DECODER, "include_heads", "html_action")),
    ],
)
def test_arguments_are_those_of_bertviz(view: str, places: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Places and names of BertViz 1.4; whoever calls it changes the import."""
    function = getattr(translator, view)
    assert tuple(inspect.signature(function).parameters)[: len(places)] == places
    known = {*inspect.signature(function).parameters, *typing.get_type_hints(arrays.Views)}
    assert {*names} <= known
    pair = {
        "encoder_attention": [even(1, 2, 3, 3)] * 2,
        "decoder_attention": [even(1, 2, 2, 2)] * 2,
        "cross_attention": [even(1, 2, 2, 3)] * 2,
        "encoder_tokens": ["\u2581a", "\u2581b", "c"],
        "decoder_tokens": ["</s>", "\u2581d"],
    }
    found = function(None, None, None, False, **pair, include_layers=[1])
    assert [token.surface for token in found.trace.src] == pair["encoder_tokens"], "prettify_tokens is the fourth"
    assert found.trace.cross.shape == (1, 2, 2, 3) and found.trace.kinds == ("encoder", "decoder", "cross")


def test_layers_and_heads_that_are_chosen() -> None:
    maps = np.stack([even(2, 3, 3) * (1 - 0.1 * layer) for layer in range(3)])
    maps[:, 1] *= 0.5
    trace = arrays_trace(encoder_attention=maps, encoder_tokens=["a"] * 3, include_layers=[2, 0], include_heads=[1])
    np.testing.assert_allclose(trace.encoder, maps[[2, 0]][:, [1]], rtol=1e-6)
    shown: Any = translator.model_view(maps, ["a"] * 3, display_mode="dark")
    assert shown.theme == "dark"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"encoder_attention": [even(1, 1, 2, 2) * np.nan], "encoder_tokens": ["a"] * 2}, "has values from nan"),
        ({"encoder_attention": [], "encoder_tokens": ["a"]}, "encoder_attention is empty"),
        ({"encoder_attention": [[even(1, 1, 1, 2)]], "encoder_tokens": ["a"] * 2}, "given step by step"),
        (
            {
                "decoder_attention": even(2, 1, 2, 2), "cross_attention": even(1, 1, 2, 3),
                "encoder_tokens": ["a"] * 3, "decoder_tokens": ["b"] * 2,
            },
            "they must agree",
        ),
        ({"encoder_attention": even(1, 2, 1, 1), "encoder_tokens": ["a"], "include_heads": [0, 2]}, "heads 0 to 1"),
        ({"encoder_attention": even(1, 2, 1, 1), "encoder_tokens": ["a"], "include_heads": []}, "include_heads is"),
    ],
)  # fmt: skip
def test_more_that_does_not_fit_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        arrays_trace(**given)


def test_what_is_given_beside_each_other(make_trace: Any) -> None:
    with pytest.raises(InputError, match="tokens is given beside a trace"):
        translator.explore(make_trace(0), ["a"])
    with pytest.raises(InputError, match="tokens are given without attention"):
        translator.explore(tokens=["a"])
