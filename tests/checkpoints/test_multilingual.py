"""M2M100, NLLB, mBART and mBART-50 against `transformers`: tokens, logits, every weight, every id; what is refused."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import unicodedata
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import sentencepiece
import torch

import translator
from translator.checkpoints import load_bundle
from translator.checkpoints.convert import convert
from translator.errors import CheckpointError, InputError
from translator.model.positions import sinusoids
from translator.pipeline import Translator


def _maker(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


marian, maker = _maker("marian_maker"), _maker("multilingual_maker")
CASES = [(family, shape) for family in maker.FAMILIES for shape in maker.SHAPES]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    special = re.compile(r"<s>|<mask>|__[a-z]+__|\b[a-z]{2,3}_[A-Z][A-Za-z]{1,3}\b")  # `transformers` reads it as such
    return [text for text in marian.sentences(5200) if not special.search(text)][:5000]


@pytest.fixture(scope="module")
def made(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A checkpoint of a family and a shape, made once: (folder, transformers' tokenizer, its model, our translator)."""
    spm = marian.spm_model(texts[:900], 400)
    found: dict[Any, Any] = {}

    def make(family: str, shape: str = "plain") -> Any:
        if (family, shape) not in found:
            folder = tmp_path_factory.mktemp(family) / f"{family}-{shape}"
            tokenizer = maker.make_tokenizer(family, folder, texts, spm)
            net = maker.make_model(family, folder, shape, tokenizer)
            src, tgt = maker.PAIRS[family]
            found[family, shape] = folder, tokenizer, net, translator.load(folder).between(src, tgt)
        return found[family, shape]

    return make


def generated(net: Any, src_ids: list[int], forced: int | None, beams: int, limit: int) -> list[int]:
    ids = torch.tensor([src_ids])
    out = net.generate(
        ids, attention_mask=torch.ones_like(ids), num_beams=beams, max_length=limit + 1, forced_bos_token_id=forced
    )[0, 1:].tolist()
    return out[: out.index(2) + 1] if 2 in out else out


def forced_id(family: str, tokenizer: Any) -> int | None:
    tgt = maker.PAIRS[family][1]
    if family == "mbart":
        return None
    return tokenizer.get_lang_id(tgt) if family == "m2m100" else tokenizer.convert_tokens_to_ids(tgt)


@pytest.mark.slow
@pytest.mark.parametrize("family", maker.FAMILIES)
def test_source_ids_of_five_thousand_sentences_are_those_of_transformers(
    made: Any, texts: list[str], family: str
) -> None:
    _, tokenizer, _, ours = made(family)
    expected = [tokenizer(text)["input_ids"] for text in texts]
    assert len(expected) == 5000
    assert [[*ours.bundle.src.ids(text), *ours.bundle.src.closing_ids] for text in texts] == expected


@pytest.mark.slow
@pytest.mark.parametrize("family", ["mbart50", "mbart"])
def test_a_folder_with_a_sentencepiece_model_alone_gives_its_ids_one_further(
    made: Any, texts: list[str], family: str, tmp_path: Path
) -> None:
    """fairseq's order: four tokens of its own where sentencepiece has three; and as `transformers` reads the folder."""
    folder, tokenizer, net, _ = made(family)
    alone, proto = edited(folder, tmp_path / "alone", "config.json"), marian.spm_model(texts[:900], 400)
    (alone / "tokenizer.json").unlink()
    (alone / "sentencepiece.bpe.model").write_bytes(proto)
    names = maker.PAIRS[family]
    reference = type(tokenizer).from_pretrained(alone, src_lang=names[0], tgt_lang=names[1])
    language, start = reference.convert_tokens_to_ids(names)
    if family == "mbart":  # decoding starts from the language, which stands elsewhere among these pieces
        alone = edited(alone, tmp_path / "config", "config.json", decoder_start_token_id=start)
        alone = edited(alone, tmp_path / "both", "generation_config.json", decoder_start_token_id=start)
    ours, pieces = translator.load(alone).between(*names), sentencepiece.SentencePieceProcessor(model_proto=proto)
    src = ours.bundle.src
    for text in texts:
        plain = [id_ + 1 if id_ > 2 else 3 for id_ in pieces.encode(text)]
        expected = [language, *plain, 2] if family == "mbart50" else [*plain, 2, language]
        assert [*src.ids(text), *src.closing_ids] == expected
    plain = [text for text in texts[:1200] if text == " ".join(unicodedata.normalize("NFKC", text).split())]
    assert len(plain) > 300, "it keeps blanks and wide letters that sentencepiece makes one or plain"
    for text in plain:  # it takes another of two ways to cut a text that are as probable: the same pieces
        assert sorted([*src.ids(text), *src.closing_ids]) == sorted(reference(text)["input_ids"])
    if family == "mbart50":
        text = next(text for text in plain if len(src.ids(text)) < 60)
        found = [token.id for token in ours.translate(text, method="greedy", max_length=9).tgt]
        assert found == generated(net, [*src.ids(text), *src.closing_ids], start, 1, 9)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["m2m100", "mbart50"])
def test_what_config_leaves_out_is_what_transformers_takes_for_granted(made: Any, tmp_path: Path, family: str) -> None:
    folder, _, net, _ = made(family)
    kept = json.loads((folder / "config.json").read_text())
    left_out = ("activation_function", "scale_embedding", "tie_word_embeddings")
    bare = edited(folder, tmp_path / "bare", "config.json")
    (bare / "config.json").write_text(json.dumps({key: kept[key] for key in kept if key not in left_out}))
    default, config = type(net.config)(), load_bundle(bare).model.config
    assert (config.activation, config.scale_embeddings) == (default.activation_function, default.scale_embedding)


@pytest.mark.slow
def test_what_config_files_alone_say_of_languages(made: Any, tmp_path: Path) -> None:
    """NLLB's first layout had the language behind the text; a forced first token may stand in the generation's file."""
    folder = made("nllb")[0]
    before = translator.load(folder).bundle.src
    behind = load_bundle(edited(folder, tmp_path / "old", "tokenizer_config.json", legacy_behaviour=True)).src
    assert before.ids("a")[1:] == behind.ids("a") and behind.closing_ids == (2, before.ids("a")[0])
    french = before.languages["fra_Latn"]
    told = load_bundle(edited(folder, tmp_path / "forced", "generation_config.json", forced_bos_token_id=french))
    assert translator.pipeline.Translator(told).translate("a", max_length=3).tgt[0].id == told.decode.first_id
    assert told.tgt.config.language == "fra_Latn"


@pytest.mark.slow
def test_languages_of_m2m100_that_no_file_names_are_those_of_its_tokenizer(made: Any, tmp_path: Path) -> None:
    folder, _, _, ours = made("m2m100")
    known = ours.bundle.src.languages
    bare = edited(folder, tmp_path / "bare", "tokenizer_config.json", extra_special_tokens=[])
    assert load_bundle(bare).src.languages == known and len(known) == 100
    codes, first = ("en", "ha", "is", "ja", "cs", "ru", "zh", "de"), min(known.values())
    small = edited(bare, tmp_path / "small", "tokenizer_config.json", language_codes="wmt21")
    small = edited(small, tmp_path / "wmt21", "config.json", vocab_size=first + len(codes))
    state = safetensors.torch.load_file(small / "model.safetensors")
    cut = {"model.shared.weight": state["model.shared.weight"][: first + len(codes)].clone()}
    safetensors.torch.save_file({**state, **cut}, small / "model.safetensors")
    assert load_bundle(small).src.languages == {code: first + place for place, code in enumerate(codes)}


def test_positions_that_are_stored_must_be_ours(made: Any, tmp_path: Path) -> None:
    folder = edited(made("m2m100")[0], tmp_path / "bad", "config.json")
    state = safetensors.torch.load_file(folder / "model.safetensors")
    rows, width = 130, state["model.shared.weight"].shape[1]
    for scale, refused in ((1.0, False), (1.1, True)):
        table = torch.cat([torch.zeros(2, width), sinusoids(rows - 2, width, layout="fairseq", first=2)])
        kept = {**state, "model.encoder.embed_positions.weight": table * scale}
        safetensors.torch.save_file(kept, folder / "model.safetensors")
        if refused:
            with pytest.raises(CheckpointError, match="other positions than this layout"):
                load_bundle(folder)
        else:
            load_bundle(folder)


@pytest.mark.slow
@pytest.mark.parametrize("family", maker.FAMILIES)
def test_spans_point_into_what_was_typed(made: Any, texts: list[str], family: str) -> None:
    src = made(family)[3].bundle.src
    for text in texts[:300]:
        encoding = src.encode(text)
        assert [token.id for token in encoding.tokens] == src.ids(text)
        plain = [token for token in encoding.tokens if not token.special]
        for token in plain:
            assert token.span is not None
            start, end = token.span
            assert 0 <= start <= end <= len(text)
            if text.isascii() and not token.unknown and token.surface != "▁":
                assert text[start:end] == token.surface
        covered = {n for token in plain for n in range(*token.span)}
        assert covered >= {n for n, char in enumerate(text) if char.isascii() and char.isalnum()}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "shape"), CASES)
@pytest.mark.parametrize("limit", [2, 14])
def test_greedy_and_beam_ids_are_those_of_transformers(
    made: Any, texts: list[str], family: str, shape: str, limit: int
) -> None:
    _, tokenizer, net, ours = made(family, shape)
    forced = forced_id(family, tokenizer)
    for beams in (1, maker.HABITS[shape]["num_beams"] or 1, 4):
        method = {"method": "greedy"} if beams == 1 else {"method": "beam", "beam": beams}
        chosen = [text for text in texts[:12] if len(tokenizer(text)["input_ids"]) <= 60][:6]
        expected = [generated(net, tokenizer(text)["input_ids"], forced, beams, limit) for text in chosen]
        traces = [ours.translate(text, max_length=limit, **method) for text in chosen]
        assert [[token.id for token in trace.tgt] for trace in traces] == expected
        batch = ours.translate_batch(chosen, max_length=limit, **method)
        assert batch == [trace.translation for trace in traces]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "shape"), CASES)
def test_every_map_and_logit_is_that_of_eager_attention(made: Any, texts: list[str], family: str, shape: str) -> None:
    _, tokenizer, net, ours = made(family, shape)
    for text in texts[:4]:
        source = tokenizer(text)["input_ids"][:60]
        trace = ours.translate(text, max_length=12) if len(source) < 60 else None
        if trace is None:
            continue
        ids = torch.tensor([[ours.bundle.model.config.start_id, *(token.id for token in trace.tgt[:-1])]])
        with torch.inference_mode():
            out = net(input_ids=torch.tensor([source]), decoder_input_ids=ids, output_attentions=True)
        for mine, theirs in (
            (trace.encoder, out.encoder_attentions),
            (trace.decoder, out.decoder_attentions),
            (trace.cross, out.cross_attentions),
        ):
            np.testing.assert_allclose(mine, torch.cat(theirs).numpy(), atol=1e-5)
        log_probs = out.logits[0].log_softmax(-1)[range(len(trace.tgt)), [token.id for token in trace.tgt]]
        np.testing.assert_allclose([step.log_prob for step in trace.steps], log_probs, atol=2e-4)


@pytest.mark.slow
def test_a_translation_begins_with_its_language_and_says_which(made: Any) -> None:
    ours = made("nllb")[3]
    trace = ours.translate("This is a test.", src="eng_Latn", tgt="fra_Latn")
    assert trace.tgt[0].surface == "fra_Latn" and trace.tgt[0].special and trace.src[0].surface == "eng_Latn"
    assert (trace.checkpoint.src_language, trace.checkpoint.tgt_language) == ("eng_Latn", "fra_Latn")
    assert "fra_Latn" not in trace.translation
    forced = ours.force("This is a test.", "a test", tgt="fra_Latn")
    assert forced.tgt[0].surface == "fra_Latn" and forced.tgt[-1].surface == "</s>"
    begun = ours.translate("This is a test.", tgt="fra_Latn", prefix="a")
    assert [token.surface for token in begun.tgt[:2]] == ["fra_Latn", "a"]
    assert len(ours.bundle.languages[0]) > 200


@pytest.mark.slow
@pytest.mark.parametrize("family", maker.FAMILIES)
def test_converted_it_translates_as_before(made: Any, texts: list[str], family: str, tmp_path: Path) -> None:
    folder, *_, ours = made(family)
    native = translator.load(convert(folder, tmp_path / "native")).between(*maker.PAIRS[family])
    for text in texts[:5]:
        one, other = ours.translate(text, max_length=10), native.translate(text, max_length=10)
        assert one.tgt == other.tgt and one.src == other.src
        np.testing.assert_allclose(one.cross, other.cross, atol=1e-6)


@pytest.mark.slow
def test_an_unknown_language_is_refused_by_name(made: Any) -> None:
    ours: Translator = made("nllb")[3]
    with pytest.raises(InputError, match=r"'deu'; this checkpoint knows ace_Arab.*in all"):
        ours.translate("Hallo.", src="deu")
    with pytest.raises(InputError, match="'fr_XX'"):
        ours.translate("Hallo.", tgt="fr_XX")
    with pytest.raises(InputError, match="ro_RO"):
        made("mbart")[3].translate("Hello.", tgt="de_DE")  # decoding starts from its one language
    with pytest.raises(InputError, match=r"'fr'; .* has 'de' alone"):
        translator.load("de-en").translate("Hallo.", src="fr")
    with pytest.raises(InputError, match="first_id"):
        ours.translate("Hallo.", first_id=10**6)


def edited(folder: Path, to: Path, file: str, **changes: Any) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    data = json.loads((to / file).read_text())
    (to / file).write_text(json.dumps({**data, **changes}))
    return to


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "gpt2", "architectures": []}, "model_type is 'gpt2'; known are fsmt, m2m_100, marian, mbart"),
        (
            {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]},
            r"GPT2LMHeadModel \('gpt2'\) has no encoder.* give a seq2seq model, such as Marian",
        ),
        ({"architectures": 3}, "architectures is 3; it must be a list of names"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is false"),
        ({"activation_function": "tanh"}, "activation_function is 'tanh'"),
        ({"vocab_size": 7}, "vocabulary has"),
        ({"d_model": 40}, "shape"),
        ({"scale_embedding": "yes"}, "scale_embedding is 'yes'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(made: Any, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    folder = edited(made("nllb")[0], tmp_path / "bad", "config.json", **changes)
    with pytest.raises(CheckpointError, match=message):
        load_bundle(folder)


def test_a_damaged_tokenizer_is_refused(made: Any, tmp_path: Path) -> None:
    folder = edited(made("nllb")[0], tmp_path / "bad", "config.json")
    (folder / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(CheckpointError, match=r"not a tokenizer\.json"):
        load_bundle(folder)


def test_weights_in_several_files_are_refused_by_name(made: Any, tmp_path: Path) -> None:
    folder = edited(made("nllb")[0], tmp_path / "bad", "config.json")
    (folder / "model.safetensors").rename(folder / "model.safetensors.index.json")
    with pytest.raises(CheckpointError, match="in several files"):
        load_bundle(folder)


@pytest.mark.slow
def test_a_special_token_that_is_typed_is_text(made: Any) -> None:
    for family in maker.FAMILIES:
        bundle = made(family)[3].bundle
        ids = bundle.src.ids("Hi </s> you")
        assert bundle.src.eos_id not in ids
        assert all(token.span for token in bundle.src.encode("Hi </s> you").tokens if not token.special)
        typed = [
            token for token in bundle.src.encode("Hi </s> you").tokens if token.span and token.span[0] in range(3, 7)
        ]
        assert len(typed) > 1, "it is cut like any other text"
