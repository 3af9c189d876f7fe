"""What a hypothesis loses for names that it does not copy: against counts by hand, and in whole searches."""

from __future__ import annotations

from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from translator import Translator
from translator.config import DecodeConfig
from translator.decode import Names, SourceSpans, Spelling, finish, replay, search, search_batch, source_names
from translator.engine import EagerEngine

PIECES = ("", "", "", "T", "To", "om", " Tom", "my", "m", " 年", "年", "é")
TABLE = Spelling(PIECES)
NAMES = {"Tom": 2, "Tommy": 1}


def lost_by(text: str) -> float:
    """Names that `text` lacks, less the share of one that it may be spelling, by a walk over its characters."""
    left, word, begun = dict(NAMES), "", 0.0
    for char in text + "\n":
        if char.isalpha() and char != "年":
            word += char
            continue
        if left.get(word):
            left[word] -= 1
        elif word and char == "\n":
            begun = max([len(word) / len(name) for name in left if left[name] and name.startswith(word)], default=0.0)
        word = ""
    return sum(left.values()) - begun


def test_what_is_missing_is_what_a_walk_counts() -> None:
    names = Names(TABLE, NAMES, 3.0)
    rng = np.random.default_rng(1)
    gained = 0
    for _ in range(400):
        ids = rng.integers(3, len(PIECES), rng.integers(9)).tolist()
        text = "".join(PIECES[id_] for id_ in ids)
        assert names.missing(ids) == pytest.approx(3 * lost_by(text))
        assert names.unspelt(ids) == pytest.approx(3 * lost_by(text + "年"))
        for id_, gain in names.gains(ids):
            gained += 1
            assert names.missing([*ids, id_]) <= names.unspelt(ids) - gain + 3 + 1e-9
            if text[-1:] in ("", "年"):
                assert names.missing([*ids, id_]) == pytest.approx(names.unspelt(ids) - gain)
    assert gained > 400


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My friend Drereln met drereln.", {"Drereln": 1}),
        ("Zoë Zoë's X12 NATO2 É 3Kg", {"Zoë": 2}),
        ("Jean-Paul", {"Jean": 1, "Paul": 1}),
        ("no name", None),
    ],
)
def test_names_of_a_source(text: str, found: dict[str, int] | None) -> None:
    names = source_names(TABLE, text, lambda word: 1 if word == "My" else len(word), 2.0)
    assert (names and names._names) == found
    assert source_names(TABLE, text, len, 0.0) is None


@pytest.mark.parametrize("count", [1, 3, 4, 12])
def test_many_names_share_what_three_count(count: int) -> None:
    found = source_names(TABLE, " and ".join(["Tommy"] * count), len, 2.0)
    assert found is not None
    assert found.missing([]) == pytest.approx(2.0 * min(count, 3))


@pytest.mark.slow
def test_a_wide_beam_finds_the_best_of_all(checkpoint_maker: ModuleType) -> None:
    """Ranked by the log-probability over the length penalty, less what is missing over that of the source."""
    pieces = ("", "", "", "To", "m", " Tom", "年", "my")
    few = Spelling(pieces)
    model = checkpoint_maker.tiny_model(30, len(pieces), seed=5)
    engine, source = EagerEngine(model), [5, 9, 17, 2]
    sequences = [(*ids, 2) for count in range(3) for ids in product(range(3, len(pieces)), repeat=count)]
    sequences += product(range(3, len(pieces)), repeat=3)  # cut at the limit
    scores = [float(replay(engine, source, ids).log_probs.sum()) for ids in sequences]
    found = set()
    for nats, alpha in product((0.0, 1.0, 2.5, 12.0), (0.0, 1.2)):
        config = DecodeConfig(method="beam", beam=64, length_penalty=alpha, early_stopping="never")
        lost = [nats * lost_by("".join(pieces[id_] for id_ in ids)) for ids in sequences]
        ranks = [
            score / ((5 + len(ids)) / 6) ** alpha - missing / ((5 + 3) / 6) ** alpha
            for ids, score, missing in zip(sequences, scores, lost, strict=True)
        ]
        spans = SourceSpans(few, None, None, Names(few, NAMES, nats))
        best = finish(search(engine, source, config, max_length=3, spans=spans)).ids
        assert best == sequences[int(np.argmax(ranks))]
        assert search_batch(engine, [source] * 2, config, max_lengths=[3, 3], spans=[spans, None])[0] == best
        found.add(best)
    assert len(found) > 1


@pytest.mark.parametrize("nats", [0.0, 1.0, 3.0, 20.0])
def test_a_narrow_beam_keeps_what_spells_a_name(nats: float, checkpoint_maker: ModuleType) -> None:
    """Its first step holds the best by log-probability less what is missing, however unlikely they are."""
    names = Names(TABLE, NAMES, nats)
    spans = SourceSpans(TABLE, None, None, names)
    config = DecodeConfig(method="beam", beam=2)
    for seed in range(4):
        engine = EagerEngine(checkpoint_maker.tiny_model(30, len(PIECES), seed=seed))
        step = next(search(engine, [5, 9, 17, 2], config, max_length=6, spans=spans))
        totals = {id_: float(step.log_probs[id_]) - nats * lost_by(PIECES[id_]) for id_ in range(2, len(PIECES))}
        best = sorted(totals, key=lambda id_: -totals[id_])
        assert [beam.ids[0] for beam in step.beams if not beam.ended] == [id_ for id_ in best if id_ != 2][:2]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "beam", "beam": 3}, {"method": "greedy"}])
def test_the_setting_reaches_every_way_to_translate(
    tiny: Translator, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def asking(self: Names, ids: Any) -> tuple[tuple[int, float], ...]:
        asked.append(self._penalty)
        return ()

    monkeypatch.setattr(Names, "gains", asking)
    text = "Gestern kam Schlumpfhausen an."
    tiny.translate(text, **settings)
    assert not asked
    tiny.translate(text, **settings, name_penalty=2.0)
    alone = len(asked)
    tiny.translate_batch([text], **settings, name_penalty=2.0)
    assert bool(asked) == (settings["method"] == "beam") and len(asked) == 2 * alone and set(asked) <= {2.0}
