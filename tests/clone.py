"""What a newcomer gets: the repository as it is committed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = (".git", ".venv", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "runs", "site", "dist")
"""Patterns of what a checkout holds beside its files."""


def clone(folder: Path) -> Path:
    """Put what is committed into a new folder; outside a repository, what is here."""
    if (ROOT / ".git").exists():
        subprocess.run(["git", "clone", "-q", "--depth=1", ROOT.as_uri(), str(folder)], check=True)
    else:
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*MADE))
    return folder
