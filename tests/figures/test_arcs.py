from functools import partial

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.arcs import LEAST, LEVELS, attention_arcs, head_colours, one_word_all_heads, two_heads_one_word
from translator.figures.style import LIGHT


@pytest.fixture
def trace(make_trace):
    return make_trace(12)


def names(trace):
    return [t.surface for t in trace.reads], [t.surface for t in trace.src]


def links(figure, group):
    """The (query, key) of every line of a head with the weight that its level stands for."""
    found = {}
    for line in figure.data:
        if line.mode == "lines" and line.legendgroup == group and line.meta is not None:
            ends = np.flatnonzero(np.isnan(np.asarray(line.y, dtype=float)))
            starts = np.concatenate([[0], ends[:-1] + 1])
            for start, end in zip(starts, ends, strict=True):
                assert line.x[start] == 0 and line.x[end - 1] == 1
                found[int(line.y[start]), int(line.y[end - 1])] = line.meta
    return found


@pytest.mark.slow
def test_every_link_is_drawn_once_with_its_weight(trace):
    weights = trace.cross[0, 0]
    found = links(attention_arcs(weights[None], *names(trace)), "·")
    assert set(found) == {(q, k) for q, k in np.ndindex(weights.shape) if weights[q, k] >= LEAST}
    for (q, k), level in found.items():
        assert 0 <= level - weights[q, k] <= 1 / LEVELS + 1e-6


def test_one_word_shows_its_links_alone_in_every_head(trace):
    figure = one_word_all_heads(trace.cross[1], *names(trace), row=3)
    for head in range(4):
        want = {(3, int(k)) for k in np.flatnonzero(trace.cross[1, head, 3] >= LEAST)}
        assert set(links(figure, f"H{head + 1}")) == want
    assert [line.name for line in figure.data if line.name] == ["H1", "H2", "H3", "H4"]
    words = figure.data[-2]
    assert words.text[0] == "&lt;s&gt;" and [c == LIGHT.here for c in words.textfont.color].index(True) == 3


def test_two_heads_are_those_that_were_asked_for(trace):
    figure = two_heads_one_word(trace.cross[2], *names(trace), heads=(3, 1), row=2)
    for name, head in (("H4", 3), ("H2", 1)):
        assert set(links(figure, name)) == {(2, int(k)) for k in np.flatnonzero(trace.cross[2, head, 2] >= LEAST)}
    assert len({line.line.color for line in figure.data if line.name}) == 2


def test_what_does_not_exist_is_named(trace):
    with pytest.raises(InputError, match="row is 8"):
        one_word_all_heads(trace.cross[0], *names(trace), row=8)
    for row in (1.0, True, None, "1"):
        for picture in (one_word_all_heads, partial(two_heads_one_word, heads=(0, 1))):
            with pytest.raises(InputError, match=f"row is {row!r}"):
                picture(trace.cross[0], *names(trace), row=row)
    with pytest.raises(InputError, match="head is True"):
        two_heads_one_word(trace.cross[0], *names(trace), heads=(0, True), row=0)
    with pytest.raises(InputError, match="head is 4"):
        two_heads_one_word(trace.cross[0], *names(trace), heads=(0, 4), row=0)
    with pytest.raises(InputError, match="do not fit"):
        attention_arcs(trace.cross[0], *names(trace))


def test_heads_have_different_colours():
    assert len(set(head_colours(16, "dark"))) == 16 and head_colours(1, "light") == ["27,28,31"]
