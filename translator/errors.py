"""The exception tree; each message names the value and the remedy.

    TranslatorError
    ├── InputError (also a ValueError)   change what was asked
    ├── CheckpointError                  mend or replace the files
    ├── BusyError                        ask again later, or for less
    └── CancelledError                   nothing: the caller wanted it

Whatever else reaches a caller is a defect of this package. The command line exits with 2 for all of them, the page
shows the message.
"""

from __future__ import annotations

EXTRAS = {
    "anywidget": "notebook",
    "brotli": "page",
    "filelock": "train",
    "gradio": "page",
    "huggingface_hub": "hub",
    "markdown_it": "page",
    "mcp": "mcp",
    "nltk": "legacy",
    "numba": "fast",
    "orjson": "page",
    "plotly": "figures",
    "pyarrow": "ray",
    "ray": "ray",
    "sacrebleu": "train",
    "sacremoses": "transformers",
    "scipy": "figures",
    "sentencepiece": "transformers",
    "starlette": "page",
    "tensorboard": "train",
    "tqdm": "train",
    "transformers": "adapt",
    "uvicorn": "page",
}
"""Packages that only a part of this one needs, by the name they are imported by, and the extra that brings each."""


class TranslatorError(Exception):
    """Anything this package refuses or fails at, with a message written for a person."""


class InputError(TranslatorError, ValueError):
    """What was asked for cannot be done: blank or over-long text, an unknown direction, a bad setting."""


class CheckpointError(TranslatorError):
    """A checkpoint is missing, damaged, or its files do not fit each other."""


class BusyError(TranslatorError):
    """The model is serving others and the queue is full, or the deadline passed."""


class CancelledError(TranslatorError):
    """Decoding was stopped between two steps because the caller asked for it."""


def visible(text: str) -> str:
    """`text` as it can be written to a terminal: what would steer it (escape, a change of direction) stands as "\\x1b".

    A message may name what a stranger's file holds. Line feeds stay.
    """
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


def missing(package: str) -> str:
    """The sentence that says that a package of `EXTRAS` is not installed, and how to get it."""
    return f"this needs the package {package}: pip install 'attention-explorer[{EXTRAS[package]}]'"
