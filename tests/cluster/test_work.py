"""Work in parts against the same work in one go, without Ray."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from translator import InputError, Translator
from translator.analysis.arena import arena_table, table_of
from translator.analysis.bench import LinkCounts, align_bench, bench_of
from translator.analysis.gold import GoldSet, shipped_gold
from translator.analysis.profile import head_profile, profile_of, read_pairs
from translator.analysis.tally import Tally
from translator.cluster.records import Corpus, cut, open_records, read
from translator.cluster.work import Aligning, Evaluating, Judging, Part, Profiling, Translating, Work
from translator.cluster.worker import Model, Worker
from translator.training.evaluate import evaluate_file, joined

TEXTS = ["Ich renne in den Park.", "Das Haus ist alt.", "", "Guten Morgen!", "Park " * 150, "Wo ist\tder Hund?", "Ja."]
PAIRS = [
    ("Ich renne in den Park.", "I run into the park."),
    ("Ich renne in den Park.", "I am running into the park."),
    ("Park " * 150, "Too long."),
    ("Das Haus ist groß.", "The house is big."),
    ("Guten Morgen!", "Good morning!"),
    ("Guten Morgen!", "Morning!"),
    ("Der Hund schläft.", "The dog is asleep."),
]


def parts(translator: Translator, path: Path, work: Work, size: int, columns: tuple[str, ...] = ()) -> list[Part]:
    """Every shard's part, as it comes back from JSON."""
    corpus = Corpus(str(path), columns)
    records = open_records(corpus)
    shards = cut(corpus, size, whole=work.whole, check=work.check)
    found = [work.part(translator, read(records, shard, ""), shard.first) for shard in shards]
    return [Part(json.loads(json.dumps(each.values)), each.lines) for each in found]


def file(folder: Path, rows: Sequence[Sequence[str]]) -> Path:
    path = folder / "corpus.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_translations_and_refusals_are_those_of_one_batch(size: int, tiny: Translator, tmp_path: Path) -> None:
    path = file(tmp_path, [(text,) for text in TEXTS])
    with path.open("ab") as out:
        out.write(b"\xff\n")
    reasons: dict[int, str] = {}
    settings: dict[str, Any] = {"method": "beam", "beam": 3, "max_length": 12}
    want = tiny.translate_batch(TEXTS, refused=lambda n, error: reasons.update({n: str(error)}), **settings)
    found = parts(tiny, path, Translating(settings), size)
    assert [line for part in found for line in part.lines] == [*((text,) for text in want), ("",)]
    told = [(size * n + at, why) for n, part in enumerate(found) for at, why in part.values["refused"]]
    assert told == [*sorted(reasons.items()), (len(TEXTS), "it is not UTF-8")]


@pytest.mark.slow
def test_a_key_goes_before_its_translation(tiny: Translator, tmp_path: Path) -> None:
    path = file(tmp_path, [(str(n * n), "x", text) for n, text in enumerate(TEXTS[:3])])
    (found,) = parts(tiny, path, Translating({"max_length": 9}, keyed=True), 5, ("1", "3"))
    want = [tiny.translate(text, max_length=9).translation if text else "" for text in TEXTS[:3]]
    assert found.lines == tuple(zip(("0", "1", "4"), want, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 100])
def test_scores_are_those_of_the_whole_file(size: int, tiny: Translator, tmp_path: Path) -> None:
    path = file(tmp_path, [(*pair, "x") for pair in PAIRS])
    want = evaluate_file(tiny, path, max_length=12)
    found = parts(tiny, path, Evaluating(str(path), {"max_length": 12}), size)
    whole = joined([part.values for part in found], "corpus", "en", 1.0)
    assert whole == dataclasses.replace(want, seconds=1.0, hypotheses=())
    assert tuple(line for part in found for (line,) in part.lines) == want.hypotheses
    assert "nrefs:var" in whole.score.bleu_signature


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_profile_is_that_of_the_whole_corpus(size: int, tiny: Translator, tmp_path: Path) -> None:
    path = file(
        tmp_path, [("Das Haus ist alt.",), ("Ich renne.", "I run."), ("Guten Morgen!", " "), ("Ja.", "Yes.", "x")]
    )
    want = head_profile(tiny, read_pairs(path), data="corpus")
    found = profile_of(tiny, Tally.of(part.values for part in parts(tiny, path, Profiling(str(path)), size)), "corpus")
    assert (found.sentences, found.checkpoint) == (want.sentences, want.checkpoint)
    for kind, heads in want.heads.items():
        assert [each.role for each in found.heads[kind]] == [each.role for each in heads]
        for one, other in zip(found.heads[kind], heads, strict=True):
            numbers = [[v for v in vars(each).values() if isinstance(v, float)] for each in (one, other)]
            np.testing.assert_allclose(*numbers, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, 100])
def test_rates_are_those_of_the_whole_set(size: int, tiny: Translator, tmp_path: Path) -> None:
    gold = shipped_gold(("de", "en"))
    assert gold is not None
    few = GoldSet(gold.name, gold.languages, gold.pairs[:7])
    links = [
        " ".join(f"{s}{'-' if (s, t) in p.gold.sure else 'p'}{t}" for s, t in sorted(p.gold.possible))
        for p in few.pairs
    ]
    path = file(tmp_path, [(pair.src, pair.tgt, each) for pair, each in zip(few.pairs, links, strict=True)])
    want = align_bench(tiny, few)
    work = Aligning(str(path), ("de", "en"))
    found = bench_of(gold.name, LinkCounts.of(part.values for part in parts(tiny, path, work, size)))
    for name, value in vars(want).items():
        assert (
            np.array_equal(getattr(found, name), value)
            if isinstance(value, np.ndarray)
            else getattr(found, name) == value
        )


@pytest.mark.slow
def test_the_arena_s_table_is_that_of_the_whole_corpus(tiny: Translator, tmp_path: Path) -> None:
    texts = ["Ich renne in den Park.", "Ja.", "Das Haus ist alt.", "Der Hund schläft."]
    path = file(tmp_path, [(text, "ignored") for text in texts])
    want = arena_table(tiny, texts, depth=2)
    found = [each for part in parts(tiny, path, Judging(str(path), 2), 2) for each in part.values["judged"]]
    assert (table_of(found), len(found)) == want


@pytest.mark.parametrize(
    ("work", "row", "said"),
    [
        (Evaluating("x.tsv"), "a\tb", "x.tsv line 2: 2 columns; it needs source, target, corpus"),
        (Evaluating("x.tsv"), "a\t\tc", "column 2 is empty"),
        (Profiling("x.tsv"), " \tb", "x.tsv, line 2: there is no source text"),
        (Judging("x.tsv", 3), "\tb", "has a line without text"),
        (Aligning("x.tsv", ("de", "en")), "a\tb", "pair 2: 2 columns"),
        (Aligning("x.tsv", ("de", "en")), "a\tb\t0-9", "pair 2: the link 0-9 points outside"),
        (Profiling("x.tsv"), "\udcff", "line 2 is not UTF-8"),
    ],
)
def test_what_the_command_refuses_is_refused_before_any_work(work: Work, row: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"Ein Satz.\tA sentence.\t0-0\n" + row.encode(errors="surrogateescape") + b"\n")
    with pytest.raises(InputError, match=said):
        cut(Corpus(str(path)), 1, check=work.check)


@pytest.mark.slow
def test_a_worker_says_what_went_wrong(tiny_checkpoint: Path, tiny: Translator, tmp_path: Path) -> None:
    path = file(tmp_path, [("Das Haus.",), ("Park " * 150,)])
    corpus = Corpus(str(path))
    model = Model(str(tiny_checkpoint), None, tiny.bundle.info.sha256, "cpu", 1)
    first, second = cut(corpus, 1)
    worker = Worker(model, corpus, Profiling(str(path)))
    assert worker.done(first)["values"]["sentences"] == 1
    assert worker.done(second)["failure"].startswith("sentence 2: ")
    path.write_text("Das Xaus.\n")
    assert "is not the file" in worker.done(first)["failure"]
    other = Worker(dataclasses.replace(model, sha256="0" * 64), corpus, Profiling(str(path)))
    (again,) = cut(corpus, 1)
    assert "has other weights" in other.done(again)["failure"]
    nowhere = Worker(dataclasses.replace(model, name="no-such"), corpus, Profiling(str(path)))
    assert "no-such" in nowhere.done(again)["failure"]
