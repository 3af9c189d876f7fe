"""Marian checkpoints against `transformers`: tokens, logits, every weight, every id; and what is refused."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import translator
from tests import marian_maker as maker
from translator.checkpoints import load_bundle
from translator.checkpoints.convert import convert
from translator.decode import finish, replay, search, search_batch
from translator.engine import EagerEngine
from translator.errors import CheckpointError

SHAPES = sorted(maker.SHAPES)


def reference_tokenizer(folder: Path) -> Any:
    from transformers import MarianTokenizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a normaliser that it does not use here
        tokenizer = MarianTokenizer.from_pretrained(folder)
    return tokenizer


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def generated(net: Any, src_ids: list[int], beams: int, limit: int) -> tuple[int, ...]:
    ids = torch.tensor([src_ids])
    out = net.generate(ids, attention_mask=torch.ones_like(ids), num_beams=beams, max_length=limit + 1)[0, 1:].tolist()
    return tuple(out[: out.index(0) + 1] if 0 in out else out)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [1, 5, 14])
def test_greedy_and_beam_tokens_are_those_of_transformers(
    made_marian: Any, marian_texts: list[str], shape: str, limit: int
) -> None:
    _, net, bundle = made_marian(shape)
    sources = [[*bundle.src.ids(text)[:40], 0] for text in marian_texts[:6]]
    for beam in {1, 2, bundle.decode.beam}:
        config = dataclasses.replace(bundle.decode, method="greedy" if beam == 1 else "beam", beam=beam)
        expected = [generated(net, source, beam, limit) for source in sources]
        assert [finish(search(EagerEngine(bundle.model), s, config, max_length=limit)).ids for s in sources] == expected
        assert search_batch(EagerEngine(bundle.model), sources, config, max_lengths=[limit] * len(sources)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["opus", "separate", "unscaled"])
def test_banned_sequences_are_those_of_transformers(
    made_marian: Any, marian_texts: list[str], shape: str, tmp_path: Path
) -> None:
    """The pairs and triples that come first without the ban, so that it binds in greedy and in beam search."""
    folder, net, bundle = made_marian(shape)
    sources = [[*bundle.src.ids(text)[:40], 0] for text in marian_texts[:6]]
    free = [generated(net, source, beams, 12) for source in sources for beams in (1, 3)]
    pad, start = bundle.model.config.pad_id, bundle.model.config.start_id
    bad = [
        [pad],
        [start, free[0][0]],
        *(list(ids[:2]) for ids in free[::2]),
        *(list(ids[1:4]) for ids in free if ids[3:]),
    ]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    edit(tmp_path / "generation_config.json", bad_words_ids=bad)
    ours = load_bundle(tmp_path)
    kept, net.generation_config.bad_words_ids = net.generation_config.bad_words_ids, bad
    try:
        for beam in (1, 3):
            config = dataclasses.replace(ours.decode, method="greedy" if beam == 1 else "beam", beam=beam)
            expected = [generated(net, source, beam, 12) for source in sources]
            assert expected != free[beam // 3 :: 2]
            assert [finish(search(EagerEngine(ours.model), s, config, max_length=12)).ids for s in sources] == expected
            assert search_batch(EagerEngine(ours.model), sources, config, max_lengths=[12] * len(sources)) == expected
    finally:
        net.generation_config.bad_words_ids = kept
    native = load_bundle(convert(tmp_path, tmp_path / "native"))
    assert native.model.config.banned_sequences == ours.model.config.banned_sequences != ()


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_sequence_is_repeated_like_transformers(
    made_marian: Any, marian_texts: list[str], size: int, tmp_path: Path
) -> None:
    folder, net, bundle = made_marian("opus")
    sources = [[*bundle.src.ids(text)[:40], 0] for text in marian_texts[:6]]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    edit(tmp_path / "generation_config.json", no_repeat_ngram_size=size)
    ours = load_bundle(tmp_path)
    free = [generated(net, source, beams, 20) for beams in (1, 3) for source in sources]
    net.generation_config.no_repeat_ngram_size = size
    try:
        expected = [generated(net, source, beams, 20) for beams in (1, 3) for source in sources]
    finally:
        net.generation_config.no_repeat_ngram_size = 0
    assert expected != free, "it binds"
    for beam, wanted in ((1, expected[:6]), (3, expected[6:])):
        config = dataclasses.replace(ours.decode, method="greedy" if beam == 1 else "beam", beam=beam)
        assert [finish(search(EagerEngine(ours.model), s, config, max_length=20)).ids for s in sources] == wanted
        assert search_batch(EagerEngine(ours.model), sources, config, max_lengths=[20] * len(sources)) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_logits_and_every_weight_are_those_of_eager_attention(
    made_marian: Any, marian_texts: list[str], shape: str
) -> None:
    _, net, bundle = made_marian(shape)
    src_ids = [*bundle.src.ids(marian_texts[7])[:40], 0]
    tgt_ids = [5, 9, 7, 30, 11, 0]
    reads = torch.tensor([[bundle.model.config.start_id, *tgt_ids[:-1]]])
    with torch.inference_mode():
        expected = net(input_ids=torch.tensor([src_ids]), decoder_input_ids=reads, output_attentions=True)
        encoded = bundle.model.encode(torch.tensor([src_ids]), None)
        logits = bundle.model.decode(reads, encoded.memory, None).logits
    torch.testing.assert_close(logits, expected.logits, atol=1e-4, rtol=0)
    found = replay(EagerEngine(bundle.model), src_ids, tgt_ids)
    for ours, theirs in (
        (found.encoder, expected.encoder_attentions),
        (found.decoder, expected.decoder_attentions),
        (found.cross, expected.cross_attentions),
    ):
        torch.testing.assert_close(torch.from_numpy(ours), torch.cat(theirs), atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["opus", "separate"])
def test_the_tokenizer_gives_the_same_ids_and_texts(made_marian: Any, marian_texts: list[str], shape: str) -> None:
    folder, _, bundle = made_marian(shape)
    tokenizer = reference_tokenizer(folder)
    some = marian_texts if shape == "opus" else marian_texts[:1000]
    some = [*some, ">>cmn_Hans<< Good morning.", ">>nowhere<<Good", ">>deu<<", " >>deu<< x"]
    expected = tokenizer(some).input_ids
    assert [[*ids, 0] for ids in bundle.src.ids_batch(some)] == expected
    assert [bundle.src.encode(text).ids for text in some[-300:]] == bundle.src.ids_batch(some[-300:])
    for ids in bundle.tgt.ids_batch(marian_texts[:300]):
        assert bundle.tgt.decode([*ids, 0]) == tokenizer.decode([*ids, 0], skip_special_tokens=True)
        tokens = bundle.tgt.tokens([*ids, 0])
        assert [token.id for token in tokens] == [*ids, 0] and tokens[-1].special


def test_a_typed_special_token_is_text(made_marian: Any) -> None:
    _, _, bundle = made_marian("opus")
    assert not {bundle.src.eos_id, bundle.src.pad_id} & set(bundle.src.ids("Good </s> morning <pad>"))


def test_spans_point_into_what_was_typed(made_marian: Any) -> None:
    _, _, bundle = made_marian("opus")
    text = ">>cmn_Hans<<  ﬁne Ünïcode  here"
    tokens = bundle.src.encode(text).tokens
    assert tokens[0].surface == ">>cmn_Hans<<" and not tokens[0].unknown
    assert text[slice(*tokens[0].span)] == ">>cmn_Hans<<"
    covered = {i for token in tokens for i in range(*token.span)}
    assert {i for i, char in enumerate(text) if not char.isspace()} <= covered
    assert [token.word for token in tokens] == sorted(token.word for token in tokens)


@pytest.mark.slow
def test_a_folder_translates_and_its_trace_is_whole(made_marian: Any, tmp_path: Path) -> None:
    folder, _, _ = made_marian("opus")
    engine = translator.load(folder)
    trace = engine.translate("The house is big.", max_length=9)
    assert engine.languages == ("en", "zh") and trace.settings.penalty_kind == "power"
    assert len(trace.steps) == len(trace.tgt) <= 9
    trace.save(tmp_path / "trace.npz")
    assert translator.Trace.load(tmp_path / "trace.npz").tgt == trace.tgt


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["opus", "unequal", "untied"])
def test_converted_it_is_native_and_the_same(made_marian: Any, tmp_path: Path, shape: str) -> None:
    folder, _, bundle = made_marian(shape)
    native = load_bundle(convert(folder, tmp_path / "native"))
    assert (tmp_path / "native" / "manifest.json").is_file()
    assert native.decode == bundle.decode and native.model.config == bundle.model.config
    theirs = dict(bundle.model.named_parameters())
    assert all(torch.equal(value, theirs[name]) for name, value in native.model.named_parameters())
    assert native.src.ids(">>deu<< Good morning.") == bundle.src.ids(">>deu<< Good morning.")
    engines = translator.load(folder), translator.load(tmp_path / "native")
    assert len({engine.translate("The house.", max_length=9).translation for engine in engines}) == 1


def test_sentencepiece_missing_is_named(made_marian: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _, _ = made_marian("opus")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(CheckpointError, match="pip install sentencepiece"):
        load_bundle(folder)


@pytest.mark.slow
def test_transformers_is_not_needed(made_marian: Any) -> None:
    folder, _, _ = made_marian("unequal")
    code = (
        "import sys, translator\n"
        f"translator.load({str(folder)!r}).translate('The house.', max_length=4)\n"
        "print('transformers' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
