"""Text in another language than the page translates from: noticed, and never where it is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from translator.ui.foreign import looks_like

NEWCOMERS = Path(__file__).resolve().parents[2] / "assets" / "newcomers"
LANGUAGES = ("de", "en", "zh")


def lines(name: str) -> list[str]:
    return (NEWCOMERS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "own", "other"), [("de-en", "de", "en"), ("en-zh", "en", "de")])
def test_what_a_newcomer_types_is_noticed_under_the_other_direction_and_not_under_its_own(
    name: str, own: str, other: str
) -> None:
    typed = lines(name)
    assert [text for text in typed if looks_like(text, own, LANGUAGES)] == []
    several = [text for text in typed if len(text.split()) > 1]
    assert sum(looks_like(text, other, LANGUAGES) == own for text in several) >= 0.95 * len(several)


def test_chinese_is_told_by_its_script_and_little_text_is_left_alone() -> None:
    assert looks_like("我爱你", "en", LANGUAGES) == "zh"
    assert looks_like("我爱你", "zh", LANGUAGES) == "" == looks_like("我爱你", "en", ("de", "en"))
    for text in ("", "  ", "?!", "Berlin", "12 34", "OK 👍"):
        assert looks_like(text, "en", LANGUAGES) == ""
