"""The tokenizer of a live page against Python's: ids, surfaces, words and places."""

from __future__ import annotations

import base64
import json
import random
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from translator.config import TextConfig
from translator.text import Tokenizer, VocabularyTokenizer, load_tokenizer, words
from translator.text.casing import with_casing
from translator.ui.live.casing import casing_of

ROOT = Path(__file__).parents[2]
CHECKPOINTS = ROOT / "checkpoints"
SIDES = ("de-en/src", "de-en/tgt", "en-zh/src", "en-zh/tgt")
HARD = (
    "", " ", "<s>", "</s> <0x41>", "▁▁", "Straße – „so“…", "don't well-known e\u0301\u0323a", "\ud800 lone",
    "İstanbul", "ﬁ ﬂ", "1,234.5 ٣٤ ५६", "👩🏽\u200d💻 🇩🇪🇫🇷 👨\u200d👩\u200d👧",
    "a\u200bb\u00adc\u2060d", "\x1c\x85\u3000", "\U0001e030x\u0305", "각\u1161\u11a8", "constructor toString",
    "\u0301\u0301 \u0345", "क्षत्रिय", "‘tis ‹so›", "𠮷野家", "南京市长江大桥欢迎您", "憑藉 乾坤 乾淨 頭髮",
    "各位朋友，大家好。", "「你好」,他說.", "我住在3.5樓,Tel.110!",
    "NIEMAND HAT MICH GEFRAGT!", "ÉCOLE İSTANBUL ÅΣ", "ǅABCDE", "NATO", "ªABCDE ǲ",
)  # fmt: skip


@cache
def assigned() -> list[str]:
    """Characters that every tested Python classifies as the page's table does: all, with the table's own Unicode."""
    database = unicodedata if unicodedata.unidata_version == "14.0.0" else unicodedata.ucd_3_2_0
    full = database is unicodedata
    codes = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return [char for char in codes if full or database.category(char) != "Cn"]


@cache
def random_texts(count: int, seed: int) -> list[str]:
    """Strings of any characters at all, rich in marks, joiners and neighbours of one script."""
    draw = random.Random(seed)
    every = assigned()
    marks = [char for char in every if unicodedata.category(char)[0] == "M"]
    texts = []
    for _ in range(count):
        at = draw.randrange(len(every) - 200)
        pools = (every, every[at : at + 200], marks, list(" \u200d'’-.,\u3000中文aäÄ1"))
        texts.append("".join(draw.choice(pools[draw.choice((0, 1, 1, 2, 3, 3))]) for _ in range(draw.randint(1, 24))))
    return texts


def lines(tokenizer: Tokenizer, count: int, seed: int) -> list[str]:
    """Lines in a tokenizer's own pieces, and those that the repository holds in any language."""
    draw = random.Random(seed)
    held = [each["text"] for each in json.loads((ROOT / "assets" / "examples.json").read_text(encoding="utf-8"))]
    for path in sorted((ROOT / "assets" / "newcomers").glob("*.txt")):
        held += path.read_text(encoding="utf-8").splitlines()
    size = len(tokenizer)
    made = [tokenizer.decode([draw.randrange(260, size) for _ in range(draw.randint(3, 30))]) for _ in range(count)]
    return [*held, *made]


def told(tokens: Any) -> list[list[Any]]:
    """Tokens as the script tells of them."""
    return [
        [
            token.id,
            token.surface,
            token.span and list(token.span),
            token.word,
            token.space,
            token.special,
            token.unknown,
        ]
        for token in tokens
    ]


def check(
    run_node: Callable[..., Any], path: Path, chinese: Path | None, texts: list[str], wide: list[str], seed: int
) -> None:
    """The same ids for `texts`, and the same tokens for `wide` and for ids at random."""
    tokenizer = load_tokenizer(path)
    draw = random.Random(seed)
    sequences = [[draw.randrange(len(tokenizer)) for _ in range(draw.randint(1, 20))] for _ in range(300)]
    task = {"file": str(path), "chinese": str(chinese or ""), "ids": texts, "encode": wide, "read": sequences}
    found = run_node("text.mjs", task)
    for text, ids in zip(texts, found["ids"], strict=True):
        assert ids == tokenizer.ids(text), repr(text)
    for text, tokens in zip(wide, found["encoded"], strict=True):
        assert tokens == told(tokenizer.encode(text).tokens), repr(text)
    for ids, read in zip(sequences, found["read"], strict=True):
        assert read == {"text": tokenizer.decode(ids), "tokens": told(tokenizer.tokens(ids))}, ids


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("side", SIDES)
def test_ids_of_lines_and_of_random_unicode(side: str, run_node: Callable[..., Any], chinese: Path) -> None:
    path = CHECKPOINTS / f"{side}.json"
    texts = [*HARD, *lines(load_tokenizer(path), 10_000, 1), *random_texts(10_000, 2)]
    check(run_node, path, chinese, texts, texts[::10], 3)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["de-en/src", "en-zh/src"])
def test_capitals_come_back_alike(side: str, run_node: Callable[..., Any]) -> None:
    path = CHECKPOINTS / f"{side}.json"
    tokenizer, draw = with_casing(load_tokenizer(path)), random.Random(8)
    typed = (str.lower, str.upper, str.capitalize, lambda text: text.lower().replace(" ", draw.choice("'.- \n")))
    texts = [draw.choice(typed)(text) for text in (*lines(tokenizer, 2000, 9), *HARD, *random_texts(1000, 10))]
    packed = base64.b64encode(casing_of(tokenizer) or b"").decode()
    found = run_node("text.mjs", {"file": str(path), "casing": packed, "encode": texts})
    for text, tokens in zip(texts, found["encoded"], strict=True):
        assert tokens == told(tokenizer.encode(text).tokens), repr(text)


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_tokens_of_hard_texts(side: str, run_node: Callable[..., Any], chinese: Path) -> None:
    path = CHECKPOINTS / f"{side}.json"
    texts = [*HARD, *random_texts(200, 4)]
    check(run_node, path, chinese, texts, texts, 5)


@pytest.mark.slow
@pytest.mark.parametrize(("level", "language"), [("word", "de"), ("char", "de"), ("word", "zh"), ("char", "zh")])
def test_vocabularies_of_words_and_characters(
    level: Any, language: str, run_node: Callable[..., Any], chinese: Path, tmp_path: Path
) -> None:
    texts = [
        'Er sagte: "Guten Morgen, (liebe) Frau!"',
        "Das ist gut.",
        "今天天气很好，我们去公园。",
        "我们 use Python 3.",
    ]
    config = TextConfig(language, level=level, lowercase=level == "word")
    path = VocabularyTokenizer.train(texts * 3, config, 60).save(tmp_path, "src")
    check(run_node, path, chinese, [*texts, *HARD], [*texts, *HARD], 6)


@pytest.mark.slow
def test_chinese_words_are_jiebas(run_node: Callable[..., Any], chinese: Path, tmp_path: Path) -> None:
    """Words of sentences, and of characters at random, most of which the dictionary lacks."""
    draw = random.Random(7)
    common = [chr(code) for code in range(0x4E00, 0x9FFF)]
    texts = json.loads((ROOT / "assets" / "alignments" / "en-zh.json").read_text(encoding="utf-8"))
    texts = [each["tgt"] if isinstance(each["tgt"], str) else "".join(each["tgt"]) for each in texts["pairs"]]
    texts += ["".join(draw.choice(common) for _ in range(draw.randint(1, 300))) for _ in range(200)]
    config = TextConfig("zh", level="word", normalise="none")
    path = VocabularyTokenizer.train(texts, config, 50).save(tmp_path, "src")
    found = run_node("text.mjs", {"file": str(path), "chinese": str(chinese), "encode": texts})
    for text, tokens in zip(texts, found["encoded"], strict=True):
        assert [token[2] for token in tokens] == [list(span) for span in words(text, "zh")]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["treebank", "sentencepiece"])
def test_a_level_that_the_page_does_not_tokenize_is_refused_by_name(
    level: str, run_node: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "src.json"
    config = {"language": "de", "level": level, "normalise": "none", "prefix_space": True, "lowercase": False}
    path.write_text(json.dumps({"version": 1, "config": config, "pieces": []}), encoding="utf-8")
    assert f"level is '{level}'" in run_node("refusal_text.mjs", {"file": str(path)})
