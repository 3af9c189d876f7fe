"""The short list of hub models that a visitor may have fetched, and who sees it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from translator.errors import InputError
from translator.resources import resources
from translator.ui.forwarded import HOSTS

HUB = "TRANSLATOR_HUB"
"""Environment variable: ids of the list that visitors may choose, with spaces between; "all", or "none"."""
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
_PUBLIC = ("SPACE_ID", "FORWARDED_ALLOW_IPS", HOSTS)
"""Environment variables by which a page on loopback is not for its own machine alone: a proxy stands in front."""


@dataclass(frozen=True)
class Listed:
    """A model of the list; `size` is roughly what has to be fetched, in bytes."""

    id: str
    size: int
    licence: str
    languages: tuple[str, ...] = ()
    """Source and target; empty for one with many."""

    @property
    def name(self) -> str:
        """What the page calls it: its id without the owner."""
        return self.id.rsplit("/", 1)[1]


@cache
def shortlist() -> tuple[Listed, ...]:
    """Every model of `assets/hub.json`."""
    entries = json.loads((resources("assets") / "hub.json").read_text(encoding="utf-8"))
    return tuple(
        Listed(each["id"], each["megabytes"] * 10**6, each["licence"], tuple(each["languages"])) for each in entries
    )


def allowed(host: str, *, workers: int | None = 1, environ: Mapping[str, str] = os.environ) -> tuple[Listed, ...]:
    """What visitors of a page at `host` may choose: what $TRANSLATOR_HUB names; else all on loopback, none in public.

    Several workers share the memory of models that were loaded before them, so with them nothing is fetched.

    Raises:
        InputError: $TRANSLATOR_HUB names something that is not on the list, or several workers are to fetch.
    """
    named = environ.get(HUB, "").split()
    if not named:
        own = host in LOOPBACK and not any(environ.get(name, "").strip() for name in _PUBLIC)
        return shortlist() if own and workers == 1 else ()
    if named == ["none"]:
        return ()
    if workers != 1:
        raise InputError(f"{HUB} is set, but several workers fetch no models; serve with one, or set {HUB}=none")
    if named == ["all"]:
        return shortlist()
    known = {each.id: each for each in shortlist()}
    for name in named:
        if name not in known:
            raise InputError(f"{HUB} names {name!r:.80}; it may name {', '.join(known)}, or be all or none")
    return tuple(known[name] for name in dict.fromkeys(named))
