"""`python -m translator.ui.assets`: rebuild the stored example traces (`make assets`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from translator.errors import TranslatorError
from translator.ui import frontend
from translator.ui.models import DIRECTIONS
from translator.ui.session import payload_of

if TYPE_CHECKING:
    from translator.pipeline import Translator

Load = Callable[[str], "Translator"]


def make_examples(load: Load, directions: tuple[str, ...] = DIRECTIONS, folder: Path = frontend.EXAMPLES) -> list[Path]:
    """Translate every example sentence as its checkpoint is decoded best, and write what the page opens with.

    The same checkpoint gives the same files: the time that decoding took is not written.

    Args:
        load: gives the model of a direction.
    Returns:
        the files that were written, one an example.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / frontend.TRANSLATIONS.name
    known = {example["id"] for example in frontend.all_examples()}
    told = json.loads(listing.read_text(encoding="utf-8")) if listing.is_file() else {}
    written = []
    for direction in directions:
        model = load(direction)
        for example in (each for each in frontend.all_examples() if each["direction"] == direction):
            trace = model.translate(example["text"])
            payload = {**payload_of(model, trace), "seconds": None}
            path = folder / f"{example['id']}.json"
            path.write_text(json.dumps(payload, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
            told[example["id"]] = trace.translation
            written.append(path)
    ordered = {id_: told[id_] for id_ in sorted(known & told.keys())}
    listing.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return written


def wrong_examples(folder: Path = frontend.EXAMPLES) -> list[str]:
    """The examples whose stored translation lacks what they want, each as "id: translation"."""
    told = json.loads((folder / frontend.TRANSLATIONS.name).read_text(encoding="utf-8"))
    return [
        f"{example['id']}: {told[example['id']]}"
        for example in frontend.all_examples()
        if example["id"] in told and not frontend.right(example, told[example["id"]])
    ]


def stale_examples(digest: Callable[[str], str], folder: Path = frontend.EXAMPLES) -> list[str]:
    """The examples that are missing, or were made by other weights than those that are there now.

    Args:
        digest: gives the SHA-256 of a direction's weight file.
    """
    stale = []
    for example in frontend.all_examples():
        stored = frontend.stored_example(example["id"], folder)
        if stored is None or stored["checkpoint"]["sha256"] != digest(example["direction"]):
            stale.append(example["id"])
    return stale


def main() -> int:
    """Make the examples of every direction whose checkpoint is there; say what was made."""
    from translator.pipeline import load

    failed = 0
    for direction in DIRECTIONS:
        try:
            for path in make_examples(load, (direction,)):
                print(path)
        except TranslatorError as error:
            print(f"{direction}: {error}", file=sys.stderr)
            failed = 2
    for wrong in wrong_examples():
        print(
            f"not shown, or shown as a weakness, since the translation is not what is wanted: {wrong}", file=sys.stderr
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
