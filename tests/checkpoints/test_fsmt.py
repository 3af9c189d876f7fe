"""FSMT against `transformers`: tokens, logits, every weight, every id; what is refused."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from transformers import FSMTConfig

import translator
from translator.checkpoints import load_bundle
from translator.checkpoints.convert import convert
from translator.errors import CheckpointError, InputError
from translator.text.moses import _spans


def _maker(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


marian, maker = _maker("marian_maker"), _maker("fsmt_maker")
SHAPES = sorted(maker.SHAPES)
ESCAPED = "&|<>'\"[]"  # "<" is "&lt;" to Moses, and a piece may be a part of that
ODD = [
    "„Ja“, sagte er – „aber 1 000 € sind’s nicht!“",
    'He said "no." It\'s 5 % [of <it>] | & a well-known  case...',
    "Dr. Müller z. B. wohnt in St.-Gallen; Tel. 0 30/12-34.",
    "Ｆｕｌｌ ｗｉｄｔｈ：１２３，。！",
    "a\u200bb \x07 \t tab\nline « guillemets » ‘x’ n't http://a.b/c?d=e_f",
]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    special = ("<s>", "<mask>", "madeupword")  # `transformers` reads the first two as special tokens
    found = [text for text in marian.sentences(5200) if not any(mark in text for mark in special)]
    return [*ODD, *found][:5000]


@pytest.fixture(scope="module")
def made(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A checkpoint of a shape, made once: (folder, transformers' tokenizer, its model, our translator)."""
    found: dict[str, Any] = {}

    def make(shape: str = "plain") -> Any:
        if shape not in found:
            folder = tmp_path_factory.mktemp("fsmt") / f"fsmt-{shape}"
            tokenizer = maker.make_tokenizer(folder, texts[:900], shared=shape == "tied", lowercase=shape == "unequal")
            net = maker.make_model(folder, shape, tokenizer)
            found[shape] = folder, tokenizer, net, translator.load(folder)
        return found[shape]

    return make


def generated(net: Any, src_ids: list[int], beams: int, limit: int) -> list[int]:
    ids = torch.tensor([src_ids])
    out = net.generate(ids, attention_mask=torch.ones_like(ids), num_beams=beams, max_length=limit + 1)[0, 1:].tolist()
    return out[: out.index(2) + 1] if 2 in out else out


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["plain", "unequal"])
def test_source_ids_of_five_thousand_sentences_are_those_of_transformers(
    made: Any, texts: list[str], shape: str
) -> None:
    _, tokenizer, _, ours = made(shape)
    src = ours.bundle.src
    expected = [tokenizer(text)["input_ids"] for text in texts]
    assert len(expected) == 5000
    assert [[*src.ids(text), *src.closing_ids] for text in texts] == expected
    known = sum(id != src.unk_id for ids in expected for id in ids)
    assert 0 < sum(map(len, expected)) - known < known, "some pieces are in no vocabulary, most are in one"


@pytest.mark.slow
def test_produced_ids_are_put_together_as_transformers_does(made: Any, texts: list[str]) -> None:
    _, tokenizer, _, ours = made()
    tgt = ours.bundle.tgt
    for text in texts[:1000]:
        ids = [*tgt.ids(text), tgt.eos_id]
        assert tgt.decode(ids) == tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.slow
def test_spans_point_into_what_was_typed_and_what_was_produced(made: Any, texts: list[str]) -> None:
    src, tgt = made()[3].bundle.src, made()[3].bundle.tgt
    for text in texts[:400]:
        encoding = src.encode(text)
        assert [token.id for token in encoding.tokens] == src.ids(text)
        for token in encoding.tokens:
            start, end = token.span
            assert 0 <= start <= end <= len(text)
            if text.isascii() and token.surface.isalnum() and text[start:end] not in ESCAPED:
                assert text[start:end] == token.surface
        covered = {place for token in encoding.tokens for place in range(*token.span)}
        assert covered >= {place for place, char in enumerate(text) if char.isascii() and char.isalnum()}
        ids = tgt.ids(text)
        decoded = tgt.decode(ids)
        for token in tgt.tokens(ids):
            part = decoded[slice(*token.span)] if token.span else ""
            if part not in ESCAPED and token.surface.isascii() and token.surface.isalnum():
                assert part == token.surface


@pytest.mark.slow
def test_an_escape_and_a_split_hyphen_stand_for_the_character_that_was_typed(made: Any) -> None:
    src = made()[3].bundle.src
    text = "it's well-known"
    words = {}
    for token in src.encode(text).tokens:
        words.setdefault(token.span, text[slice(*token.span)])
    assert "'" in "".join(words.values()) and "-" in words.values()


@pytest.mark.parametrize(
    ("parts", "text", "spans"),
    [
        (
            ["it", "&ap", "os;s"],
            "it's",
            [(0, 2), (2, 3), (2, 4)],
        ),  # both pieces of a cut escape stand for its character
        (["1", "2", "3"], "１２３", [(0, 1), (1, 2), (2, 3)]),  # what is normalised one by one keeps its places
        (["a", "@-@", "b"], "a-b", [(0, 1), (1, 2), (2, 3)]),
        (["fi", "ne"], "ﬁne", [(0, 1), (1, 3)]),
        (["a", "x", "b"], "a b", [(0, 1), (1, 1), (2, 3)]),  # what stands for nothing is empty
    ],
)
def test_spans_of_what_the_rules_changed(parts: list[str], text: str, spans: list[tuple[int, int]]) -> None:
    assert _spans(parts, text) == spans


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [2, 14])
def test_greedy_and_beam_ids_are_those_of_transformers(made: Any, texts: list[str], shape: str, limit: int) -> None:
    _, tokenizer, net, ours = made(shape)
    chosen = [text for text in texts[5:40] if len(tokenizer(text)["input_ids"]) <= 90][:8]
    for beams in (1, maker.HABITS[shape]["num_beams"], 4):
        method = {"method": "greedy"} if beams == 1 else {"method": "beam", "beam": beams}
        expected = [generated(net, tokenizer(text)["input_ids"], beams, limit) for text in chosen]
        traces = [ours.translate(text, max_length=limit, **method) for text in chosen]
        assert [[token.id for token in trace.tgt] for trace in traces] == expected
        assert all(trace.tgt[-1].special for trace in traces), "the limit forces an end, as in transformers"
        assert ours.translate_batch(chosen, max_length=limit, **method) == [trace.translation for trace in traces]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_every_map_and_log_probability_is_that_of_eager_attention(made: Any, texts: list[str], shape: str) -> None:
    _, tokenizer, net, ours = made(shape)
    for text in [text for text in texts[5:40] if len(tokenizer(text)["input_ids"]) <= 90][:4]:
        trace = ours.translate(text, max_length=12)
        reads = torch.tensor([[2, *(token.id for token in trace.tgt[:-1])]])
        with torch.inference_mode():
            out = net(
                input_ids=torch.tensor([tokenizer(text)["input_ids"]]),
                decoder_input_ids=reads,
                output_attentions=True,
                use_cache=False,
            )
        for mine, theirs in (
            (trace.encoder, out.encoder_attentions),
            (trace.decoder, out.decoder_attentions),
            (trace.cross, out.cross_attentions),
        ):
            np.testing.assert_allclose(mine, torch.cat(theirs).numpy(), atol=1e-5)
        log_probs = out.logits[0].log_softmax(-1)[range(len(trace.tgt)), [token.id for token in trace.tgt]]
        np.testing.assert_allclose([step.log_prob for step in trace.steps], log_probs, atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_converted_it_translates_as_before(made: Any, texts: list[str], shape: str, tmp_path: Path) -> None:
    folder, *_, ours = made(shape)
    native = translator.load(convert(folder, tmp_path / "native"))
    assert native.bundle.decode == ours.bundle.decode
    for text in texts[:5]:
        one, other = ours.translate(text, max_length=10), native.translate(text, max_length=10)
        assert one.tgt == other.tgt and one.src == other.src
        np.testing.assert_allclose(one.cross, other.cross, atol=1e-6)


@pytest.mark.slow
def test_a_pickle_is_read_by_convert_alone(made: Any, texts: list[str], tmp_path: Path) -> None:
    folder, _, net, ours = made()
    copy = Path(shutil.copytree(folder, tmp_path / "pickled"))
    torch.save(net.state_dict(), copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    with pytest.raises(
        CheckpointError, match=r"pickled/pytorch_model.bin is a pickle, .*: python -m translator convert "
    ):
        load_bundle(copy)
    native = translator.load(convert(copy, tmp_path / "native"))
    assert native.translate(texts[0], max_length=8).tgt == ours.translate(texts[0], max_length=8).tgt


def edited(made: Any, to: Path, file: str, content: Any) -> Path:
    folder = Path(shutil.copytree(made()[0], to))
    if isinstance(content, dict):
        content = json.dumps({**json.loads((folder / file).read_text()), **content})
    (folder / file).write_text(content, encoding="utf-8") if content is not None else (folder / file).unlink()
    return folder


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("merges.txt", None, r"merges\.txt is missing; an FSMT checkpoint has config\.json"),
        ("merges.txt", "t h\nalone\n", "a merge is 'alone'; it must be two pieces"),
        ("vocab-tgt.json", None, r"vocab-tgt\.json is missing"),
        ("vocab-src.json", '{"a": 0, "b": 0}', "the id of 'b' is 0"),
        ("vocab-src.json", '{"a": 0, "b": 1}', "the vocabulary lacks </s>"),
        ("tokenizer_config.json", {"langs": ["de"]}, r"langs is \['de'\]; it must be two codes"),
        ("tokenizer_config.json", {"do_lower_case": "yes"}, "do_lower_case is 'yes'"),
        ("config.json", {"src_vocab_size": 9}, r"the source vocabulary has \d+ pieces"),
        ("config.json", {"tgt_vocab_size": None}, "tgt_vocab is None"),
        ("config.json", {"d_model": 40}, "shape"),
        ("config.json", {"activation_function": "tanh"}, "activation_function is 'tanh'"),
        ("config.json", {"scale_embedding": "no"}, "scale_embedding is 'no'"),
        ("config.json", {"pad_token_id": 0}, "pad_id is 1 in the target vocabulary and 0"),
        ("generation_config.json", {"num_beams": 1000}, "beam is 1000"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(made: Any, tmp_path: Path, file: str, content: Any, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        load_bundle(edited(made, tmp_path / "bad", file, content))


def test_what_config_leaves_out_is_what_transformers_takes_for_granted(made: Any, tmp_path: Path) -> None:
    folder = edited(made, tmp_path / "bare", "config.json", {})
    kept = json.loads((folder / "config.json").read_text())
    left_out = ("activation_function", "scale_embedding", "tie_word_embeddings", "num_beams", "forced_eos_token_id")
    (folder / "config.json").write_text(json.dumps({key: kept[key] for key in kept if key not in left_out}))
    (folder / "generation_config.json").unlink()
    default, bundle = FSMTConfig(), load_bundle(folder)
    config, decode = bundle.model.config, bundle.decode
    assert (config.activation, config.scale_embeddings) == (default.activation_function, default.scale_embedding)
    assert (config.embeddings, decode.beam, decode.force_eos) == ("separate", 5, True)


def test_without_sacremoses_the_refusal_says_what_to_install(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made()[0]
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(CheckpointError, match=r"needs the sacremoses package.*pip install sacremoses"):
        load_bundle(folder)


def test_another_language_than_its_own_is_refused_by_name(made: Any) -> None:
    with pytest.raises(InputError, match=r"src is 'fr'; .* has 'de' alone"):
        made()[3].translate("Bonjour.", src="fr")
    with pytest.raises(InputError, match="dropout is"):
        made()[3].bundle.src.ids_batch(["a"], dropout=0.1)
