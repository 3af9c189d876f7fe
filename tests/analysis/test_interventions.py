"""Gates and the head map: against weights set to zero by hand, a pass for each head, and finite differences."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from translator import CancelledError, InputError, Trace, Translator
from translator.analysis.bench import Aligner, align
from translator.analysis.cell import cell
from translator.analysis.edit import continue_from
from translator.analysis.faithfulness import faithfulness
from translator.analysis.forced import force, token_ranks
from translator.analysis.interventions import gate_gradient, head_importance, make_gates, silence, switch
from translator.analysis.lens import lens
from translator.analysis.norms import norms
from translator.analysis.passes import head_counts, pair_of
from translator.analysis.positions import move
from translator.analysis.stations import cross_attention, next_token_logits
from translator.engine import EagerEngine
from translator.model import Gates, Transformer

KINDS = ("encoder", "decoder", "cross")


def attentions(model: Transformer, kind: str) -> list:
    blocks = model.encoder if kind == "encoder" else model.decoder
    return [block.cross if kind == "cross" else block.attention for block in blocks]


def scored(tiny: Translator, trace: Trace, model: Transformer, gates: Gates | None = None) -> float:
    pair = replace(pair_of(tiny, trace), engine=EagerEngine(model))
    with torch.inference_mode():
        return float(pair.log_probs(pair.decode(pair.encode(gates).memory, gates).logits).double().sum())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "gate", [1e39, -1e39, 1e300, 10**40, 10**400, 10**5000, float("nan")], ids=lambda gate: f"{type(gate).__name__}"
)
def test_a_gate_beyond_every_number_is_refused_in_words(tiny: Translator, gate: float) -> None:
    with pytest.raises(InputError, match="gate"):
        make_gates(tiny.bundle.model, {"cross": [[gate, 1.0], [1.0, 1.0]]})


def test_all_gates_at_1_change_nothing(tiny: Translator, trace: Trace) -> None:
    found = switch(tiny, trace, {kind: np.ones((2, 2)) for kind in KINDS})
    assert found.after.translation == trace.translation
    np.testing.assert_allclose(found.after.cross, trace.cross, atol=1e-6)
    assert found.change == pytest.approx(0, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_gate_0_equals_zeroing_the_slice_of_the_output_projection(tiny: Translator, trace: Trace, kind: str) -> None:
    model = copy.deepcopy(tiny.bundle.model)
    layer = attentions(model, kind)[1]
    layer.out.weight[:, layer.d_head : 2 * layer.d_head] = 0
    found = switch(tiny, trace, silence(tiny.bundle.model, [(kind, 1, 1)]))
    by_hand = Translator(replace(tiny.bundle, model=model)).translate(trace.source, method="greedy", max_length=12)
    assert found.after.translation == by_hand.translation
    np.testing.assert_allclose(found.after.cross, by_hand.cross, atol=1e-5)
    assert found.fixed.sum() == pytest.approx(scored(tiny, trace, model), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_with_all_heads_off_gives_its_bias(tiny: Translator, kind: str) -> None:
    attention = attentions(tiny.bundle.model, kind)[0]
    x = torch.randn(1, 5, 16)
    with torch.inference_mode():
        update, _ = attention.attend(*attention.project(x), None, torch.zeros(2))
    torch.testing.assert_close(update, attention.out.bias.expand(1, 5, -1))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "beam", "beam": 3}, {"method": "sample", "seed": 4}])
def test_gates_reach_every_kind_of_search(tiny: Translator, trace: Trace, settings: dict) -> None:
    """A silent layer in the model itself, decoded as usual, is the reference."""
    model = copy.deepcopy(tiny.bundle.model)
    for kind in KINDS:
        attentions(model, kind)[0].out.weight.zero_()
    values = silence(model, [(kind, 0, head) for kind in KINDS for head in (0, 1)])
    found = switch(tiny, trace, values, **settings).after
    by_hand = Translator(replace(tiny.bundle, model=model)).translate(trace.source, max_length=12, **settings)
    assert [t.id for t in found.tgt] == [t.id for t in by_hand.tgt]
    assert [t.id for t in found.tgt] != [t.id for t in tiny.translate(trace.source, max_length=12, **settings).tgt]
    assert found.score == pytest.approx(by_hand.score, abs=1e-4)


@pytest.mark.slow
def test_the_head_map_equals_one_pass_a_head(tiny: Translator, trace: Trace) -> None:
    steps: list[tuple[int, int]] = []
    found = head_importance(tiny, trace, progress=lambda done, of: steps.append((done, of)))
    model = tiny.bundle.model
    usual = scored(tiny, trace, model)
    for kind, (layers, heads) in head_counts(model).items():
        for layer, head in np.ndindex(layers, heads):
            gates = make_gates(model, silence(model, [(kind, layer, head)]))
            want = scored(tiny, trace, model, gates) - usual
            assert found[kind][layer, head] == pytest.approx(want, abs=1e-4)
    assert steps == [(n, 6) for n in range(1, 7)]


def test_the_head_map_can_be_stopped(tiny: Translator, trace: Trace) -> None:
    with pytest.raises(CancelledError):
        head_importance(tiny, trace, stop=lambda: True)


def test_the_gradient_equals_finite_differences(tiny: Translator, trace: Trace) -> None:
    double = Translator(replace(tiny.bundle, model=copy.deepcopy(tiny.bundle.model).double()))
    found = gate_gradient(double, trace)
    pair = pair_of(double, trace)

    def score(gates: Gates) -> float:
        with torch.inference_mode():
            logits = pair.decode(pair.encode(gates).memory, gates).logits
            return float(logits.log_softmax(-1).gather(-1, pair.tgt_ids[None, :, None]).sum())

    chosen = [("encoder", 0, 1), ("encoder", 1, 0), ("decoder", 1, 1), ("cross", 0, 0), ("cross", 1, 1)]
    for kind, layer, head in chosen:
        ends = []
        for value in (1 + 1e-5, 1 - 1e-5):
            ones = {name: torch.ones(2, 2, dtype=torch.float64) for name in KINDS}
            ones[kind][layer, head] = value
            ends.append(score(Gates(**ones)))
        assert found[kind][layer, head] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-4)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"cross": np.full((2, 2), 1.5)}, "1.5"),
        ({"cross": np.full((2, 2), -0.1)}, "-0.1"),
        ({"cross": np.full((2, 2), np.nan)}, "nan"),
        ({"cross": np.ones((2, 3))}, r"\(2, 3\)"),
        ({"middle": np.ones((2, 2))}, "'middle'"),
        ({"cross": [["a", "b"], ["c", "d"]]}, "no table of numbers"),
        ({"cross": [["0", "1"], ["1", "1"]]}, "no table of numbers"),
        ({"cross": [[1, 0], [1]]}, "no table of numbers"),
        ([np.ones((2, 2))], "gates are list"),
    ],
)
def test_gates_that_cannot_be_are_named(tiny: Translator, values: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        make_gates(tiny.bundle.model, values)


@pytest.mark.parametrize(
    "head",
    [
        ("cross", 2, 0),
        ("cross", 0, -1),
        ("none", 0, 0),
        ("cross", 1.0, 0),
        ("cross", 0, "1"),
        ("cross", True, 0),
        (["cross"], 0, 0),
        ("cross", 0),
    ],
)
def test_a_head_that_does_not_exist_is_named(tiny: Translator, head: tuple) -> None:
    with pytest.raises(InputError, match="there is no"):
        silence(tiny.bundle.model, [head])


def test_the_trace_of_other_weights_is_refused(tiny: Translator, trace: Trace) -> None:
    other = replace(trace, checkpoint=replace(trace.checkpoint, sha256="1" * 64))
    with pytest.raises(InputError, match="not by these weights"):
        head_importance(tiny, other)


@pytest.fixture(scope="module")
def without_a_head(tiny: Translator, trace: Trace) -> Trace:
    """The translation with one head silent."""
    return switch(tiny, trace, silence(tiny.bundle.model, [("cross", 1, 1)])).after


@pytest.mark.parametrize(
    "measure",
    [
        head_importance,
        lens,
        norms,
        faithfulness,
        move,
        lambda tiny, trace: switch(tiny, trace, {}),
        lambda tiny, trace: continue_from(tiny, trace, 0, 5),
        lambda tiny, trace: cell(tiny, trace, "cross", 0, 0, 0, 0),
        gate_gradient,
        token_ranks,
        next_token_logits,
        lambda tiny, trace: cross_attention(tiny, trace, 0),
        lambda tiny, trace: align(tiny, trace, Aligner(map="norm"), (20, 20)),
    ],
)
def test_the_trace_of_an_altered_model_is_not_measured_with_the_plain_one(
    tiny: Translator, without_a_head: Trace, measure: Callable[[Translator, Trace], object], tmp_path: Path
) -> None:
    without_a_head.save(tmp_path / "x.npz")
    for altered in (without_a_head, Trace.load(tmp_path / "x.npz")):
        with pytest.raises(InputError, match="gates or with moved positions"):
            measure(tiny, altered)


def test_a_forced_target_has_no_gates(tiny: Translator, trace: Trace) -> None:
    """Its ranks would be those of the model as it is."""
    gates = make_gates(tiny.bundle.model, {"cross": np.zeros((2, 2))})
    with pytest.raises(InputError, match="gates or with moved positions"):
        force(tiny, trace.source, "The house", gates=gates)


@pytest.mark.slow
@pytest.mark.parametrize("work", ["translate", "force"])
def test_a_trace_says_whether_a_head_was_gated(tiny: Translator, trace: Trace, work: str) -> None:
    given = (trace.source, [token.id for token in trace.tgt]) if work == "force" else (trace.source,)
    for gate, altered in ((1.0, False), (0.5, True)):
        gates = make_gates(tiny.bundle.model, {"cross": np.full((2, 2), gate)})
        assert getattr(tiny, work)(*given, gates=gates).altered is altered


def test_a_trace_file_from_before_is_of_the_plain_model(trace: Trace, tmp_path: Path) -> None:
    trace.save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as data:
        arrays = dict(data)
    meta = json.loads(arrays["meta"].tobytes())
    assert meta.pop("altered") is False
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    np.savez(tmp_path / "old.npz", **arrays)
    assert Trace.load(tmp_path / "old.npz").altered is False
