import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.masks import look_ahead_mask, padding_mask
from translator.figures.style import LIGHT


@pytest.mark.slow
def test_a_row_sees_itself_and_what_came_before():
    z = look_ahead_mask().data[0].z
    assert z.shape == (20, 20)
    assert all(z[q, k] == (k <= q) for q, k in np.ndindex(20, 20))
    legend = {line.name: line.marker.color for line in look_ahead_mask().data[1:]}
    assert legend == {"may be seen": LIGHT.bar, "masked": LIGHT.track}
    assert [colour for _, colour in look_ahead_mask().data[0].colorscale] == [LIGHT.track, LIGHT.bar]
    assert look_ahead_mask(["<s>", "a", "a"]).layout.xaxis.ticktext == ("&lt;s&gt;", "a", "a")


def test_padding_is_hidden_and_named():
    keep = np.array([[True, True, False], [True, True, True]])
    figure = padding_mask(keep, [["<b>", "b", "<pad>"], ["c", "d", "e"]])
    assert np.asarray(figure.data[0].z).tolist() == [[1, 1, 0], [1, 1, 1]]
    assert list(figure.data[0].customdata[0]) == ["&lt;b&gt;", "b", "&lt;pad&gt;"]
    assert figure.data[0].text[0][2] == "masked" and figure.data[0].text[1][2] == "may be seen"
    with pytest.raises(InputError, match="2 sentences"):
        padding_mask(keep, [["a"], ["b"]])
