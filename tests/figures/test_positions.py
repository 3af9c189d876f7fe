import math

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.positions import (
    positional_curves,
    positional_heatmap,
    similarity_matrix,
    sine_cosine_pairs,
    sinusoidal,
)


def value(position, dimension, d_model):
    """Vaswani et al. 2017, section 3.5, a cell at a time."""
    angle = position / 10000 ** ((dimension - dimension % 2) / d_model)
    return math.cos(angle) if dimension % 2 else math.sin(angle)


def test_interleaved_table_is_the_papers():
    want = [[value(p, d, 32) for d in range(32)] for p in range(3, 103)]
    np.testing.assert_allclose(sinusoidal(100, 32, first=3), want, atol=1e-12)


def test_concatenated_table_has_the_same_columns_sines_first():
    table, halves = sinusoidal(50, 20), sinusoidal(50, 20, layout="concatenated")
    np.testing.assert_array_equal(halves[:, :10], table[:, ::2])
    np.testing.assert_array_equal(halves[:, 10:], table[:, 1::2])


def test_the_heatmap_is_100_by_32_unless_a_table_is_given():
    np.testing.assert_allclose(
        positional_heatmap().data[0].z, [[value(p, d, 32) for d in range(32)] for p in range(100)], atol=1e-12
    )
    learned = np.random.default_rng(0).normal(size=(7, 6))
    picture = positional_heatmap(learned, first=2).data[0]
    np.testing.assert_array_equal(picture.z, learned)
    assert list(picture.y) == [2, 3, 4, 5, 6, 7, 8] and picture.zmax == -picture.zmin == abs(learned).max()


def test_curves_are_dimensions_5_to_9():
    figure = positional_curves()
    assert [line.name for line in figure.data] == [f"dim {d}" for d in (5, 6, 7, 8, 9)]
    for line, dimension in zip(figure.data, (5, 6, 7, 8, 9), strict=True):
        np.testing.assert_allclose(line.y, [value(p, dimension, 24) for p in range(100)], atol=1e-12)
    for dimension in (1.0, True, "1"):
        with pytest.raises(InputError, match=f"dimension is {dimension!r}"):
            positional_curves(None, [dimension])
    with pytest.raises(InputError, match="dimension is 24"):
        positional_curves(dimensions=[24])


def test_pairs_are_sines_above_and_cosines_below():
    figure = sine_cosine_pairs(26, (0, 2))
    for line in figure.data:
        pair = int(line.name[-1])
        turn = math.cos if line.yaxis == "y2" else math.sin
        np.testing.assert_allclose(line.y, [turn(p / 10000 ** (2 * pair / 26)) for p in range(100)], atol=1e-12)
    assert len(figure.data) == 4
    with pytest.raises(InputError, match="dimension is 13"):
        sine_cosine_pairs(26, (13,))


def test_similarity_of_sinusoidal_positions_depends_on_their_distance_alone():
    z = np.asarray(similarity_matrix(sinusoidal(40, 32)).data[0].z)
    for distance in range(40):
        want = sum(math.cos(distance / 10000 ** (2 * i / 32)) for i in range(16))
        np.testing.assert_allclose(np.diagonal(z, distance), want, atol=1e-9)


@pytest.mark.parametrize(
    ("positions", "width", "layout"),
    [(0, 4, "interleaved"), (3, 5, "interleaved"), (3, 4, "rows"), (3.0, 4, "interleaved"), (3, "4", "interleaved")],
)
def test_tables_that_cannot_be_are_refused(positions, width, layout):
    with pytest.raises(InputError):
        sinusoidal(positions, width, layout=layout)
