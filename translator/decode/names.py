"""Names that a beam search would rather copy from its source than leave out or translate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from translator.decode.copying import Spelling

PIECES = 2
"""Source tokens from which a name is one that the model may not know."""
TOGETHER = 3
"""Names of a source that count in full; more share what these count, or news would be nothing but attempts at them."""

_LETTERS = "A-Za-zÀ-ÖØ-öø-ÿ"
_NAME = re.compile(rf"(?<![{_LETTERS}0-9])[A-ZÀ-ÖØ-Þ][{_LETTERS}]+(?![{_LETTERS}0-9])")
_RUN = re.compile(f"[{_LETTERS}]+")


class Names:
    """What a hypothesis loses for names of one source that it does not hold as they stand there.

    Each counts `penalty` nats, in proportion to the letters that are still missing while one is being spelt: what is
    gained by a beginning is lost again where the name is not finished. Source: the biasing of Zhao et al. 2019,
    "Shallow-Fusion End-to-End Contextual Biasing", as a loss, so that nothing changes once all names are there.
    """

    def __init__(self, spelling: Spelling, names: Mapping[str, int], penalty: float) -> None:
        """`names`: each with how often the source has it."""
        self._spelling, self._names, self._penalty = spelling, names, penalty
        self._known: dict[tuple[str, tuple[int, ...]], tuple[tuple[int, float], ...]] = {}

    def missing(self, ids: Sequence[int]) -> float:
        """Nats that `ids` lose."""
        left, _, begun = self._state(ids)
        return self._penalty * (sum(left.values()) - begun)

    def unspelt(self, ids: Sequence[int]) -> float:
        """Nats that `ids` lose with a token that goes on with no name."""
        return self._penalty * sum(self._state(ids)[0].values())

    def gains(self, ids: Sequence[int]) -> tuple[tuple[int, float], ...]:
        """The ids that begin a missing name or go on with it, ascending, and the nats that each takes off `unspelt`."""
        left, tail, _ = self._state(ids)
        key = tail, tuple(left.values())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(sorted(self._gains(left, tail).items()))
        return found

    def _gains(self, left: Mapping[str, int], tail: str) -> dict[int, float]:
        found: dict[int, float] = {}
        for name in (name for name, count in left.items() if count):
            goes_on = bool(tail) and name.startswith(tail)
            at = len(tail) if goes_on else 0
            spaces = ("",) if goes_on else (" ",) if tail else ("", " ")
            for end in range(at + 1, len(name) + 1):
                gain = self._penalty * end / len(name)
                for id_ in (id_ for space in spaces for id_ in self._spelling.ids(space + name[at:end])):
                    found[id_] = max(gain, found.get(id_, 0.0))
        return found

    def _state(self, ids: Sequence[int]) -> tuple[dict[str, int], str, float]:
        """How often each name is missing in `ids`, the word that they end in, and the share of a name that it begins.

        The word may go on; it is "" where there is none.
        """
        text = "".join(self._spelling.texts[id_] for id_ in ids)
        left, tail, begun = dict(self._names), "", 0.0
        for run in _RUN.finditer(text):
            word = run.group()
            tail = word if run.end() == len(text) else ""
            if left.get(word):
                left[word] -= 1
            elif tail:
                begun = max(
                    (len(word) / len(n) for n, count in left.items() if count and n.startswith(word)), default=0
                )
        return left, tail, begun


def source_names(spelling: Spelling, text: str, pieces: Callable[[str], int], penalty: float) -> Names | None:
    """The capitalised words of a source `text` that have `PIECES` tokens or more; None where there are none.

    Args:
        pieces: counts the tokens of a word.
        penalty: nats for each that a translation does not have, up to `TOGETHER` of them.
    """
    counts = Counter(name for name in _NAME.findall(text) if penalty)
    names = {name: count for name, count in counts.items() if pieces(name) >= PIECES}
    return Names(spelling, names, penalty * min(1, TOGETHER / sum(names.values()))) if names else None
