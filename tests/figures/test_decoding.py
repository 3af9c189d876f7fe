import dataclasses
import html
import math

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.decoding import OTHERS, beam_tree, candidates, token_confidence
from translator.figures.style import LIGHT
from translator.trace import Beam


@pytest.fixture
def trace(make_trace):
    return make_trace(13, target=(("<b>", 0), ("a", 1)))


def test_candidates_are_probabilities_and_the_rest(trace):
    figure = candidates(trace.steps[0])
    bars = figure.data[0]
    probs = [math.exp(c.log_prob) for c in trace.steps[0].candidates]
    assert list(bars.x) == pytest.approx([*probs, 1 - sum(probs)])
    assert [html.unescape(text) for text in figure.layout.yaxis.ticktext] == [
        "<b>",
        *(f"other{n}" for n in range(7)),
        OTHERS,
    ]
    assert figure.layout.yaxis.ticktext[0] == bars.customdata[0] == "&lt;b&gt;"
    assert [colour == LIGHT.here for colour in bars.marker.color] == [True, *[False] * 8]
    assert list(figure.layout.xaxis.range) == [0, 1]


def test_confidence_is_each_tokens_probability_and_entropy(trace):
    bars, line = token_confidence(trace).data
    assert list(bars.y) == pytest.approx([math.exp(step.log_prob) for step in trace.steps])
    assert list(line.y) == [step.entropy for step in trace.steps]
    assert token_confidence(trace).layout.xaxis.ticktext == ("&lt;b&gt;", "a", "&lt;/s&gt;")


def searched(trace):
    beams = [
        (Beam((5,), -1.0, -1.0, 0, False), Beam((6,), -1.5, -1.5, 0, False)),
        (Beam((5, 7), -2.0, -1.4, 0, False), Beam((6, 8), -2.1, -1.3, 1, False), Beam((5, 2), -3.0, -2.0, 0, True)),
        (Beam((5, 7, 9), -3.2, -1.6, 0, False), Beam((6, 8, 2), -2.5, -1.2, 1, True)),
    ]
    return [dataclasses.replace(step, beams=b) for step, b in zip(trace.steps, beams, strict=True)]


def test_the_tree_joins_every_hypothesis_to_its_parent(trace):
    steps = searched(trace)
    others, leading, nodes = beam_tree(steps, lambda i: f"<{i}>", winner=(6, 8, 2)).data
    ends = {}
    for line in (others, leading):
        for i in range(0, len(line.x), 3):
            assert line.x[i + 1] == line.x[i] + 1 and line.x[i + 2] is None
            ends.setdefault(line.name, []).append((line.x[i], line.y[i], line.x[i + 1], line.y[i + 1]))
    assert ends["winner"] == [(-1, 0, 0, 1), (0, 1, 1, 0), (1, 0, 2, 0)]
    assert sorted(ends["others"]) == [(-1, 0, 0, 0), (0, 0, 1, 1), (0, 0, 1, 2), (1, 1, 2, 1)]
    assert len(nodes.x) == 7
    for x, y, text, data in zip(nodes.x, nodes.y, nodes.text, nodes.customdata, strict=True):
        ranked = sorted(steps[x].beams, key=lambda beam: -beam.normalised)
        assert text == f"&lt;{ranked[y].ids[-1]}&gt;"
        assert (data[1], data[2]) == (ranked[y].score, ranked[y].normalised)
        assert html.unescape(data[0]) == " ".join(f"<{i}>" for i in ranked[y].ids)
    assert np.array(nodes.marker.symbol).tolist().count("square") == 2


def test_the_bold_path_leads_to_the_winner_though_others_went_on_longer(trace):
    steps = searched(trace)
    _, leading, nodes = beam_tree(steps, str, winner=(5, 2)).data
    assert [leading.x[i : i + 2] for i in range(0, len(leading.x), 3)] == [(-1, 0), (0, 1)]
    bold = [n for n, colour in enumerate(nodes.marker.color) if colour == nodes.marker.color[0]]
    assert [nodes.customdata[n][0] for n in bold] == ["5", "5 2"]
    with pytest.raises(InputError, match=r"no hypothesis is the winner \[9\]"):
        beam_tree(steps, str, winner=(9,))


def test_a_tree_needs_beams_with_parents(trace):
    with pytest.raises(InputError, match="method beam"):
        beam_tree(trace.steps, str, winner=(5,))
    steps = searched(trace)
    steps[1] = dataclasses.replace(steps[1], beams=(Beam((1,), 0.0, 0.0, 9, False),) * 2)
    with pytest.raises(InputError, match="parent 9"):
        beam_tree(steps, str, winner=(6, 8, 2))
