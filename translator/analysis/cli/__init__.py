"""The commands `lab`, `profile`, `align-bench`, `arena`, `index` and `omission-bench`; heavy imports are deferred."""

from __future__ import annotations

import argparse

from translator.analysis.cli import belief, corpora, decoding, heads, measure, why
from translator.analysis.cli.view import add_views


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    command = commands.add_parser("lab", help="analyse what the heads do: ablate, force, edit, attribute, compare")
    add_views(command, {**heads.VIEWS, **decoding.VIEWS, **why.VIEWS, **belief.VIEWS})
    corpora.add_commands(commands)
    measure.add_commands(commands)
