"""What the project says of itself, and what strangers write about their checkpoints, which is shown as text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from translator import Translator
from translator.errors import CheckpointError, InputError
from translator.ui.about_tab import about, model_card
from translator.ui.source import source_address

ROOT = Path(__file__).parents[2]
HARMLESS = {
    "h1",
    "h2",
    "p",
    "em",
    "strong",
    "code",
    "pre",
    "a",
    "ul",
    "li",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
}
CARD = """---
license: mit
---

# A card

<img src="https://evil.example/x.png" onerror="alert(1)"> and <form action="https://evil.example"><input></form>

![picture](https://evil.example/y.png) <a href="javascript:alert(2)">here</a> [there](javascript:alert(3)) [ok](https://ok.example)

<script>alert(4)</script>

<!-- heads -->

| a | b |
| --- | --- |
| **1** | `<s>` |
"""


class Elements(HTMLParser):
    """Names and attributes of all that a browser would make of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str | None] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]


def behind(card: str, tiny: Translator) -> Any:
    model = Translator(replace(tiny.bundle, card=card))
    return SimpleNamespace(ask=lambda _, question: question(model))


def test_markup_in_a_card_is_text_and_nothing_is_fetched_or_sent(tiny: Translator) -> None:
    shown = model_card(behind(CARD, tiny), "tiny")
    found = Elements(shown)
    assert found.names <= HARMLESS and found.attributes <= {"href", "style"}
    assert all(link.startswith("https://") for link in found.links if link) and "https://ok.example" in found.links
    assert {"h1", "table", "strong", "code"} <= found.names and "&lt;form" in shown
    assert "license" not in shown and "heads" not in shown


@pytest.mark.parametrize("said", ["no checkpoint <img src=x>"])
def test_why_there_is_no_card_is_text_too(said: str) -> None:
    def fail(*_: Any) -> None:
        raise CheckpointError(said)

    assert not Elements(model_card(SimpleNamespace(ask=fail), "tiny")).names - {"p"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, ""),
        ({"TRANSLATOR_SOURCE": " https://code.example/explorer "}, "https://code.example/explorer"),
        ({"TRANSLATOR_SOURCE": "http://10.0.0.7/explorer"}, "http://10.0.0.7/explorer"),
        ({"SPACE_ID": "owner/explorer"}, "https://huggingface.co/spaces/owner/explorer/tree/main"),
        ({"SPACE_ID": "owner/explorer", "TRANSLATOR_SOURCE": "https://code.example"}, "https://code.example"),
        ({"SPACE_ID": "owner/../explorer"}, ""),
    ],
)
def test_the_source_is_where_the_host_says(environment: dict[str, str], address: str) -> None:
    assert source_address(environment) == address


@pytest.mark.parametrize("said", ["code.example", "javascript:alert(1)", "https://a> <b", "ftp://a.example"])
def test_a_source_that_is_no_address_is_refused(said: str) -> None:
    with pytest.raises(
        InputError, match=r"TRANSLATOR_SOURCE is .*; give an address that begins with https:// or http://"
    ):
        source_address({"TRANSLATOR_SOURCE": said})


@pytest.mark.parametrize("language", ["en", "de", "zh"])
@pytest.mark.parametrize("source", ["", "https://code.example/explorer"])
def test_about_tells_how_to_cite_as_the_citation_file_does(language: str, source: str) -> None:
    told, text = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")), about(language, source)
    fields = dict(re.findall(r"^  (\w+) += \{+([^{}]+)\}+,?$", text, re.MULTILINE))
    assert fields.pop("url", "") == source
    assert fields == {
        "author": told["authors"][0]["name"],
        "title": told["title"],
        "version": told["version"],
        "year": str(told["date-released"].year),
        "license": told["license"],
    }
    assert (f"<{source}>" in text and "url" in text) if source else not re.search("<|url", text)
    assert not re.search("VERSION|SOURCE", text) and text.count("](https://") >= 9
