"""What the page is sent says what the trace says."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np
import pytest

from translator.analysis.aggregate import word_groups
from translator.analysis.heads import HeadStats, head_stats, leading_head
from translator.analysis.profile import Profile
from translator.trace import Beam, LiveStep, Trace
from translator.ui.message import read, send
from translator.ui.payload import (
    KINDS,
    TAIL,
    lower_triangles,
    pack,
    profile_payload,
    step_payload,
    trace_payload,
    unpack,
)

HEALTH = {"words": 1, "tokens": 2, "limit": 128, "unknown": 0, "changed": 0, "normalised": "", "problem": ""}


def words(count: int) -> list[tuple[str, int]]:
    return [(f"word{i}", i) for i in range(count)]


def test_sixteen_bits_keep_a_weight_to_the_promised_error() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(7), size=(3, 2, 5)).astype(np.float32)
    assert np.abs(unpack(pack(weights, "u16"), "u16") - weights.ravel()).max() <= 7.7e-6
    assert unpack(pack(np.array([0.0, 1.0]), "u16"), "u16").tolist() == [0.0, 1.0]
    shown = unpack(pack(weights, "d4"), "d4")
    assert [f"{each:.4f}" for each in shown] == [f"{each:.4f}" for each in weights.ravel()]


@pytest.mark.parametrize("count", [0, 1, 10_001])
def test_four_decimals_come_back_whatever_their_size(count: int) -> None:
    weights = np.arange(10_001)[:count][::-1] / 10_000
    packed = base64.b64decode(pack(weights, "d4"))
    np.testing.assert_array_equal(unpack(packed, "d4"), weights)
    assert len(packed) == count + int((weights >= 0.0192).sum())


def test_thirty_two_bits_are_exact() -> None:
    weights = np.random.default_rng(1).random((2, 3)).astype(np.float32)
    np.testing.assert_array_equal(unpack(pack(weights, "f32"), "f32").reshape(2, 3), weights)


def test_triangles_hold_every_weight_that_is_not_in_the_future() -> None:
    maps = np.tril(np.random.default_rng(2).random((2, 3, 4, 4)) + 1)
    packed, rebuilt = lower_triangles(maps), np.zeros_like(maps)
    at = 0
    for i in range(4):
        rebuilt[..., i, : i + 1] = packed[..., at : at + i + 1]
        at += i + 1
    np.testing.assert_array_equal(rebuilt, maps)


@pytest.mark.parametrize("encoding", ["u16", "f32"])
def test_a_payload_is_json_and_says_what_the_trace_says(make_trace: Callable[..., Trace], encoding: str) -> None:
    trace = make_trace(5)
    payload = json.loads(json.dumps(trace_payload(trace, HEALTH, encoding)))  # type: ignore[arg-type]
    assert payload["source"] == trace.source and payload["translation"] == trace.translation
    assert [token["i"] for token in payload["tgt"]] == [token.id for token in trace.tgt]
    assert payload["words"]["src"]["g"] == word_groups(trace.src).tolist()
    got = unpack(payload["weights"]["cross"], encoding).reshape(payload["shapes"]["cross"])  # type: ignore[arg-type]
    np.testing.assert_allclose(got, trace.cross, atol=7.7e-6)
    for kind in KINDS:
        layers, heads = trace.weights(kind).shape[:2]
        assert {len(values) for values in payload["heads"][kind].values()} == {layers * heads}


def test_a_payload_names_the_head_to_open_with_and_heeds_measured_rates(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(5)
    layers, heads = trace.cross.shape[:2]
    rates = [1.0] * (layers * heads)
    plain = trace_payload(trace, HEALTH)["leading"]
    stats = head_stats(trace, "cross")
    assert (plain["layer"], plain["head"]) == leading_head(stats)
    alike = [n for n, each in enumerate(stats) if each.role == stats[plain["layer"] * heads + plain["head"]].role]
    other = next(n for n in alike if (n // heads, n % heads) != leading_head(stats))
    rates[other] = 0.0
    readings = ["output"] * len(rates)
    profile = {"data": "", "sentences": 0, "roles": {}, "rates": rates, "readings": readings}
    assert trace_payload(trace, HEALTH, profile=profile)["leading"] == {"layer": other // heads, "head": other % heads}
    assert trace_payload(trace, HEALTH, profile={**profile, "rates": []})["leading"] == plain


def test_twenty_by_twenty_four_tokens_fit_the_budget(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(3, layers=6, heads=8, source=words(23), target=words(19))
    assert trace.cross.shape == (6, 8, 20, 24)
    sent = send(trace_payload(trace, HEALTH))
    assert sent is not None and len(sent) <= 140_000, len(sent)


def test_a_long_message_travels_compressed_and_a_short_one_as_it_is(make_trace: Callable[..., Trace]) -> None:
    message = {**trace_payload(make_trace(3, layers=6, heads=8), HEALTH), "translation": "Straße 😀 \u2028"}
    for short in (None, {"kind": "error", "text": message["translation"]}):
        assert json.loads(send(short) or "null") == short
    sent = send(message) or ""
    inflated = json.loads(zlib.decompress(base64.b64decode(sent)))
    assert inflated == json.loads(json.dumps(message)) == read(sent)


def test_a_live_step_stands_by_itself(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(4)
    step = LiveStep(**vars(trace.steps[1]), log_probs=(-0.1, -0.2))
    message = step_payload(step, trace.src, trace.start, trace.checkpoint)
    got = unpack(message["cross"], "u16").reshape(message["shape"])
    np.testing.assert_allclose(got, trace.cross[:, :, 1], atol=7.7e-6)
    assert message["index"] == 1 and message["log_probs"] == [-0.1, -0.2]


def test_hypotheses_are_told_by_their_ends_and_the_winner_is_marked(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(6)
    ids = tuple(token.id for token in trace.tgt)
    beams = (Beam(ids[:1], -0.5, -0.4, 0, ended=False), Beam((7,) * 90, -2.0, -1.5, 1, ended=True))
    steps = (replace(trace.steps[0], beams=beams), *trace.steps[1:])
    searched = replace(trace, steps=steps)

    def decode(found: Sequence[int]) -> str:
        return "".join(chr(97 + id_ % 26) for id_ in found)

    first, *others = trace_payload(searched, HEALTH, decode=decode)["steps"]
    assert first["b"][0] == {"s": decode(ids[:1]), "lp": -0.5, "n": -0.4, "p": 0, "w": 1}
    assert first["b"][1] == {"s": "…" + decode((7,) * (TAIL - 1)), "lp": -2.0, "n": -1.5, "p": 1, "e": 1}
    assert not any("b" in step for step in others)
    assert "b" not in trace_payload(searched, HEALTH)["steps"][0], "without a vocabulary there is no text"


def test_a_profile_is_told_by_roles_and_rates() -> None:
    stats = {kind: tuple(head_stats_of(kind, role) for role in ("aligns", "sink")) for kind in KINDS}
    rates = {"output": [[0.25, 0.75]], "input": [[0.5, 0.125]]}
    told = profile_payload(Profile("0" * 64, "dev.tsv", 300, stats, {"heads": rates}))
    assert told["roles"]["cross"] == ["aligns", "sink"]
    assert told["rates"] == [0.25, 0.125] and told["readings"] == ["output", "input"], "each head by its better reading"
    assert profile_payload(Profile("0" * 64, "dev.tsv", 300, stats))["rates"] == []


def head_stats_of(kind: str, role: str) -> HeadStats:
    """A head of that role whose numbers mean nothing."""
    numbers = [field.name for field in fields(HeadStats) if field.name not in ("kind", "layer", "head", "role")]
    return HeadStats(kind=kind, layer=0, head=0, role=role, **dict.fromkeys(numbers, 0.0))  # type: ignore[arg-type]
