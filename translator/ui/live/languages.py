"""What the installed py3langid knows of a few languages in one file, for their detection in a browser."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from translator.ui.foreign import languages_of

CHUNK = 1024
"""States of the automaton whose transitions are looked at together."""


def told_apart(languages: Iterable[str], names: Iterable[str]) -> bytes | None:
    """The file for a page with the directions `names` from `languages`, if there is more than one language to tell.

    None without the package, which comes with the page that is served: then no page notices another language.
    """
    every = sorted({*languages, *languages_of(names)} - {"und"})
    return languages_file(tuple(every)) if len(every) > 1 and find_spec("py3langid") else None


@cache
def languages_file(languages: tuple[str, ...]) -> bytes:
    """All that telling these languages apart takes, as gzipped JSON of about 250 KB; `languages.ts` says what is in it.

    The same version of the package gives the same bytes.
    """
    text = json.dumps(_languages(languages), separators=(",", ":"))
    return gzip.compress(text.encode(), 9, mtime=0)


def _languages(languages: Sequence[str]) -> dict[str, Any]:
    """The byte sequences that py3langid counts, shortest first, and their log-probabilities in each language."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    found = _sequences(identifier)
    order = sorted(range(len(found)), key=lambda feature: (len(found[feature]), found[feature]))
    identifier.set_languages([each for each in languages if each in identifier.labels])
    sequences = [found[feature] for feature in order]
    shared = [0, *(_shared(*pair) for pair in pairwise(sequences))]
    scores = identifier.nb_ptc[order].T.astype("<f4")
    return {
        "languages": identifier.nb_classes,
        "prior": identifier.nb_pc.tolist(),
        "counts": np.bincount([len(each) for each in sequences]).tolist(),
        "shared": "".join(map(str, shared)),
        "rest": _base64(b"".join(each[n:] for each, n in zip(sequences, shared, strict=True))),
        "scores": _base64(scores.tobytes()),
    }


def _sequences(identifier: Any) -> list[bytes]:
    """The sequence of each feature: the bytes on the shortest way to a state of the automaton that counts it.

    A state stands for the end of the text read so far and counts the longest sequence that this ends with.
    """
    moves = np.asarray(identifier.tk_nextmove).reshape(-1, 256)
    rows, output = np.asarray(identifier.tk_row), identifier.tk_output
    ways, found = {0: b""}, dict[int, bytes]()
    known = np.zeros(len(rows), dtype=bool)
    known[0] = True
    front = [0]
    while front:
        reached: list[int] = []
        for at in range(0, len(front), CHUNK):
            states = front[at : at + CHUNK]
            targets = moves[rows[states]].ravel()
            places = np.flatnonzero(~known[targets])
            fresh, first = np.unique(targets[places], return_index=True)
            known[fresh] = True
            for state, place in zip(fresh.tolist(), places[first].tolist(), strict=True):
                ways[state] = ways[states[place // 256]] + bytes([place % 256])
                if output[state] >= 0:
                    found.setdefault(output[state], ways[state])
            reached += fresh.tolist()
        front = reached
    return [found[feature] for feature in range(len(found))]


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two sequences of one length begin with alike; of two lengths none."""
    if len(one) != len(other):
        return 0
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
