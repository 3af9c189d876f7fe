"""Products of compiled code against NumPy's, for every way in which weights are stored, and how these are made."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import torch

from translator.engine.cpu import matmul
from translator.engine.cpu.formats import in_whole_numbers

ALONE = np.zeros(0, np.int64)


@pytest.mark.parametrize("width", [128, 40])
@pytest.mark.parametrize(("bits", "largest"), [(8, 127), (24, 8_388_607)])
def test_a_whole_number_is_off_by_half_a_step_at_most(width: int, bits: int, largest: int) -> None:
    torch.manual_seed(0)
    weight = torch.randn(7, width) * torch.rand(7, 1)
    weight[3] = 0
    whole, scale = in_whole_numbers(weight, bits)
    assert scale.shape == (7, 2 if width == 128 else 1)
    assert int(whole.abs().max()) == largest
    groups = weight.double().view(7, scale.shape[1], -1)
    found = whole.view(groups.shape).double() * scale[..., None].double()
    assert bool(((found - groups).abs() <= 0.5001 * scale[..., None]).all())
    torch.testing.assert_close(scale, groups.abs().amax(2).clamp(min=1e-12).float() / largest)
    assert not found[3].any()


SHAPES = [(5, 3, 8), (6, 2, 64), (7, 1, 203), (1, 2, 40), (33, 4, 16), (3, 1, 160), (96, 1, 5)]
KINDS = [(stored, shape) for stored in (np.float32, np.uint16, np.int8, np.uint8) for shape in SHAPES]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 4, 8, 12, 16])
@pytest.mark.parametrize(("stored", "shape"), KINDS)
def test_products_of_every_kind(rows: int, stored: type, shape: tuple[int, int, int]) -> None:
    outputs, groups, width = shape
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(2, outputs, groups * width)).astype(np.float32)
    scale = np.ones((2, outputs, groups), np.float32)
    bits = weight
    if stored is np.uint16:
        weight = weight.astype(np.float16)
        bits = weight.view(np.uint16)
    elif stored in (np.int8, np.uint8):
        largest = 127 if stored is np.int8 else 2**23 - 1
        weight = rng.integers(-largest, largest + 1, weight.shape).astype(np.int32)
        scale = rng.normal(size=scale.shape).astype(np.float32) / largest
        bits = weight.astype(np.int8) if stored is np.int8 else weight
    panels = matmul.in_panels(bits)
    panels = matmul.in_three_bytes(panels) if stored is np.uint8 else panels
    bias = rng.normal(size=(2, outputs)).astype(np.float32)
    x, out = rng.normal(size=(rows, groups * width)).astype(np.float32), np.zeros((rows, outputs), np.float32)
    matmul.product(matmul.Matrix(panels, matmul.in_panels(scale), bias), 1, x, out, ALONE)
    want = x @ (weight[1].astype(np.float64) * scale[1].repeat(width, 1)).T + bias[1]
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("rows", [1, 64])
def test_three_bytes_hold_every_bit_of_24(rows: int) -> None:
    weight = np.random.default_rng(0).integers(-(2**23), 2**23, (1, 9, 64)).astype(np.int32)
    weight[0, 0, :6] = -(2**23), 2**23 - 1, -1, 0, 255, 256
    bits, scale = matmul.in_three_bytes(matmul.in_panels(weight)), matmul.in_panels(np.ones((1, 9, 1), np.float32))
    matrix = matmul.Matrix(bits, scale, np.zeros((1, 9), np.float32))
    for first in range(0, 64, rows):
        out = np.zeros((rows, 9), np.float32)
        matmul.product(matrix, 0, np.eye(64, dtype=np.float32)[first : first + rows], out, ALONE)
        np.testing.assert_array_equal(out, weight[0, :, first : first + rows].T)


@pytest.mark.slow
def test_a_product_of_what_is_not_contiguous_is_refused() -> None:
    weight, scale = (matmul.in_panels(np.ones((1, 4, size), np.float32)) for size in (16, 1))
    x, out = np.ones((1, 32), np.float32)[:, ::2], np.zeros((1, 4), np.float32)
    with pytest.raises(numba.TypingError, match="contiguous"):
        matmul.product(matmul.Matrix(weight, scale, np.ones((1, 4), np.float32)), 0, x, out, ALONE)
