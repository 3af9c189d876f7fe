"""Fetch a checkpoint of the hub and convert it, as a process of its own that may be ended at any moment.

`python -m translator.checkpoints.fetch ID REVISION FOLDER` downloads into FOLDER/hub, converts the checkpoint beside it
as the command `convert` does (a pickle is read as weights only), and then writes FOLDER/said.json: the commit, or why
there is none.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from translator.errors import TranslatorError
from translator.files import write_whole

HUB, SAID = "hub", "said.json"


def called(repository: str, commit: str) -> str:
    """What a fetched checkpoint calls itself in traces, such as "opus-mt-de-en@0123456789ab"."""
    return f"{repository.rsplit('/', 1)[1]}@{commit[:12]}"


def fetch(repository: str, revision: str, folder: Path) -> str:
    """Fetch and convert; gives the commit, which is `revision` if that is one.

    Raises:
        CheckpointError: the hub cannot be reached, or what came is no checkpoint of a known layout.
    """
    from translator.checkpoints.convert import convert_snapshot
    from translator.checkpoints.hub import download

    found = download(repository, revision, pickles=True)
    convert_snapshot(found, folder / called(repository, found.name), f"{repository}@{found.name}")
    return found.name


def main(arguments: list[str]) -> int:
    """Fetch what the arguments name."""
    repository, revision, place = arguments
    folder = Path(place)
    try:
        said = {"commit": fetch(repository, revision, folder)}
    except (TranslatorError, OSError) as error:
        said = {"error": str(error)}
    write_whole(folder / SAID, json.dumps(said))
    return 0 if "commit" in said else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
