"""What a live page's search must not write of numbers and names is what Python's must not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from translator.decode import Spelling, source_names, source_spans
from translator.text import load_tokenizer, spelling

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
PIECES = (
    *"0123456789",
    *"abcdehlmorst",
    *"ABTD",
    *".,'- :年月",
    " 1",
    " To",
    "om",
    "147",
    "00",
    "CoV-2",
    "１2",
    "é",
    "",
)
TEXTS = (
    "She was born in 2024.", "1,147.50 dollars, 12'345 and 12 345", "1.5 million in room 204", "at 6:05, call 555 1234",
    "Tom's Stroh-Al met Müller 1000 times", "Ｔｏｍ　has ２０４", "nothing", "twenty and 3", "2 million 350 thousand",
    "5k and 3 centuries", "1\u202f147, 1’147", "3.5.2024 1,2,3", "elf und 7", "im 19. Jahrhundert 123",
    "2 Mio. und 1,5 Mrd.",
    "12 dreißig", "at 7:30 p.m. in the 1980s", "um 22 Uhr am 1. Oktober mittags", "ten of 30", "halb 8", "10:30 Uhr",
    "half past 8", "noon, 24 dec", "9 o'clock, 12500 km", "0 Uhr 05, 1.5 kg",
    "1,1,1,1,1,1,1,1,1,1,1", "İ é\u0301 ﬁ", "x" * 200 + "9" * 200,
)  # fmt: skip


def asked(size: int, weights: np.ndarray, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    walks = [rng.choice(size, length, p=weights / weights.sum()).tolist() for length in range(9) for _ in range(12)]
    return [
        {"text": text, "src": src, "tgt": tgt, "walks": walks}
        for text in TEXTS
        for src, tgt in (("en", "zh"), ("de", "en"), ("fr", "zh"))
    ]


def expected(table: Spelling, sources: list[dict[str, Any]]) -> list[Any]:
    found = []
    for each in sources:
        spans = source_spans(table, each["text"], each["src"], each["tgt"])
        found.append(spans and [spans.forbidden(ids).tolist() for ids in each["walks"]])
    return found


@pytest.mark.slow
def test_the_same_ids_are_forbidden(run_node: Callable[..., Any]) -> None:
    sources = asked(len(PIECES), np.ones(len(PIECES)), 1)
    wanted = expected(Spelling(PIECES), sources)
    assert sum(bool(ids) for each in wanted for ids in each or ()) > 100
    assert run_node("copying.mjs", {"texts": PIECES, "sources": sources})["forbidden"] == wanted


@pytest.mark.slow
def test_the_same_names_are_missing(run_node: Callable[..., Any]) -> None:
    sources = asked(len(PIECES), np.ones(len(PIECES)), 3)
    found = run_node("copying.mjs", {"texts": PIECES, "sources": sources})["names"]
    table, gains = Spelling(PIECES), 0
    for each, own in zip(sources, found, strict=True):
        names = source_names(table, each["text"], len, 2.5)
        assert (names is None) == (own is None)
        for ids, (missing, unspelt, gained) in zip(each["walks"], own or (), strict=False):
            assert names is not None
            assert (missing, unspelt) == pytest.approx((names.missing(ids), names.unspelt(ids)))
            assert [id_ for id_, _ in gained] == [id_ for id_, _ in names.gains(ids)]
            assert [nats for _, nats in gained] == pytest.approx([nats for _, nats in names.gains(ids)])
            gains += len(gained)
    assert gains > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ["de-en", "en-zh"])
def test_the_shipped_vocabularies_are_read_alike(name: str, run_node: Callable[..., Any]) -> None:
    path = CHECKPOINTS / name / "tgt.json"
    texts = spelling(load_tokenizer(path))
    table = Spelling(texts)
    weights = np.array([30.0 if id_ in table.digits or id_ in table.letters else 0.1 for id_ in range(len(texts))])
    sources = asked(len(texts), weights, 2)[:12]
    found = run_node("copying.mjs", {"file": str(path), "sources": sources})
    assert found["texts"] == list(texts)
    assert found["forbidden"] == expected(table, sources)
