"""Numbers and Latin words of a translation that the source must have: against a second reading of the rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from translator import Translator
from translator.config import DecodeConfig, TextConfig
from translator.decode import SourceSpans, Spelling, beam, finish, search, search_batch, source_spans
from translator.decode.copying import UNITS, ban_spans
from translator.engine import EagerEngine
from translator.model import Transformer
from translator.text import SubwordTokenizer, VocabularyTokenizer, spelling

PIECES = (
    *"0123456789",
    *"abcdehlmorst",
    *"ABTD",
    *".,'- :年月%",
    " 1",
    " To",
    "om",
    "20",
    "147",
    "00",
    "CoV-2",
    "The1",
    "",
)
TABLE = Spelling(PIECES)
EOS = len(PIECES) - 1
SOURCES = (
    "She was born in 2024.",
    "It costs 1,147.50 dollars, not 12'345.",
    "Tom has 1.5 million, and room 204.",
    "At 6:05, call 555 1234!",
    "Stroh-Al met Tom's mother in 1000",
    "Ｔｏｍ　has ２０４",
    "nothing to see",
)


def numbers_of(text: str) -> set[str]:
    """Every number of a text of this module as it may be written, by hand."""
    known = {
        SOURCES[0]: "2024",
        SOURCES[1]: "1147 50 114750 11475 12345",
        SOURCES[2]: "1 01 5 05 15 204 15000000 1500000 150 1500 15000",
        SOURCES[3]: "6 06 5 05 18 555 1234",
        SOURCES[4]: "1000 1",
        SOURCES[5]: "204",
    }
    return set(known[text].split())


def words_of(text: str) -> set[str]:
    wide = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B)}
    words = set(re.split("[^a-z]+", text.translate(wide).lower())) | UNITS
    return words | {"strohal", "toms"} if "Stroh" in text else words


def stands(text: str, numbers: set[str] | None, words: set[str] | None, *, open_end: bool) -> bool:
    """Whether `text` keeps the rule, read anew character by character; its last run may go on if `open_end`."""
    cut = re.findall(r"[0-9]+(?:[.,':][0-9]+)*[.,':]?|[A-Za-z]+|[^0-9A-Za-z]", text)
    for n, part in enumerate(cut):
        last = open_end and n == len(cut) - 1
        if part[0].isalpha() and part.isascii():
            fits = {w for w in words or () if w == part.lower() or (last and w.startswith(part.lower()))}
            if words is not None and len(part) >= 2 and part != part.upper() and not fits:
                return False
        elif part[0].isdigit() and numbers is not None and not _number_stands(part, numbers, last):
            return False
    return True


def _number_stands(part: str, numbers: set[str], last: bool) -> bool:
    """Of digits, separators and colons: each run with those before it, back to a colon, is a number or begins one."""
    cut = re.findall("[0-9]+|[^0-9]", part)
    so_far = ""
    for n, group in enumerate(cut):
        if not group.isdigit():
            so_far = "" if group == ":" else so_far
            continue
        so_far += group
        ends = n == len(cut) - 1
        if n and cut[n - 1] == ":" and (group == "00" or (group == "0" and ends and last)):
            continue
        if not n and len(group) < 2 and cut[1:2] != [":"]:
            continue
        grows = ends and last
        separated = not ends and cut[n + 1] != ":" and (n + 2 < len(cut) or last)
        if so_far not in numbers and not ((grows or separated) and any(w.startswith(so_far) for w in numbers)):
            return False
    return True


def random_spans(rng: np.random.Generator) -> tuple[SourceSpans, set[str] | None, set[str] | None]:
    text = SOURCES[rng.integers(len(SOURCES))]
    tgt = ("zh", "de")[rng.integers(2)]
    found = source_spans(TABLE, text, "en", tgt)
    words = words_of(text) if tgt == "zh" else None
    numbers = None if text == SOURCES[-1] else numbers_of(text)
    if numbers is None and words is None:
        assert found is None
        return random_spans(rng)
    assert found is not None
    return found, numbers, words


def text_of(ids: Sequence[int]) -> str:
    return "".join(PIECES[id_] for id_ in ids)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_what_is_forbidden_is_what_a_second_reading_forbids(seed: int) -> None:
    """Walks that keep the rule, at each step of which every token is judged by the whole text."""
    rng = np.random.default_rng(seed)
    judged = 0
    for _ in range(40):
        spans, numbers, words = random_spans(rng)
        ids: list[int] = []
        for _ in range(12):
            wrong = set(spans.forbidden(ids).tolist())
            reference = {
                id_
                for id_, piece in enumerate(PIECES)
                if not stands(text_of(ids) + (piece or "\n"), numbers, words, open_end=id_ != EOS)
            }
            if len(reference) < len(PIECES):
                assert wrong == reference, (text_of(ids), numbers, words)
                judged += bool(reference)
            else:
                assert not wrong
            weights = np.where([id_ in wrong for id_ in range(len(PIECES))], 0.0, 1.0)
            weights[:10] *= 6  # digits, which alone would be rare
            weights[10:26] *= 3
            ids.append(int(rng.choice(len(PIECES), p=weights / weights.sum())))
            if ids[-1] == EOS:
                break
    assert judged > 50


@pytest.mark.parametrize(
    ("src", "text", "written", "forbidden"),
    [
        ("en", "on 3 May 2024", ["2024", "2", "20", "2024年", "7年"], ["201", "20240", "202年", "024", "99", "20年"]),
        ("en", "1,147 houses", ["1147", "1,147", "11"], ["147", "114年", "1,14年7147", "1.4"]),
        ("de", "12.345 Bücher", ["12345", "12,345", "12,"], ["345", "12:345", "1234年", "12年"]),
        ("en", "1.5 million", ["150年", "1500000", "1,500,000", "1.5"], ["115", "151", "5.1"]),
        ("en", "250,000 men", ["250000", "250,000", "250年", "25"], ["2500年", "2500000", "251"]),
        ("en", "3 thousand", ["3000", "3,000"], ["300年", "30000"]),
        ("de", "um 22 Uhr", ["22", "10", "10:00", "22:0", "9年"], ["9:00", "11", "12", "10:0年", "10:30", "1:1年"]),
        ("en", "at 7:30 p.m.", ["19:30", "7:30", "7", "19年", "7:3"], ["18", "7:3年", "7:35"]),
        ("en", "in the 1980s, by 5 to 9", ["1980", "20", "80年", "05"], ["90", "19年", "59", "7:05", "5:7", "5.7"]),
        ("de", "am 1. Oktober mittags", ["10", "12", "1"], ["11", "10月12:2年"]),
        ("de", "2 Mio. Euro", ["200年", "2000000"], ["202"]),
        ("en", "1,234,567", ["1,234,567", "123.4567", "1234567"], ["567", "234,567"]),
        ("de", "12 345 Euro und 1’147", ["12345", "345", "1147"], ["147", "1234年"]),
        ("de", "1\u202f147 Euro", ["1147"], ["147", "1140"]),
        ("en", "Tom's 7", ["Tom", "tom", "Toms", "TOM", "DNA", "km", "K年"], ["To年", "Kr", "Tomb", "DNAs", "Mary"]),
        ("en", "Jean-Paul Müller, 7", ["Jean", "jeanpaul", "ller", "Muller"], ["Mull年", "Jeans"]),
    ],
)  # fmt: skip
def test_what_may_be_written(src: str, text: str, written: list[str], forbidden: list[str]) -> None:
    spans = source_spans(TABLE, text, src, "zh")
    assert spans is not None
    assert [each for each in written if not spans.allows("", each)] == []
    assert [each for each in forbidden if spans.allows("", each)] == []


@pytest.mark.parametrize(
    ("src", "text"),
    [
        ("en", "no digit at all"),
        ("en", "twenty men and 3 women"),
        ("en", "nineteen eighty-four, page 7"),
        ("en", "2 million 350 thousand"),
        ("en", "12 dozen"),
        ("en", "ten of 30"),
        ("en", "half past 8"),
        ("de", "Viertel vor 8"),
        ("de", "halb 8"),
        ("de", "dreihundertfünf Seiten, 3 Bilder"),
        ("de", "elf Freunde und 2 Feinde"),
        ("de", "zwanzig von 30"),
        ("fr", "vingt et 3"),
    ],
)
def test_where_numbers_are_not_judged(src: str, text: str) -> None:
    assert source_spans(TABLE, text, src, "en") is None


@pytest.mark.parametrize(
    "text", ["Er hilft 2 Elfen im 19. Jahrhundert", "deshalb 7", "helfen 7", "5 Millionen", "um 6:05"]
)
def test_words_that_compose_no_number(text: str) -> None:
    assert source_spans(TABLE, text, "de", "en") is not None


def test_a_run_that_nothing_goes_on_with_is_let_go() -> None:
    few = Spelling(["1", "2", "年", ""])
    spans = source_spans(few, "12 in 1299", "en", "zh")
    assert spans is not None
    assert spans.forbidden([0, 1]).tolist() == [0, 1]  # 9 has no token, so 121 and 122 would be wrong
    assert spans.forbidden([0, 1, 1]).tolist() == []  # a prefix that was given
    scores = torch.tensor([[-1.0, -2.0, -torch.inf, -torch.inf]])
    ban_spans(scores, [spans], [[0, 1]])
    assert scores.tolist() == [[-1.0, -2.0, -torch.inf, -torch.inf]]  # nothing else may come


def test_no_text_takes_long() -> None:
    for text in (",".join(map(str, range(280))), "1" * 1000, "a-" * 500, "a" * 1000, "1 " * 500):
        spans = source_spans(TABLE, text, "en", "zh")
        assert spans is not None
        assert sum(map(len, spans._begun)) < 2_000_000


@pytest.fixture(scope="module")
def digits(checkpoint_maker: ModuleType) -> tuple[Transformer, SubwordTokenizer]:
    """A random model that likes digits and letters, and its vocabulary."""
    texts = ["Tom kam 2024 um 6:05 an.", "147 Bäume, 555 Äpfel", "Anna rief Tom"] * 5
    tokenizer = SubwordTokenizer.train(texts, TextConfig("zh", prefix_space=False), 300)
    model = checkpoint_maker.tiny_model(60, len(tokenizer), seed=3)
    push = torch.tensor([4.0 if text.strip().isalnum() and text.isascii() else 0.0 for text in spelling(tokenizer)])
    model.output.bias = torch.nn.Parameter(push)
    return model, tokenizer


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        DecodeConfig(),
        DecodeConfig(method="beam", beam=4),
        DecodeConfig(method="sample", seed=5, temperature=3.0),
        DecodeConfig(no_repeat_ngram_size=1),
    ],
)
def test_no_output_of_a_random_model_breaks_the_rule(
    digits: tuple[Transformer, SubwordTokenizer], config: DecodeConfig
) -> None:
    model, tokenizer = digits
    table = Spelling(spelling(tokenizer))
    rng = np.random.default_rng(1)
    sources = [[*rng.integers(4, 60, 6).tolist(), 2] for _ in range(12)]
    texts = [SOURCES[n % 5] for n in range(12)]
    spans = [source_spans(table, text, "en", "zh") for text in texts]
    engine = EagerEngine(model)
    limits = [24] * 12
    free = search_batch(engine, sources, config, max_lengths=limits)
    found = search_batch(engine, sources, config, max_lengths=limits, spans=spans)
    broken = 0
    for text, loose, held in zip(texts, free, found, strict=True):
        kept = {"numbers": numbers_of(text), "words": words_of(text), "open_end": True}
        broken += not stands(tokenizer.decode(loose), **kept)  # type: ignore[arg-type]
        assert stands(tokenizer.decode(held), **kept), (text, tokenizer.decode(held))  # type: ignore[arg-type]
    assert broken > 4
    single = [
        finish(search(engine, source, config, max_length=24, spans=own)).ids
        for source, own in zip(sources, spans, strict=True)
    ]
    assert single == found


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 16, 10_000])
def test_a_beam_takes_the_same_however_many_candidates_are_ranked(
    spare: int, digits: tuple[Transformer, SubwordTokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = digits
    spans = source_spans(Spelling(spelling(tokenizer)), SOURCES[0], "en", "zh")
    ask = [5, 9, 17, 30, 2]
    config = DecodeConfig(method="beam", beam=3, no_repeat_ngram_size=2)
    steps = search(EagerEngine(model), ask, config, max_length=16, spans=spans)
    monkeypatch.setattr(beam, "_SPARE", spare)
    looked = []
    left = beam._left
    monkeypatch.setattr(beam, "_left", lambda *given: looked.append(1) or left(*given))
    ranked = [step.beams for step in steps]
    monkeypatch.setattr(beam, "_of_source", lambda *given: [])  # so that each step looks at every token
    every = [step.beams for step in search(EagerEngine(model), ask, config, max_length=16, spans=spans)]
    assert ranked == every
    assert spare or len(looked) > len(every), "with no spare candidates some step lacks one"


@pytest.mark.slow
def test_a_prefix_is_not_judged(digits: tuple[Transformer, SubwordTokenizer]) -> None:
    model, tokenizer = digits
    spans = source_spans(Spelling(spelling(tokenizer)), SOURCES[0], "en", "zh")
    prefix = tokenizer.ids("999 Tomb 147")
    for config in (DecodeConfig(), DecodeConfig(method="beam", beam=3)):
        found = finish(search(EagerEngine(model), [5, 9, 2], config, max_length=30, prefix=prefix, spans=spans))
        assert found.ids[: len(prefix)] == tuple(prefix)
        assert len(found.ids) > len(prefix)


@pytest.mark.parametrize("level", ["subword", "word", "char"])
def test_the_spelling_of_a_vocabulary_spells_its_texts(level: str) -> None:
    config = TextConfig("en", level=level)  # type: ignore[arg-type]
    kind = SubwordTokenizer if level == "subword" else VocabularyTokenizer
    text = "Tom paid 1147 dollars, or 12%."
    tokenizer = kind.train([text] * 5, config, 400)
    texts = spelling(tokenizer)
    ids = tokenizer.ids(text)
    assert "".join(texts[id_] for id_ in ids).lstrip() == text
    assert texts[tokenizer.eos_id] == ""
    if level == "subword":
        assert texts[4 + 0x31] == "1" and texts[4 + 0xE4] == "\ufffd"


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "greedy"}, {"method": "beam", "beam": 3}, {"method": "sample"}])
def test_the_setting_reaches_every_way_to_translate(
    tiny: Translator, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a source's spans forbid is written by no call that asks for them, and by none that does not."""
    text, more = "Es kostet 1147 Euro.", {**settings, "spans_from_source": True}
    usual = tiny.translate(text, **settings).tgt[0].id
    monkeypatch.setattr(SourceSpans, "forbidden", lambda self, ids: np.array([usual]))
    assert tiny.translate(text, **settings).tgt[0].id == usual
    found = tiny.translate(text, **more)
    assert usual not in [token.id for token in found.tgt]
    assert tiny.translate_batch([text, "Es kostet nichts."], **more) == [
        found.translation,
        tiny.translate("Es kostet nichts.", **settings).translation,
    ]
    assert found.settings.spans_from_source
    assert tiny.bundle.spans(text, tiny.bundle.decode) is None
