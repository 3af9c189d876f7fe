"""The faithfulness meter, each part computed again in another way."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from translator import CancelledError, InputError, Trace, Translator
from translator.analysis.faithfulness import METHODS, chance_level, faithfulness, occlusion, spearman


@pytest.mark.slow
def test_occlusion_is_a_pass_without_the_words_keys(tiny: Translator, trace: Trace) -> None:
    found = faithfulness(tiny, trace)
    assert found.words == ("Das", "Haus", "ist", "groß", ",", "aber", "alt", ".")
    model = tiny.bundle.model
    src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))
    for word in range(8):
        keep = torch.tensor([[token.word != word for token in trace.src]])
        with torch.inference_mode():
            logits = model(torch.tensor([src]), torch.tensor([[1, *tgt[:-1]]]), keep)[0]
        log_probs = logits.log_softmax(-1)[torch.arange(len(tgt)), torch.tensor(tgt)].numpy()
        np.testing.assert_allclose(found.loss[:, word], trace.log_probs - log_probs, atol=1e-4)


def test_correlations_are_scipys(tiny: Translator, trace: Trace) -> None:
    found = faithfulness(tiny, trace)
    for method in METHODS:
        for t in range(len(trace.tgt)):
            want = spearmanr(found.shares[method][t], found.loss[t]).statistic
            assert found.correlation[method][t] == pytest.approx(want, nan_ok=True)


def test_ties_and_constant_rows() -> None:
    a = np.array([[1.0, 1, 2, 3], [5, 5, 5, 5]])
    b = np.array([[2.0, 1, 1, 4], [1, 2, 3, 4]])
    assert spearman(a, b)[0] == pytest.approx(spearmanr(a[0], b[0]).statistic)
    assert np.isnan(spearman(a, b)[1])


def test_a_word_is_as_much_as_its_pieces(tiny: Translator, trace: Trace) -> None:
    found = faithfulness(tiny, trace)
    pieces = [i for i, token in enumerate(trace.src) if token.word == 1]
    assert len(pieces) > 1
    want = trace.cross.mean(axis=(0, 1))[:, pieces].sum(axis=1)
    np.testing.assert_allclose(found.shares["raw"][:, 1], want, atol=1e-6)


@pytest.mark.slow
def test_chance_is_a_quantile_of_random_orders() -> None:
    """For one row of n words Spearman's deviation is 1/√(n-1); the mean of T rows has 1/√T of it."""
    loss = np.random.default_rng(3).random((25, 10))
    assert chance_level(loss, draws=2000) == pytest.approx(1.645 / np.sqrt(9 * 25), rel=0.1)


def test_the_truth_itself_is_believed_and_its_opposite_is_not(tiny: Translator, trace: Trace) -> None:
    found = faithfulness(tiny, trace)
    found.correlation["raw"][:] = spearman(found.loss, found.loss)
    found.correlation["norm"][:] = spearman(-found.loss, found.loss)
    assert found.believable("raw") and not found.believable("norm")
    assert found.mean("raw") == pytest.approx(1)


@pytest.mark.parametrize("mask", [np.zeros(3, dtype=bool), np.zeros(99, dtype=bool), np.zeros(1)])
def test_a_mask_that_does_not_fit_is_refused(tiny: Translator, trace: Trace, mask: np.ndarray) -> None:
    with pytest.raises(InputError, match="a mask is"):
        occlusion(tiny, trace, [mask])


def test_nothing_hidden_is_nothing_lost(tiny: Translator, trace: Trace) -> None:
    assert occlusion(tiny, trace, []).shape == (len(trace.tgt), 0)


def test_two_words_are_refused_and_a_long_run_can_be_stopped(tiny: Translator, trace: Trace) -> None:
    with pytest.raises(InputError, match="2 words"):
        faithfulness(tiny, tiny.translate("Guten Morgen", max_length=4))
    with pytest.raises(CancelledError):
        faithfulness(tiny, trace, stop=lambda: True)


@pytest.mark.slow
def test_no_pass_reads_more_than_its_bound_and_stop_is_asked_before_each_and_after_the_last(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for a turn waits for a pass."""
    monkeypatch.setattr("translator.analysis.faithfulness.POSITIONS", 40)
    long = tiny.translate("Das ist ein altes Haus und ein Hund. " * 2, max_length=5)
    said: list[str] = []
    encode = type(tiny.bundle.model).encode

    def counted(model: object, src_ids: torch.Tensor, *rest: object, **options: object) -> object:
        said.append("pass")
        assert src_ids.numel() <= max(40, len(long.src))
        return encode(model, src_ids, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(type(tiny.bundle.model), "encode", counted)
    found = faithfulness(tiny, long, stop=lambda: bool(said.append("asked")))
    hidden = said[said.index("asked") :]
    passes = len(found.words) if len(long.src) > 20 else 0
    assert hidden[: 2 * passes] == ["asked", "pass"] * passes and hidden[2 * passes :].count("asked") >= 2
    assert passes and hidden[-1] == "asked"
