"""The omission meter: a copier whose omissions are known, cases made on purpose, fits against brute force."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import translator
from translator import CancelledError, CheckpointError, InputError, Translator
from translator.analysis.alti import alti
from translator.analysis.cases import Case, lowered, made_cases
from translator.analysis.lexicon import Lexicon, learn_lexicon
from translator.analysis.measured import meter_section, store_meter
from translator.analysis.omission_bench import Judged, auroc, fitted, judged_cases, measured_meter
from translator.analysis.omissions import FILE, Judge, Meter, omissions, stored_meter, unmeasured
from translator.analysis.signals import SIGNALS, signals
from translator.analysis.words import source_words
from translator.checkpoints.save import amend

PAIRS = [
    ("Das Haus ist alt.", "The house is old."),
    ("Das Haus ist groß.", "The house is big."),
    ("Das Buch ist alt.", "The book is old."),
    ("Ein Buch ist groß.", "A book is big."),
    ("Ein Haus und ein Park.", "A house and a park."),
    ("Der Park ist alt.", "The park is old."),
]
LANGUAGES = ("de", "en")


@pytest.fixture(scope="module")
def copier(make_copier: Callable[[], Translator]) -> Translator:
    return make_copier()


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return learn_lexicon([(lowered(src, "de"), lowered(tgt, "en")) for src, tgt in PAIRS] * 4)


def test_what_the_copier_was_not_let_copy_was_left_out(copier: Translator) -> None:
    found = omissions(copier, copier.force("soup salt rice egg", "soup salt rice"))
    assert found.left_out == ("egg",) and found.invented == ()
    assert [word.text for word in found.source] == ["soup", "salt", "rice", "egg"]
    assert max(found.source, key=lambda word: word.score).text == "egg"


def test_what_the_copier_did_not_copy_was_invented(copier: Translator) -> None:
    loud = replace(unmeasured(copier), target=Judge((1.0, 0.0, 0.0, 0.0), -3.0, 0.5))
    found = omissions(copier, copier.force("soup salt rice egg", "soup fish rice egg"), meter=loud)
    assert found.invented == ("fish",)


def test_a_translation_of_its_own_leaves_nothing_out(copier: Translator) -> None:
    found = omissions(copier, copier.translate("soup salt rice egg"))
    assert found.left_out == () and found.invented == ()
    assert found.meter.cases == 0


def test_the_signals_are_what_they_say(tiny: Translator) -> None:
    trace = tiny.force("Ich renne in den Park.", "I run into the park.")
    found, words = signals(tiny, trace), source_words(trace)
    shorter = tiny.force("Ich renne in den.", [token.id for token in trace.tgt])
    gained = (shorter.log_probs - trace.log_probs).mean()
    assert found.of_source[4, 0] == pytest.approx(gained, abs=1e-4)
    contributions = alti(tiny, trace).total
    np.testing.assert_allclose(found.of_source[:, 2], -words.sums(contributions.source).max(axis=0))
    np.testing.assert_allclose(found.of_source[:, 3], -words.sums(trace.cross.mean(axis=(0, 1))).max(axis=0))
    first = [t for t, token in enumerate(trace.tgt) if token.word == 1]
    assert found.of_target[1, 0] == pytest.approx(-trace.log_probs[first].sum())
    assert found.of_target[1, 2] == pytest.approx(-contributions.source_share[first].mean())
    assert found.of_source.shape == (6, len(SIGNALS))


def test_the_lexicon_is_model_1_word_by_word() -> None:
    """The paper's sums, written out in dictionaries."""
    pairs = [(lowered(src, "de"), lowered(tgt, "en")) for src, tgt in PAIRS]
    table = {(s, t): 1.0 for src, tgt in pairs for s in ("", *src) for t in tgt}
    for _ in range(3):
        counts = dict.fromkeys(table, 0.0)
        for src, tgt in pairs:
            for t in tgt:
                total = sum(table[s, t] for s in ("", *src))
                for s in ("", *src):
                    counts[s, t] += table[s, t] / total
        totals: dict[str, float] = {}
        for (s, _), value in counts.items():
            totals[s] = totals.get(s, 0.0) + value
        table = {(s, t): value / totals[s] for (s, t), value in counts.items()}
    found = learn_lexicon(pairs, rounds=3).forward
    assert found
    for key, value in found.items():
        assert value == pytest.approx(table[key])
    assert {key for key, value in table.items() if value >= 0.05 and key[0]} == set(found)


def test_the_lexicon_links_what_it_is_sure_of(lexicon: Lexicon) -> None:
    src, tgt = lowered("Das Buch ist alt.", "de"), lowered("The book is old.", "en")
    links = {(src[s], tgt[t]) for s, t in lexicon.links(src, tgt)}
    assert {("buch", "book"), ("alt", "old"), ("ist", "is")} <= links
    assert lexicon.links(["haus", "haus"], ["house"]) == []  # which of the two is not known
    assert lexicon.links([], ["house"]) == []


def test_cases_differ_from_their_reference_by_one_word(lexicon: Lexicon) -> None:
    cases = made_cases(PAIRS, lexicon, LANGUAGES, 16, seed=3)
    assert len(cases) == 16 and sum(case.left_out is not None for case in cases) == 8
    references = dict(PAIRS)
    for case in cases:
        reference = lowered(references[case.source], "en")
        changed = lowered(case.target, "en")
        if case.left_out is not None:
            (gone,) = [word for word in reference if reference.count(word) > changed.count(word)]
            assert len(changed) == len(reference) - 1 and "  " not in case.target
            word = case.source[slice(*case.left_out)].lower()
            assert lexicon.forward[word, gone] > 0.2
        else:
            assert case.invented is not None
            added = case.target[slice(*case.invented)]
            assert added in {"house", "book", "park"} and added not in reference
            start, end = case.invented
            rest = case.target[:start] + case.target[end:]
            assert lowered(rest, "en") == reference


@pytest.mark.slow
def test_a_chinese_word_goes_and_comes_without_a_space() -> None:
    pairs = [("I like tea.", "我喜欢喝茶。"), ("I like milk.", "我喜欢牛奶。"), ("You like rice.", "你喜欢米饭。")]
    lexicon = Lexicon({("i", "我"): 0.9}, {("i", "我"): 0.9})
    cases = made_cases(pairs, lexicon, ("en", "zh"), 4)
    dropped = {case.target for case in cases if case.left_out}
    assert dropped <= {"喜欢喝茶。", "喜欢牛奶。"}
    assert all(" " not in case.target for case in cases)


def test_too_few_pairs_are_refused(lexicon: Lexicon) -> None:
    with pytest.raises(InputError, match="500 were asked for"):
        made_cases(PAIRS, lexicon, LANGUAGES, 1000)
    with pytest.raises(InputError, match="no sentence pair"):
        learn_lexicon([([], ["a"])])


def drawn(count: int, *, seed: int = 0) -> list[Judged]:
    """Cases of five words whose second signal tells."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        values, tampered = rng.normal(size=(5, 4)), np.arange(5) == rng.integers(5)
        values[tampered, 1] += 4
        cases.append(Judged(tuple("abcde"), values, tampered))
    return cases


@pytest.mark.slow
def test_a_judge_uses_the_signal_that_tells_and_is_measured_on_the_other_half() -> None:
    cases = drawn(200)
    judge = fitted(cases)
    assert judge.weights[1] > 0 and judge.weights[0] == judge.weights[2] == judge.weights[3] == 0
    unseen = cases[1::2]
    pairs = [
        (score >= judge.threshold, touched)
        for case in unseen
        for score, touched in zip(judge.scores(case.values), case.tampered, strict=True)
    ]
    assert judge.found == pytest.approx(np.mean([m for m, t in pairs if t]))
    assert judge.wrong == pytest.approx(np.mean([m for m, t in pairs if not t]))
    assert judge.found > 0.8 and judge.wrong < 0.1
    assert judge.auroc is not None and set(judge.auroc) == {*SIGNALS, "the score"}
    assert judge.auroc["occlusion"] > judge.auroc["attention"]


def test_auroc_is_the_share_of_pairs_in_order() -> None:
    rng = np.random.default_rng(2)
    scores, wanted = rng.integers(0, 6, 40).astype(float), rng.random(40) < 0.3
    pairs = [(a > b) + (a == b) / 2 for a, b in product(scores[wanted], scores[~wanted])]
    assert auroc(scores, wanted) == pytest.approx(np.mean(pairs))


def test_few_cases_are_refused() -> None:
    with pytest.raises(InputError, match="there are 10 cases"):
        fitted(drawn(10))


def test_what_was_tampered_with_is_found_again(tiny: Translator) -> None:
    cases = [
        Case("Ich renne in den Park.", "I run into the.", left_out=(17, 21)),
        Case("Ich renne.", "I big run.", invented=(2, 5)),
    ]
    left_out, invented = judged_cases(tiny, cases)
    assert left_out[0].texts == ("ich", "renne", "in", "den", "park")
    assert left_out[0].tampered.tolist() == [False] * 4 + [True]
    assert invented[0].texts == ("i", "big", "run") and invented[0].tampered.tolist() == [False, True, False]
    with pytest.raises(CancelledError):
        judged_cases(tiny, cases, stop=lambda: True)


@pytest.mark.slow
def test_a_meter_is_stored_and_told_and_read(tiny_checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_checkpoint, folder)
    made = translator.load(folder, device="cpu")
    assert stored_meter(made) is None
    meter = measured_meter(made, drawn(40), drawn(60, seed=1), data="dev")
    store_meter(made, meter)
    again = translator.load(folder, device="cpu")
    assert stored_meter(again) == meter and meter.cases == 100
    assert meter_section(meter) in again.bundle.card
    assert "the score" in meter_section(meter)
    trace = again.translate("Ich renne.", method="greedy")
    assert omissions(again, trace).meter == meter
    with pytest.raises(CheckpointError, match="other weights"):
        store_meter(again, replace(meter, checkpoint="0" * 64))


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: {**data, "format": 9},
        lambda data: {**data, "checkpoint": "0" * 64},
        lambda data: {**data, "source": {**data["source"], "weights": [1.0]}},
        lambda data: {**data, "source": {**data["source"], "bias": "much"}},
        lambda data: {**data, "target": {}},
        lambda data: {key: value for key, value in data.items() if key != "cases"},
    ],
)
def test_a_damaged_meter_is_refused(tiny_checkpoint: Path, tmp_path: Path, damage: Callable[[dict], dict]) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_checkpoint, folder)
    made = translator.load(folder, device="cpu")
    store_meter(made, Meter(made.bundle.info.sha256, "dev", 40, fitted(drawn(40)), fitted(drawn(40))))
    changed = damage(json.loads((folder / FILE).read_text(encoding="utf-8")))
    amend(folder, {FILE: json.dumps(changed).encode()})
    with pytest.raises(CheckpointError, match="omission-bench"):
        stored_meter(made)
