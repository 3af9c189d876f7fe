"""Which addresses of the page may be read at all."""

from __future__ import annotations

import re

_READ = re.compile(
    r"/(config/?|live/.+|theme\.css|robots\.txt|favicon\.ico|manifest\.json|pwa_icon(/\d+)?|(static|assets|svelte)/.+"
    r"|gradio_api/(info/?|openapi\.json|app_id/?|startup-events|theme\.css|queue/(data|status)"
    r"|file=(?![a-z][a-z0-9+.-]+:).+|call/(v2/)?\w+/[\w-]{1,64}))?",
    re.IGNORECASE,
)
NAME, PATH = 255, 2048
"""Bytes of a name in a path, and of a path: no system holds a file of a longer one."""


def readable(path: str) -> bool:
    """Whether the page has something there, or Gradio may look for a file of that name."""
    encoded = path.encode("utf-8", "surrogatepass")
    short = len(encoded) <= PATH and max(map(len, encoded.split(b"/"))) <= NAME
    return short and _READ.fullmatch(path) is not None
