import csv
import io

import numpy as np
import pytest

from translator.analysis.links import head_csv, inert, strongest
from translator.errors import InputError


def test_strongest_links_of_a_map_and_of_a_row():
    weights = np.array([[0.1, 0.9, 0.0], [0.9, 0.05, 0.05]])
    links = strongest(weights, ["a", "b"], ["x", "y", "x"], count=3)
    assert [(k.query, k.key, k.weight) for k in links] == [(0, 1, 0.9), (1, 0, 0.9), (0, 0, 0.1)]
    assert [(k.query_text, k.key_text) for k in strongest(weights, ["a", "b"], ["x", "y", "x"], row=1)] == [
        ("b", "x"),
        ("b", "y"),
        ("b", "x"),
    ]
    with pytest.raises(InputError, match="row is 2"):
        strongest(weights, ["a", "b"], ["x", "y", "x"], row=2)
    with pytest.raises(InputError, match="count is -1"):
        strongest(weights, ["a", "b"], ["x", "y", "x"], count=-1)
    with pytest.raises(InputError, match="does not fit"):
        strongest(weights, ["a"], ["x", "y", "x"])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_csv_gives_back_every_weight_and_token(make_trace, kind):
    trace = make_trace(9)
    rows = list(csv.reader(io.StringIO(head_csv(trace, kind, 1, 2), newline="")))
    first = 1 if kind == "encoder" else 2
    assert rows[0][first:] == [token.surface for token in trace.keys(kind)]
    assert [row[0] for row in rows[1:]] == [token.surface for token in trace.queries(kind)]
    if first == 2:
        assert [row[1] for row in rows[1:]] == [token.surface for token in trace.tgt]
    numbers = np.array([[float(cell) for cell in row[first:]] for row in rows[1:]])
    np.testing.assert_array_equal(numbers, trace.weights(kind)[1, 2].astype(np.float64))


def test_csv_runs_no_formula_and_keeps_quotes_and_line_breaks(make_trace):
    nasty = ['=HYPERLINK("x")', "+1", "-1", "@SUM(A1)", "\tq", " =1", 'say "so"', "two\nlines", "a,b"]
    trace = make_trace(source=tuple((text, i) for i, text in enumerate(nasty)))
    rows = list(csv.reader(io.StringIO(head_csv(trace, "encoder", 0, 0), newline="")))
    assert [row[0] for row in rows[1:-1]] == ["'" + text for text in nasty[:6]] + nasty[6:]
    assert inert("") == "" and inert("plain") == "plain" and inert("＝1") == "'＝1"


def test_csv_names_what_does_not_exist(make_trace):
    for args, words in ((("encoder", 3, 0), "layer is 3"), (("cross", 0, -1), "head is -1"), (("x", 0, 0), "kind")):
        with pytest.raises(InputError, match=words):
            head_csv(make_trace(), *args)
