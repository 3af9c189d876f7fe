"""Sections of a model card that are measured later, each between its own markers."""

from __future__ import annotations


def with_section(card: str, name: str, section: str) -> str:
    """`card`, Markdown, with its section `name` replaced, or added at the end."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    block = f"{begin}\n{section}\n{end}"
    before, found, rest = card.partition(begin)
    if found and end in rest:
        return before + block + rest.partition(end)[2]
    return f"{card.rstrip()}\n\n{block}\n"
