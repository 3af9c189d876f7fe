import html

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.sampling import temperature_curves
from translator.figures.tokens import subword_strip


def texts(fig):
    return [a.text for a in fig.layout.annotations if a.text]


@pytest.mark.slow
def test_every_word_piece_and_id_stands_on_the_strip(make_trace):
    trace = make_trace()
    shown = texts(subword_strip(trace.src, trace.source, line=200))
    assert [t for t in shown if t == "Bücher"] == ["Bücher"]
    for token in trace.src:
        assert str(token.id) in shown
    assert shown.count("die") == 4 and "Bü" in shown and "cher" in shown


@pytest.mark.slow
def test_a_long_sentence_takes_more_lines(make_trace):
    trace = make_trace()
    one, many = (subword_strip(trace.src, trace.source, line=n) for n in (200, 20))
    assert many.layout.height > one.layout.height
    xs, ys = many.data[0].x, many.data[0].y
    assert len({(x, y) for x, y in zip(xs, ys, strict=True)}) == len(trace.src) and max(xs) < 20


@pytest.mark.slow
def test_no_text_is_wider_than_its_box(make_trace):
    """Also of a word in one long piece and of Chinese, whose letters are twice as wide."""
    trace = make_trace(source=(("internationalisation", 0), ("图书馆里的书", 1), ("a", 2)))
    fig = subword_strip(trace.src, trace.source)
    for note in fig.layout.annotations:
        half = sum(2 if ord(letter) > 0x2E80 else 1 for letter in html.unescape(note.text)) / 2
        around = [box for box in fig.layout.shapes if box.y0 <= note.y <= box.y1] or fig.layout.shapes
        assert any(box.x0 <= note.x - half and note.x + half <= box.x1 for box in around), note.text


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
