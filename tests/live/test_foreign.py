"""Another language than the page's is noticed in a browser where Python notices it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from translator.ui.foreign import foreign
from translator.ui.live.languages import told_apart

ROOT = Path(__file__).parents[2]
NEWCOMERS = ROOT / "assets" / "newcomers"
ODD = (
    "", " ", "?!", "12 34", "OK 👍", "Berlin", "我爱你", "我爱你 very much indeed", "Ich liebe 你",
    "WO IST DER BAHNHOF?", "WHERE IS THE STATION?", "Straße straße", "e\u0301te\u0301 ou\u0300", "ein\x1czwei",
    "Привет, как дела?", "日本語です", "\ufeffwas ist\ufeff", "Das ist a test this is", "ǅ ǅ ǅ ǅ", "𠮷野家",
)  # fmt: skip
PAGES = (
    (("de-en", "en-zh"), "de"),
    (("de-en", "en-zh"), "en"),
    (("de-en", "en-zh", "zh-en"), "en"),
    (("de-en",), "de"),
    (("mine", "sr-hr", "en-fr"), "hr"),
    (("de-en", "xx-de"), "de"),
    (("de-en",), "und"),
    (("mine",), "de"),
)


def texts() -> list[str]:
    """What newcomers type, whole and cut anywhere, and odd things."""
    draw = random.Random(5)
    files = sorted(NEWCOMERS.glob("*.txt"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line]
    cut = [line[draw.randrange(len(line)) :][: draw.randint(1, 30)] for line in lines]
    mixed = [f"{draw.choice(lines)} {draw.choice(lines)}" for _ in range(50)]
    return [*lines, *cut, *mixed, *ODD]


@pytest.mark.slow
@pytest.mark.parametrize(("names", "language"), PAGES)
def test_the_page_says_of_a_text_what_python_says(
    names: tuple[str, ...], language: str, run_node: Callable[..., Any], tmp_path: Path
) -> None:
    typed, file = texts(), tmp_path / "languages.json.gz"
    known = told_apart([language], names)
    file.write_bytes(known or told_apart(["de", "en"], ()) or b"")
    task = {"file": str(file), "names": names, "language": language, "texts": typed}
    expected = [foreign(names, language, text) for text in typed]
    assert run_node("foreign.mjs", task) == expected
    assert len({str(each) for each in expected}) > 1 or language == "und" or names == ("mine",)
