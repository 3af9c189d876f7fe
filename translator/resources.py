"""Paths of assets and checkpoints, in a checkout or an installed package."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_INSTALLED = PACKAGE / "data"
"""What pyproject.toml puts `assets/` and `checkpoints/` under in a wheel."""


def is_installed() -> bool:
    """Whether this is a wheel's copy of the package, and no checkout."""
    return _INSTALLED.is_dir()


def resources(name: str) -> Path:
    """The folder `assets` or `checkpoints` that came with this package."""
    return (_INSTALLED if is_installed() else PACKAGE.parent) / name
