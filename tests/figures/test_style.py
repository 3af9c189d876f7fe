"""Colours stand in one file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from translator.figures import style

ROOT = Path(__file__).parents[2]
SOURCES = {"web/src": ("ts", "css", "html"), "translator": ("py",)}
COLOUR = re.compile(
    r"(?<![\w&/-])#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})(?![\w-])|\b(?:rgb|hsl)a?\([\d., %/]+\)", re.I
)
PAPER = {"#ffffff", "#fff", "#000000", "rgba(0,0,0,0)"}
"""White and black as such: the ground of a picture, what is read on any colour, nothing at all."""
SHADOW = re.compile(r"rgb\(0 0 0 / [\d.]+%?\)")


@pytest.mark.slow
def test_no_colour_stands_outside_of_the_tokens() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {colour}"
        for folder, endings in SOURCES.items()
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix[1:] in endings and ".test." not in path.name and "static" not in path.parts
        for colour in COLOUR.findall(path.read_text(encoding="utf-8"))
        if colour not in PAPER and not SHADOW.fullmatch(colour)
    ]
    assert found == []


def test_the_styles_variables_are_those_that_the_figures_read() -> None:
    """The built sheet sets each colour of both themes as `translator.figures.style` has it."""
    sheet = (ROOT / "translator" / "ui" / "static" / "explorer.css").read_text(encoding="utf-8")
    for colours in style._TOKENS["colours"].values():
        for name, colour in colours.items():
            short = "#" + colour[1::2] if colour[1::2] == colour[2::2] else colour
            assert re.search(rf"--{name}: ?(?:{colour}|{short})\b", sheet), (name, colour)
