"""The head profile over a corpus: against one sentence at a time, and on models that copy and reverse."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import translator
from translator import CancelledError, CheckpointError, InputError, Trace, Translator
from translator.__main__ import main
from translator.analysis.bench import align_bench, links_of, word_maps
from translator.analysis.gold import shipped_gold
from translator.analysis.heads import measure, rows_of
from translator.analysis.profile import (
    Profile,
    Tally,
    alignment_table,
    best_aligner,
    card_section,
    head_profile,
    judged,
    read_pairs,
    store,
    stored_profile,
)
from translator.analysis.sections import with_section
from translator.config import ModelConfig, TextConfig
from translator.model import Transformer
from translator.text import VocabularyTokenizer
from translator.ui.session import payload_of

TEXTS = [("Ich renne in den Park.", "I run into the park."), ("Das Haus ist alt.", None), ("Guten Morgen!", None)]


@pytest.mark.slow
def test_means_are_over_all_rows_of_all_sentences(tiny: Translator) -> None:
    """The rows of every sentence are laid end to end by hand."""
    tally = Tally()
    traces = [tiny.translate(text, max_length=9) for text, _ in TEXTS]
    for trace in traces:
        tally.add(trace)
    found = tally.measures("encoder")
    largest = [t.encoder.max(-1)[:, :, rows_of(t, "encoder").counted] for t in traces]
    np.testing.assert_allclose(found.confidence, np.concatenate(largest, axis=2).mean(-1), atol=1e-6)
    best = [t.encoder.argmax(-1)[:, :, : len(t.src) - 1] for t in traces]
    before = np.concatenate([(b == np.arange(b.shape[-1]) - 1)[:, :, 1:] for b in best], axis=2)
    np.testing.assert_allclose(found.previous, before.mean(-1), atol=1e-9)


def test_uniform_and_one_hot_rows(trace: Trace) -> None:
    keys = len(trace.src)
    uniform = np.full((1, 1, keys, keys), 1 / keys)
    rows = rows_of(trace, "encoder")
    assert measure(uniform, rows).entropy[0, 0] == pytest.approx(np.log(keys))
    assert measure(np.eye(keys)[None, None], rows).entropy[0, 0] == 0


def toy(order: str, length: int = 5) -> Transformer:
    """A model that copies, or reverses, `length` words: its cross-attention goes by position, its values are words.

    Width: 8 for the word, 8 for the position, both one-hot. Everything but the one cross-attention adds nothing.
    """
    config = ModelConfig(
        src_vocab=12, tgt_vocab=12, d_model=20, d_ff=4, encoder_layers=1, decoder_layers=1, encoder_heads=1,
        decoder_heads=1, norm="post", final_norm=False, positions="learned", max_positions=8, embeddings="separate",
        scale_embeddings=False, dropout=0.0,
    )  # fmt: skip
    model = Transformer(config).eval().requires_grad_(False)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if "norm.weight" in name else 0.0)
        model.src_embedding.weight[:, :12] = torch.eye(12)
        model.src_positions[:, 12:] = model.tgt_positions[:, 12:] = torch.eye(8)
        turn = torch.eye(8)
        if order == "reverse":
            turn[:length, :length] = torch.eye(length).flip(0)
        cross = model.decoder[0].cross
        cross.qkv.weight[12:20, 12:] = 200 * turn
        cross.qkv.weight[32:40, 12:] = torch.eye(8)
        cross.qkv.weight[40:52, :12] = torch.eye(12)
        cross.out.weight[:12, :12] = 20 * torch.eye(12)
        model.output.weight[:, :12] = torch.eye(12)
    return model


@pytest.mark.parametrize("order", ["copy", "reverse"])
def test_toy_models_give_the_diagonal_and_the_anti_diagonal(tiny: Translator, order: str) -> None:
    words = VocabularyTokenizer(TextConfig("en", level="word"), ["<pad>", "<s>", "</s>", "<unk>", *"abcdefgh"])
    engine = Translator(replace(tiny.bundle, model=toy(order), src=words, tgt=words))
    said = "b f a h d"
    trace = engine.translate(said, method="greedy")
    assert trace.translation == (said if order == "copy" else said[::-1])
    assert not trace.truncated
    links = links_of(word_maps(trace.cross[0, 0], trace, (5, 5), "output"))
    assert links == {(t if order == "copy" else 4 - t, t) for t in range(5)}
    profile = head_profile(engine, [(said, None), ("a b c d e", None)], data="toy")
    (head,) = profile.heads["cross"]
    assert head.role == "aligns"
    assert head.entropy < 0.05
    assert head.distance == pytest.approx(0.0 if order == "copy" else 2.4, abs=0.5)
    assert head.distinct == 1


@pytest.mark.slow
def test_a_shared_corpus_gives_what_one_process_finds(tiny: Translator) -> None:
    """Two tallies that are added up, as two processes would."""
    whole, parts = Tally(), [Tally(), Tally()]
    for number, (text, _) in enumerate(TEXTS):
        trace = tiny.translate(text, max_length=9)
        whole.add(trace)
        parts[number % 2].add(trace)
    numbers = iter(
        [np.array([float(parts[1].sentences)])]
        + [values[kind] for kind in ("encoder", "decoder", "cross") for values in (parts[1].sums, parts[1].weights)]
    )
    parts[0].merge(lambda values: values + next(numbers))
    assert parts[0].sentences == 3
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(parts[0].measures(kind).entropy, whole.measures(kind).entropy)


@pytest.fixture
def own(tiny_checkpoint: Path, tmp_path: Path) -> Translator:
    """A checkpoint that may be written to."""
    return translator.load(shutil.copytree(tiny_checkpoint, tmp_path / "own"), device="cpu")


@pytest.mark.slow
def test_a_profile_is_shipped_with_its_checkpoint(own: Translator) -> None:
    gold = shipped_gold(("de", "en"))
    assert gold is not None and stored_profile(own) is None
    bench = align_bench(own, replace(gold, pairs=gold.pairs[:4]))
    profile = replace(head_profile(own, TEXTS, data="three"), alignment=alignment_table(bench))
    for _ in range(2):  # the card's section is replaced, not doubled
        store(own, profile)
    again = translator.load(own.bundle.folder, device="cpu")  # the manifest fits
    found = stored_profile(again)
    assert found == profile
    assert best_aligner(found) == bench.best_head
    card = again.bundle.card
    assert card.startswith("# Tiny") and card.count("## What the heads do") == 1
    assert f"{bench.best_rate:.3f}" in card and "3 sentences (three)" in card


@pytest.mark.parametrize("best", ["input", "output"])
def test_a_card_tells_of_the_head_that_aligns_what_it_predicts(best: str) -> None:
    """By name and rate, apart from the best of all where that one aligns what it reads."""
    rates = {"output": [[0.5, 0.25], [0.375, 0.75]], "input": [[0.4, 0.8], [0.125, 0.9]]}
    found = {"input": ("L2H1", 0.125), "output": ("L1H2", 0.25)}
    told: dict[str, Any] = {"name": found[best][0], "rate": found[best][1], "reading": best}
    table = {"sentences": 7, "heads": rates, "best_head": told, "ways": {"both": 0.1}}
    text = card_section(Profile("0", "two", 2, {}, alignment=table))
    assert f"the best head is {found[best][0]} (rows" in text and f"rate {found[best][1]}" in text
    assert text.count("L1H2") == 1 and "0.250" in text
    assert ("Of the token that a row predicts, L1H2 is the best, 0.250." in text) is (best == "input")


@pytest.mark.slow
def test_a_profile_of_other_weights_is_refused(own: Translator) -> None:
    profile = head_profile(own, TEXTS, data="three")
    with pytest.raises(CheckpointError, match="other weights"):
        store(own, replace(profile, checkpoint="1" * 64))
    store(own, profile)
    other = Translator(replace(own.bundle, info=replace(own.bundle.info, sha256="2" * 64)))
    with pytest.raises(CheckpointError, match="of other weights"):
        stored_profile(other)


@pytest.fixture(scope="module")
def measured(tiny: Translator) -> Profile:
    """The profile of that checkpoint and of any copy of it, with an alignment."""
    gold = shipped_gold(("de", "en"))
    assert gold is not None
    bench = align_bench(tiny, replace(gold, pairs=gold.pairs[:1]))
    return replace(head_profile(tiny, TEXTS, data="three"), alignment=alignment_table(bench))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("alignment", {"x": 1}),
        ("alignment", 5),
        ("alignment.heads.input", [[0.5]]),
        ("alignment.heads.output", [["low", "low"], ["low", "low"]]),
        ("alignment.best_head.layer", 9),
        ("alignment.best_head.reading", "neither"),
        ("alignment.ways", {}),
        ("heads.cross", []),
        ("heads.cross.0.layer", 9),
        ("heads.encoder.0.entropy", None),
        ("heads.encoder.0.role", ["aligns"]),
    ],
)
def test_a_malformed_profile_is_left_out_of_a_translation(
    own: Translator, measured: Profile, caplog: pytest.LogCaptureFixture, part: str, value: object
) -> None:
    path = store(own, measured) / "profile.json"
    trace = own.translate("Das Haus ist alt.")
    assert payload_of(own, trace)["profile"]
    data = json.loads(path.read_text())
    *above, last = (int(name) if name.isdigit() else name for name in part.split("."))
    reduce(getitem, above, data)[last] = value
    path.write_text(json.dumps(data))
    with pytest.raises(CheckpointError, match="is not a head profile"):
        stored_profile(own)
    assert "profile" not in payload_of(own, trace) and "left out" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("listed", [True, False])
def test_a_profile_that_the_manifest_does_not_list_is_not_followed(
    own: Translator, tmp_path: Path, listed: bool
) -> None:
    profile = head_profile(own, TEXTS, data="three")
    folder = store(own, profile)
    assert stored_profile(own) == profile
    outside = tmp_path / "outside.json"
    outside.write_bytes((folder / "profile.json").read_bytes())
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "profile.json").unlink()
    (folder / "profile.json").symlink_to(outside)
    if not listed:
        del manifest["files"]["profile.json"]
        (folder / "manifest.json").write_text(json.dumps(manifest))
        assert stored_profile(translator.load(folder, device="cpu")) is None
    else:
        with pytest.raises(CheckpointError, match="leads out of"):
            translator.load(folder, device="cpu")


def test_a_section_is_added_or_replaced() -> None:
    once = with_section("# Card\n\nText.\n", "heads", "one")
    assert once == "# Card\n\nText.\n\n<!-- heads -->\none\n<!-- /heads -->\n"
    assert with_section(once + "\nAfter.\n", "heads", "two") == once.replace("one", "two") + "\nAfter.\n"


@pytest.mark.slow
def test_files_and_refusals(tiny: Translator, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("Ja.\tYes.\tcorpus\nNein.\n", encoding="utf-8")
    assert read_pairs(path) == [("Ja.", "Yes."), ("Nein.", None)]
    path.write_text("Ja.\n\tYes.\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_pairs(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_pairs(tmp_path / "none")
    with pytest.raises(InputError, match="no sentence"):
        head_profile(tiny, [], data="x")
    with pytest.raises(InputError, match=r"sentence 2: .*blank"):
        head_profile(tiny, [("Ja.", None), (" ", None)], data="x")
    with pytest.raises(CancelledError):
        head_profile(tiny, TEXTS, data="x", stop=lambda: True)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_what_was_measured_is_said_to_be_stored(
    own: Translator, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = shipped_gold(("de", "en"))
    assert gold is not None
    monkeypatch.setattr("translator.analysis.gold.shipped_gold", lambda _: replace(gold, pairs=gold.pairs[:2]))
    (tmp_path / "text.txt").write_text("Ich renne.\n", encoding="utf-8")
    folder = own.bundle.folder
    for command in (["profile", str(folder), "--data", str(tmp_path / "text.txt")], ["align-bench", str(folder)]):
        assert main(command) == 0
        assert f"stored in {folder}: profile.json, and its section of README.md" in capsys.readouterr().err
        again = stored_profile(translator.load(folder, device="cpu"))
        assert again is not None and again.alignment is not None and again.alignment["sentences"] == 2


@pytest.mark.slow
def test_rates_by_a_set_of_ones_own_are_told_and_not_stored(
    own: Translator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = shipped_gold(("de", "en"))
    assert gold is not None
    bench = align_bench(own, replace(gold, pairs=gold.pairs[:2]))
    store(own, replace(head_profile(own, TEXTS, data="three"), alignment=alignment_table(bench)))
    before = contents(own.bundle.folder)
    row = {"src": "Guten Morgen", "tgt": "Good morning", "links": "0-0 1-1"}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"format": 1, "src_language": "de", "tgt_language": "en", "pairs": [row]}))
    assert main(["align-bench", str(own.bundle.folder), "--gold", str(path)]) == 0
    said = capsys.readouterr()
    assert "best head" in said.out and "not stored: only rates by a set in" in said.err
    assert contents(own.bundle.folder) == before


@pytest.mark.slow
def test_what_a_profile_cannot_be_added_to_is_refused_before_the_work(
    tiny_marian: Path, tiny_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A Marian folder, and one of the hub's cache, which holds what a commit holds."""
    (tmp_path / "text.txt").write_text("Ich renne.\n", encoding="utf-8")
    monkeypatch.setattr("translator.analysis.profile.head_profile", lambda *_, **__: pytest.fail("measured"))
    fetched = tmp_path / "models--x--y" / "snapshots" / ("0" * 40)
    for folder, origin, words in (
        (tmp_path / "marian", tiny_marian, "is of another format, which nothing can be added to; convert"),
        (fetched, tiny_checkpoint, "is the hub's; copy it"),
    ):
        shutil.copytree(origin, folder)
        before = contents(folder)
        assert main(["profile", str(folder), "--data", str(tmp_path / "text.txt")]) == 2
        assert words in capsys.readouterr().err
        assert contents(folder) == before
        translator.load(folder, device="cpu")


@pytest.mark.slow
def test_torchrun_shares_the_corpus(tiny: Translator, own: Translator, tmp_path: Path) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text("".join(f"{s}\t{t or ''}\n" for s, t in TEXTS), encoding="utf-8")
    folder = str(own.bundle.folder)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "translator"]
    subprocess.run([*command, "profile", folder, "--data", str(path)], check=True, cwd=Path(__file__).parents[2])
    found = stored_profile(translator.load(folder, device="cpu"))
    want = head_profile(tiny, TEXTS, data="corpus.tsv")
    assert found is not None and found.sentences == 3
    for kind in ("encoder", "decoder", "cross"):
        for a, b in zip(found.heads[kind], want.heads[kind], strict=True):
            assert a.role == b.role and a.entropy == pytest.approx(b.entropy)


def test_who_aligns_over_a_corpus_is_said_by_the_error_rates_of_the_better_reading(tiny: Translator) -> None:
    profile = head_profile(tiny, TEXTS[:1], data="a")
    shape = tiny.bundle.model.config.head_counts["cross"]
    output, reads = np.full(shape, 0.9), np.full(shape, 0.9)
    output[0, 0], output[0, 1], reads[0, 1], reads[1, 0] = 0.2, 0.71, 0.6, 0.03
    alignment = {"heads": {"output": output.tolist(), "input": reads.tolist()}}
    told = {(h.layer, h.head): h for h in judged(replace(profile, alignment=alignment)).heads["cross"]}
    found = {at: (h.reading, round(h.share, 2)) for at, h in told.items() if h.role == "aligns"}
    assert found == {(0, 0): ("output", 0.8), (1, 0): ("input", 0.97)}
