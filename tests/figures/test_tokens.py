import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.sampling import temperature_curves
from translator.figures.tokens import subword_strip


def texts(fig):
    return [a.text for a in fig.layout.annotations if a.text]


def test_every_word_piece_and_id_stands_on_the_strip(make_trace):
    trace = make_trace()
    shown = texts(subword_strip(trace.src, trace.source, per_line=20))
    assert [t for t in shown if t == "Bücher"] == ["Bücher"]
    for token in trace.src:
        assert str(token.id) in shown
    assert shown.count("die") == 4 and "Bü" in shown and "cher" in shown


def test_a_long_sentence_takes_more_lines(make_trace):
    trace = make_trace()
    one, many = (subword_strip(trace.src, trace.source, per_line=n) for n in (20, 3))
    assert many.layout.height > one.layout.height
    xs, ys = many.data[0].x, many.data[0].y
    assert len({(x, y) for x, y in zip(xs, ys, strict=True)}) == len(trace.src) and max(xs) < 3


def test_pieces_are_never_markup(make_trace):
    trace = make_trace(source=(("<b>x</b>", 0), ("%{y}", 1)))
    fig = subword_strip(trace.src, trace.source)
    assert "<b>" not in str(texts(fig)) + str(fig.data[0].customdata)


def test_no_tokens_are_refused():
    with pytest.raises(InputError):
        subword_strip([], "")


def test_temperatures_are_drawn_side_by_side():
    probs = {0.5: np.array([0.9, 0.1]), 1.0: np.array([0.7, 0.3])}
    fig = temperature_curves(probs, ["a", "<b>"])
    assert [trace.name for trace in fig.data] == ["T = 0.5", "T = 1"]
    np.testing.assert_array_equal([trace.y for trace in fig.data], list(probs.values()))
    assert "<b>" not in str(fig.layout.xaxis.ticktext)
    with pytest.raises(InputError):
        temperature_curves(probs, ["a"])
