"""The keyword arguments of a translation, typed for editors and type checkers.

At run time they are ordinary keywords: whatever else is given is refused by `translator.request`, in words.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from translator.registry.decoding import LengthPenalty, Method

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack

if TYPE_CHECKING:
    from translator.model import Gates

__all__ = ["DecodeSettings", "Settings", "Unpack"]


class DecodeSettings(TypedDict, total=False):
    """The fields of `DecodeConfig`, each of which may be left to the checkpoint."""

    method: Method
    beam: int
    length_penalty: float
    penalty_kind: LengthPenalty
    coverage_penalty: float
    coverage_heads: tuple[tuple[int, int], ...] | None
    early_stopping: bool | Literal["never"]
    force_eos: bool
    first_id: int | None
    no_repeat_ngram_size: int
    spans_from_source: bool
    name_penalty: float
    temperature: float
    top_k: int
    top_p: float
    seed: int
    max_length: int | None
    candidates: int


class Settings(DecodeSettings, total=False):
    """What one sentence may be asked with besides.

    `prefix`: text, or ids, that the translation begins with. `stop`: asked before every step; True ends the work.
    `deadline`: seconds. `gates`: a factor for each head.
    """

    prefix: str | Sequence[int]
    stop: Callable[[], bool] | None
    deadline: float | None
    gates: Gates | None
