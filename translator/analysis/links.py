"""A map's strongest links, and a CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from translator.errors import InputError
from translator.rules import whole
from translator.trace import Trace

MANY = 10**6
FORMULA_STARTS = "=+-@\t\r\n＝＋－＠"


@dataclass(frozen=True)
class Link:
    """One weight of a map: the query row and the key column (counted from 0), their tokens, the weight."""

    query: int
    key: int
    query_text: str
    key_text: str
    weight: float


def strongest(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    count: int = 5,
    row: int | None = None,
) -> tuple[Link, ...]:
    """The `count` largest weights of a map [Q, K], or of its one `row`, largest first; ties in reading order.

    Raises:
        InputError: the map does not fit the tokens, it has no such row, or the count is below 0.
    """
    if weights.shape != (len(queries), len(keys)):
        raise InputError(f"a map of {weights.shape} does not fit {len(queries)} queries and {len(keys)} keys")
    count = whole("count", count, 0, MANY)
    rows = range(len(queries)) if row is None else (whole("row", row, 0, len(queries) - 1),)
    flat = weights[list(rows)].ravel()
    order = np.argsort(-flat, kind="stable")[:count]
    places = ((rows[int(i) // len(keys)], int(i) % len(keys)) for i in order)
    return tuple(Link(q, k, queries[q], keys[k], float(weights[q, k])) for q, k in places)


def head_csv(trace: Trace, kind: str, layer: int, head: int) -> str:
    """One head as CSV: a row for each query, a column for each key, weights exact to the last digit.

    The first column is the token the row reads; for the decoder and cross-attention the second is the
    token it predicts. A cell that a spreadsheet would take for a formula begins with an apostrophe.

    Raises:
        InputError: there is no such kind, layer or head.
    """
    weights = trace.weights(kind)
    place = whole("layer", layer, 0, weights.shape[0] - 1), whole("head", head, 0, weights.shape[1] - 1)
    predicts = kind != "encoder"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    names = ["query (reads)", "predicts"] if predicts else ["query (reads)"]
    writer.writerow([*names, *(inert(token.surface) for token in trace.keys(kind))])
    for index, token in enumerate(trace.queries(kind)):
        words = [token.surface, trace.tgt[index].surface] if predicts else [token.surface]
        numbers = [repr(float(weight)) for weight in weights[place][index]]
        writer.writerow([*map(inert, words), *numbers])
    return out.getvalue()


def inert(text: str) -> str:
    """`text` as a CSV cell that no spreadsheet runs: an apostrophe goes before what could begin a formula.

    Source: OWASP, "CSV Injection".
    """
    first = text.lstrip(" \u00a0\u3000\ufeff\u200b")[:1] or text[:1]
    return "'" + text if first and first in FORMULA_STARTS else text
