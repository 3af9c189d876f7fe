import numpy as np
import pytest
import torch

from translator.errors import InputError
from translator.figures.training import (
    noam_curves,
    smoothed_targets,
    smoothing_loss,
    smoothing_loss_curve,
    target_distribution,
    training_curves,
)


def test_smoothed_targets_make_torchs_label_smoothing():
    logits = torch.randn(4, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ids = [3, 0, 8, 3]
    want = torch.nn.functional.cross_entropy(logits, torch.tensor(ids), label_smoothing=0.3, reduction="none")
    got = -(smoothed_targets(ids, 9, 0.3) * logits.log_softmax(dim=-1).numpy()).sum(axis=1)
    np.testing.assert_allclose(got, want)


def test_the_picture_is_the_annotated_transformers_example():
    heat, numbers = target_distribution().data
    z = heat.z
    third = 0.1 / 3
    np.testing.assert_allclose(z, [[0, third, 0.9, third, third], [0, 0.9, third, third, third], [0] * 5])
    told = dict(zip(zip(numbers.y, numbers.x, strict=True), numbers.text, strict=True))
    assert {place: float(text) for place, text in told.items()} == pytest.approx(dict(np.ndenumerate(z)), abs=5e-4)
    assert target_distribution().layout.yaxis.ticktext == ("1: id 2", "2: id 1", "3: id 0")


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_smoothing_loss_is_torchs_divergence_at_every_confidence(smoothing):
    x = np.array([1.0, 5.0, 27.0, 99.0])
    d = x + 3
    for loss, share, total in zip(smoothing_loss(x / d, 5, smoothing), x, d, strict=True):
        predicted = torch.tensor([share, 1, 1, 1], dtype=torch.float64) / total
        target = torch.tensor([1 - smoothing] + [smoothing / 3] * 3, dtype=torch.float64)
        want = torch.nn.functional.kl_div(predicted.log(), target, reduction="sum")
        assert loss == pytest.approx(float(want))


def test_the_loss_curve_is_least_where_confidence_is_what_was_asked_for():
    lines = smoothing_loss_curve((0.1, 0.4)).data
    for line, best in zip(lines, (0.9, 0.6), strict=True):
        assert line.x[int(np.argmin(line.y))] == pytest.approx(best, abs=0.006)
        assert min(line.y) == pytest.approx(0, abs=1e-4)


def test_noam_curves_peak_after_warm_up_at_the_papers_rate():
    figure = noam_curves()
    assert [line.name for line in figure.data] == ["512:4000", "512:8000", "256:4000"]
    for line, (d_model, warmup) in zip(figure.data, ((512, 4000), (512, 8000), (256, 4000)), strict=True):
        for step, rate in zip(line.x, line.y, strict=True):
            assert rate == pytest.approx(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
        top = int(np.argmax(line.y))
        assert (line.x[top], line.y[top]) == (warmup, pytest.approx((d_model * warmup) ** -0.5))
        assert (line.x[0], line.x[-1]) == (1, 20_000)
    with pytest.raises(InputError, match="0:10"):
        noam_curves([(0, 10)])


def test_a_runs_curves_are_its_records():
    records = [
        {"step": 10, "nll": 3.0, "loss": 3.5, "accuracy": 0.2},
        {"step": 15, "dev_bleu": 4.5, "dev_nll": 3.2, "dev_accuracy": 0.1},
        {"step": 20, "nll": 2.0},
    ]
    figure = training_curves(records)
    drawn = [(line.name, line.yaxis, list(zip(line.x, line.y, strict=True))) for line in figure.data]
    assert drawn == [
        ("training", "y", [(10, 3.0), (20, 2.0)]),
        ("held-out", "y", [(15, 3.2)]),
        ("training", "y2", [(10, 0.2)]),
        ("held-out", "y2", [(15, 0.1)]),
        ("held-out", "y3", [(15, 4.5)]),
    ]
    assert [line.showlegend for line in figure.data] == [True, True, False, False, False]
    assert len({(line.name, line.line.color) for line in figure.data}) == 2
    layout = figure.layout
    assert layout.yaxis.title.text == "cross-entropy (nats)" and layout.xaxis.anchor == "y3"
    assert layout.yaxis.domain[0] > layout.yaxis2.domain[1] > layout.yaxis3.domain[1]
    assert [line.yaxis for line in training_curves([{"step": 1, "dev_bleu": 2.0}]).data] == ["y"]
    with pytest.raises(InputError, match="none of nll, dev_nll"):
        training_curves([{"step": 1}])
    with pytest.raises(InputError, match="anything trained"):
        training_curves([])


@pytest.mark.parametrize(
    ("ids", "vocab", "smoothing"),
    [
        ([5], 5, 0.1),
        ([-1], 5, 0.1),
        ([1.5], 5, 0.1),
        (["1"], 5, 0.1),
        ([0], 5, 1.5),
        ([0], 5, "much"),
        ([0], 5.0, 0.1),
        ([], 0, 0.1),
    ],
)
def test_targets_that_cannot_be_are_refused(ids, vocab, smoothing):
    with pytest.raises(InputError):
        smoothed_targets(ids, vocab, smoothing)
