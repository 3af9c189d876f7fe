"""Version, changelog and tags tell of the same release."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

import translator

ROOT = Path(__file__).parents[1]


def released() -> list[str]:
    """The versions in the changelog, newest first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("## [Unreleased]") < text.index("## [0.1.0] - "), "what is not released stands first"
    return re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", text, re.MULTILINE)


def test_the_version_is_the_newest_of_the_changelog() -> None:
    versions = released()
    assert translator.__version__ == versions[0]
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    assert numbers == sorted(set(numbers), reverse=True)


def test_every_tag_has_its_section() -> None:
    """Outside a checkout, or in a shallow one, there are no tags to compare."""
    listed = subprocess.run(["git", "tag", "--list", "v*"], cwd=ROOT, capture_output=True, text=True, check=False)
    tags = {tag.removeprefix("v") for tag in listed.stdout.split()}
    assert tags <= set(released())


def test_a_citation_names_this_release() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["version"] == translator.__version__ and told["license"] == "Apache-2.0"
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{told['version']}] - {told['date-released']}" in text
    assert {"cff-version", "message", "title", "authors", "type"} <= told.keys()
