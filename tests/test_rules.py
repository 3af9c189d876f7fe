"""One rule for the numbers that a caller gives."""

from __future__ import annotations

import numpy as np
import pytest

from translator.errors import InputError
from translator.rules import real, whole


@pytest.mark.parametrize(
    "value", [True, np.True_, 1.0, "1", None, [1], np.array([1, 2]), 10, -1, pytest.param(10**5000, id="endless")]
)
def test_a_whole_number(value: object) -> None:
    assert whole("n", np.int16(9), 0, 9) == 9
    with pytest.raises(InputError, match=r"n is .*; it must be a whole number from 0 to 9"):
        whole("n", value, 0, 9)


@pytest.mark.parametrize("value", [True, np.True_, "1", None, [1.0], np.array([1.0]), 1.1, -0.1, float("nan"), 10**400])
def test_a_number(value: object) -> None:
    assert type(real("x", np.float32(0.5), 0, 1)) is float
    with pytest.raises(InputError, match=r"x is .*; it must be a number from 0 to 1"):
        real("x", value, 0, 1)
