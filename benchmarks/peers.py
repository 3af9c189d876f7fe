"""Peers that nothing else needs: `make bench` puts them into folders of their own; what is not there has no row."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

PYTHON, BROWSER = Path("runs/peers/python"), Path("runs/peers/browser")


def installed(name: str) -> bool:
    """Whether a peer's package can be imported, from `PYTHON` too."""
    folder = str(PYTHON.resolve())
    if PYTHON.is_dir() and folder not in sys.path:
        sys.path.append(folder)  # last: what the project pins comes first
    return importlib.util.find_spec(name) is not None
