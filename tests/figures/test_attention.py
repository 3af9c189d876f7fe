import html

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.attention import attention_heatmap, coloured, difference_heatmap, head_mosaic, tile_step
from translator.figures.style import DARK, LIGHT


@pytest.fixture
def trace(make_trace):
    return make_trace(11, target=(("the", 0), ("<b>", 1), ("the", 2), ("a word that is long", 3)))


def surfaces(tokens):
    return [token.surface for token in tokens]


def heatmap(trace, **options):
    return attention_heatmap(trace.cross[1, 2], surfaces(trace.reads), surfaces(trace.src), **options)


@pytest.mark.slow
def test_the_heatmap_holds_the_weights_on_a_fixed_scale(trace):
    trace_z = heatmap(trace).data[0]
    np.testing.assert_array_equal(trace_z.z, trace.cross[1, 2])
    assert (trace_z.zmin, trace_z.zmax) == (0, 1)


def test_repeated_tokens_keep_their_own_rows_and_columns(trace):
    layout = heatmap(trace).layout
    assert layout.xaxis.type == layout.yaxis.type == "linear"
    assert list(layout.yaxis.tickvals) == [0, 1, 2, 3, 4]
    assert [html.unescape(t) for t in layout.yaxis.ticktext] == ["<s>", "the", "<b>", "the", "a word that…"]
    assert layout.xaxis.ticktext[:1] == layout.xaxis.ticktext[4:5] == ("die",)
    assert list(layout.yaxis.range) == [4.5, -0.5] and list(layout.xaxis.range) == [-0.5, 8.5]


def test_ticks_and_hover_are_escaped_and_the_hover_has_the_whole_token_and_the_weight(trace):
    figure = heatmap(trace, colour="sqrt")
    assert figure.layout.yaxis.ticktext[0] == "&lt;s&gt;"
    cells = figure.data[0].customdata
    for q, k in np.ndindex(5, 9):
        query, key, weight = cells[q][k]
        assert html.unescape(query) == trace.reads[q].surface and "<" not in query
        assert html.unescape(key) == trace.src[k].surface and "<" not in key
        assert weight == trace.cross[1, 2, q, k]


def test_reads_and_predicts_are_two_columns_of_labels(trace):
    layout = heatmap(trace, predicts=surfaces(trace.tgt)).layout
    assert [html.unescape(t) for t in layout.yaxis2.ticktext] == ["the", "<b>", "the", "a word that…", "</s>"]
    assert (layout.yaxis.title.text, layout.yaxis2.title.text) == ("query (reads)", "predicts")
    assert layout.yaxis2.range == layout.yaxis.range and layout.yaxis2.overlaying == "y"
    assert "yaxis2" not in heatmap(trace).layout


def test_colour_modes_change_the_colour_and_say_so(trace):
    weights = trace.cross[1, 2].astype(np.float64)
    root, row = heatmap(trace, colour="sqrt"), heatmap(trace, colour="row")
    np.testing.assert_allclose(root.data[0].z, weights**0.5)
    np.testing.assert_allclose(row.data[0].z, [r / max(r) for r in weights])
    bar = root.data[0].colorbar
    np.testing.assert_allclose(np.square(bar.tickvals), [float(text) for text in bar.ticktext])
    assert "square-root" in bar.title.text and "row" in row.data[0].colorbar.title.text
    assert coloured(np.zeros((1, 3)), "row").tolist() == [[0, 0, 0]]
    with pytest.raises(InputError, match="colour is 'cube'"):
        heatmap(trace, colour="cube")


def test_the_future_is_empty_and_not_zero(trace):
    names = surfaces(trace.reads)
    z = attention_heatmap(trace.decoder[0, 0], names, names, possible=np.tril(np.ones((5, 5), bool))).data[0].z
    assert np.isnan(z[np.triu_indices(5, 1)]).all() and not np.isnan(z[np.tril_indices(5)]).any()


def test_themes_and_scales(trace):
    assert heatmap(trace).layout.template.layout.paper_bgcolor == LIGHT.page
    dark = heatmap(trace, theme="dark")
    assert dark.layout.template.layout.paper_bgcolor == DARK.page
    assert dark.data[0].colorscale[0][1] == DARK.scale[0][1] and dark.data[0].colorscale[-1][1] == "#fde725"
    assert heatmap(trace, scale="Viridis").data[0].colorscale[-1][1] == "#fde725"
    for bad in ({"theme": "blue"}, {"scale": "jet"}):
        with pytest.raises(InputError):
            heatmap(trace, **bad)


def test_maps_that_do_not_fit_their_tokens_are_refused(trace):
    with pytest.raises(InputError, match="does not fit"):
        attention_heatmap(trace.cross[0, 0], surfaces(trace.src), surfaces(trace.src))
    with pytest.raises(InputError, match="1 predicted"):
        heatmap(trace, predicts=["x"])


@pytest.mark.parametrize("shape", [(2, 3, 5, 9), (6, 8, 30, 26)])
def test_every_tile_of_the_mosaic_is_its_head_and_the_gaps_are_empty(shape):
    weights = np.random.default_rng(0).dirichlet(np.ones(shape[-1]), size=shape[:-1])
    figure = head_mosaic(weights)
    z, (layers, heads, rows, keys) = figure.data[0].z, shape
    down, across = tile_step(rows), tile_step(keys)
    for layer, head in np.ndindex(layers, heads):
        tile = z[layer * down : layer * down + rows, head * across : head * across + keys]
        np.testing.assert_array_equal(tile, weights[layer, head])
    assert np.isfinite(z).sum() == weights.size
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    ticks = dict(zip(figure.layout.xaxis.ticktext, figure.layout.xaxis.tickvals, strict=True))
    assert ticks["H2"] == across + (keys - 1) / 2
    assert figure.layout.yaxis.ticktext == tuple(f"L{i + 1}" for i in range(layers))


def test_the_difference_is_second_minus_first_about_zero(trace):
    names = surfaces(trace.reads), surfaces(trace.src)
    figure = difference_heatmap(trace.cross[0, 0], trace.cross[0, 1], *names)
    want = [[float(b) - float(a) for a, b in zip(*rows, strict=True)] for rows in zip(*trace.cross[0, :2], strict=True)]
    np.testing.assert_allclose(figure.data[0].z, want)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)
    scale = figure.data[0].colorscale
    stops = {place: [int(colour[i : i + 2], 16) for i in (1, 3, 5)] for place, colour in scale}
    assert min(stops[0.5]) > 240  # zero is nearly the page
    purple, green = stops[0.0], stops[1.0]
    assert min(purple[0], purple[2]) > purple[1] and green[1] > max(green[0], green[2])
    assert list(figure.data[0].customdata[0][0]) == ["&lt;s&gt;", "die"]
    with pytest.raises(InputError, match="one shape"):
        difference_heatmap(trace.cross[0, 0], trace.encoder[0, 0], *names)
