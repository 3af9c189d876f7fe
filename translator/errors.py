"""The errors that a caller may meet: one tree, each message names the value and the remedy.

    TranslatorError
    ├── InputError (also a ValueError)   change what was asked
    ├── CheckpointError                  mend or replace the files
    ├── BusyError                        ask again later, or for less
    └── CancelledError                   nothing: the caller wanted it

Whatever else reaches a caller is a defect of this package. The command line exits with 2 for all of them, the page
shows the message.
"""

from __future__ import annotations


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
