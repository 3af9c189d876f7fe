"""Where the source of the page that runs can be read, as its host says."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from translator.errors import InputError

SOURCE = "TRANSLATOR_SOURCE"
_ADDRESS = re.compile(r"https?://[^\s<>\"'()\\{}]+")
_SPACE = re.compile(r"[\w.-]+/[\w.-]+")


def source_address(environ: Mapping[str, str] = os.environ) -> str:
    """The address of the source: $TRANSLATOR_SOURCE, on a Space its files, or "" where none is known.

    Raises:
        InputError: $TRANSLATOR_SOURCE is no address of the web.
    """
    said = environ.get(SOURCE, "").strip()
    if said and not _ADDRESS.fullmatch(said):
        raise InputError(f"{SOURCE} is {said!r}; give an address that begins with https:// or http://")
    space = environ.get("SPACE_ID", "")
    return said or (f"https://huggingface.co/spaces/{space}/tree/main" if _SPACE.fullmatch(space) else "")
