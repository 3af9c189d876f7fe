import numpy as np
import pytest
from PIL import ImageColor
from plotly.colors import sample_colorscale

from translator.errors import InputError
from translator.figures.heads import error_rates, head_statistic, log_prob_change


def test_a_statistic_stands_in_its_layer_and_head():
    values = np.random.default_rng(0).random((3, 4))
    figure = head_statistic(values, "a < b")
    np.testing.assert_array_equal(figure.data[0].z, values)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert figure.layout.xaxis.ticktext == ("H1", "H2", "H3", "H4") and figure.layout.yaxis.ticktext == (
        "L1",
        "L2",
        "L3",
    )
    assert list(figure.layout.yaxis.range) == [2.5, -0.5]
    assert figure.data[0].colorbar.title.text == "a &lt; b"


def test_changes_have_zero_at_the_centre_and_their_number_in_the_cell():
    values = np.array([[0.5, -2.0], [0.0, 1.0]])
    heat, words = log_prob_change(values).data
    np.testing.assert_array_equal(heat.z, values)
    assert (heat.zmin, heat.zmax) == (-2, 2)
    told = dict(zip(zip(words.y, words.x, strict=True), words.text, strict=True))
    assert told == {(0, 0): "+0.50", (0, 1): "−2.00", (1, 0): "+0.00", (1, 1): "+1.00"}
    assert log_prob_change(np.zeros((1, 1))).data[0].zmax > 0
    with pytest.raises(InputError, match="layers, heads"):
        log_prob_change(np.zeros(3))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_low_error_stands_out_and_the_chosen_head_is_framed(theme: str):
    rates = np.array([[0.2, 0.9], [0.5, 1.0]])
    figure = error_rates(rates, chosen=(1, 0), theme=theme)
    np.testing.assert_array_equal(figure.data[0].z, rates)
    places, colours = zip(*figure.data[0].colorscale, strict=True)
    assert list(places) == sorted(places) and (places[0], places[-1]) == (0, 1)
    usual = head_statistic(rates, "x", theme=theme).data[0].colorscale
    assert (colours[0], colours[-1]) == (usual[-1][1], usual[0][1])  # no error has the colour of a full weight
    frame = figure.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 0.5, 0.5, 1.5)
    assert not error_rates(rates).layout.shapes
    for chosen in ((9, 0), (0, -1), (0, True), (1.0, 0)):
        with pytest.raises(InputError, match="chosen is"):
            error_rates(rates, chosen=chosen)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", ["paper", "Viridis", "Cividis"])
def test_every_number_is_readable_on_its_colour(theme: str, scale: str):
    """Contrast of at least 4.5, by WCAG's formula worked on Pillow's reading of the colours."""

    def luminance(colour: str) -> float:
        parts = np.array(ImageColor.getrgb(colour)) / 255
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    values = np.linspace(0, 1, 24).reshape(3, 8)
    heat, words = head_statistic(values, "x", scale=scale, theme=theme).data
    grounds = sample_colorscale([list(each) for each in heat.colorscale], values.ravel())
    for ground, ink in zip(grounds, words.textfont.color, strict=True):
        ground = "rgb({})".format(",".join(str(round(float(part))) for part in ground[4:-1].split(",")))
        low, high = sorted((luminance(ground), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, ink)
