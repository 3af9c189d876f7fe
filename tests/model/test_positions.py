"""Positions against the formula of Vaswani et al. 2017, section 3.5, written out in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from translator.model import Transformer
from translator.model.positions import sinusoids


def formula(length: int, d_model: int, layout: str, first: int) -> np.ndarray:
    table = np.zeros((length, d_model))
    for row in range(length):
        for pair in range((d_model + 1) // 2):
            angle = (first + row) / 10000 ** (2 * pair / d_model)
            at = (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, (d_model + 1) // 2 + pair)
            table[row, at[0]] = np.sin(angle)
            if 2 * pair + 1 < d_model:
                table[row, at[1]] = np.cos(angle)
    return table


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
@pytest.mark.parametrize(("d_model", "first"), [(16, 0), (16, 1), (7, 0)])
def test_the_table_is_the_formula(layout: str, d_model: int, first: int) -> None:
    found = sinusoids(50, d_model, layout=layout, first=first).numpy()
    np.testing.assert_allclose(found, formula(50, d_model, layout, first), atol=1e-6)


@pytest.mark.parametrize("positions", ["interleaved", "concatenated"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_model_adds_them_to_scaled_embeddings(
    make_model: Callable[..., Transformer], positions: str, first: int
) -> None:
    model = make_model(positions=positions, first_position=first)
    ids = torch.tensor([[3, 4, 5]])
    want = model.src_embedding.weight[ids[0]].detach().numpy() * 4 + formula(3, 16, positions, first)
    np.testing.assert_allclose(model.embed(ids, target=False)[0].detach().numpy(), want, atol=1e-5)
    later = model.embed(ids[:, 2:], target=False, first=2)
    torch.testing.assert_close(later[0, 0], model.embed(ids, target=False)[0, 2])


def test_learned_positions_are_two_trained_tables(make_model: Callable[..., Transformer]) -> None:
    model = make_model(positions="learned", scale_embeddings=False)
    ids = torch.tensor([[3, 4, 5]])
    for target, embedding, table in (
        (False, model.src_embedding, model.src_positions),
        (True, model.tgt_embedding, model.tgt_positions),
    ):
        assert isinstance(table, torch.nn.Parameter) and table.shape == (32, 16)
        torch.testing.assert_close(model.embed(ids, target=target)[0], embedding.weight[ids[0]] + table[:3])
    assert not torch.equal(model.src_positions, model.tgt_positions)


def test_sinusoids_are_no_weights(make_model: Callable[..., Transformer]) -> None:
    assert not [name for name in make_model().state_dict() if "positions" in name]
