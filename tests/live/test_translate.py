"""A live page translates as Python does: the same ids, the same messages, the same refusals."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import translator
from translator import Translator
from translator.analysis.interventions import make_gates
from translator.analysis.profile import stored_profile
from translator.checkpoints.save import save_bundle
from translator.errors import InputError
from translator.ui.live.casing import casing_file
from translator.ui.payload import profile_payload, step_payload, unpack
from translator.ui.session import payload_of

ROOT = Path(__file__).parents[2]
DIRECTIONS = ("de-en", "en-zh")
GERMAN = ("Ich renne in den Park.", "Das Haus ist alt, aber groß!", "„Guten  Morgen“ – Müller…", "ßß 12,5 \U0001f600")
SETTINGS: tuple[dict[str, Any], ...] = (
    {"method": "greedy"},
    {"method": "greedy", "no_repeat_ngram_size": 2, "max_length": 30},
    {"method": "greedy", "max_length": 6, "force_eos": True},
    {"method": "beam", "beam": 1, "max_length": 5},
    {"method": "beam", "beam": 4},
    {"method": "beam", "beam": 7, "candidates": 3, "no_repeat_ngram_size": 1},
    {"method": "beam", "beam": 3, "length_penalty": -0.5, "early_stopping": True},
    {"method": "beam", "beam": 3, "length_penalty": 1.5, "penalty_kind": "power", "early_stopping": "never"},
    {"method": "beam", "beam": 4, "max_length": 5, "force_eos": True},
    {"method": "greedy", "first_id": 40},
    {"method": "beam", "beam": 3, "first_id": 40},
    {"method": "beam", "beam": 4, "coverage_penalty": 0.2},
    {"method": "beam", "beam": 3, "coverage_penalty": 0.7, "coverage_heads": [[0, 1], [0, 0]]},
    {"method": "greedy", "spans_from_source": True},
    {"method": "beam", "beam": 4, "spans_from_source": True},
    {"method": "beam", "beam": 4, "name_penalty": 4.0},
)


@pytest.fixture(scope="module")
def ask(run_node: Callable[..., Any], chinese: Path) -> Callable[..., Any]:
    """`ask(model, sentences, **task)`: what the page's code answers to each, from the files of a checkpoint."""

    def run(model: Translator, sentences: list[dict[str, Any]], **task: Any) -> Any:
        assert model.bundle.folder is not None
        if model.languages[1] == "zh":
            task["chinese"] = str(chinese)
        if casing := casing_file(model):
            task["casing"] = base64.b64encode(casing).decode()
        profile = stored_profile(model)
        task |= {"profile": profile_payload(profile)} if profile else {}
        folder, digest = str(model.bundle.folder), model.bundle.info.sha256
        found = run_node("translate.mjs", {"folder": folder, "sha256": digest, "sentences": sentences, **task})
        assert found["leaked"] == 0, "memory of the engine was not given back"
        return found["answers"]

    return run


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two messages say something else; numbers may differ by rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one.keys() | other.keys():
            if name not in one or name not in other:
                yield f"{path}/{name} is in one only"
            else:
                yield from differences(one[name], other[name], f"{path}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}/{at}")
    elif isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if not math.isclose(one, other, abs_tol=2e-4):
            yield f"{path}: {one} and {other}"
    elif one != other:
        yield f"{path}: {one} and {other}"


def compare(model: Translator, trace: Any, found: dict[str, Any]) -> None:
    """The message of a trace: everything but how long it took."""
    expected = json.loads(json.dumps(payload_of(model, trace, "f32")))
    expected.pop("gloss", None)  # pinyin and glossary stay with the server
    for packed in ("weights", "rollout"):
        ours, theirs = expected.pop(packed), found.pop(packed)
        for kind in ours if isinstance(ours, dict) else (None,):
            a, b = (unpack(each[kind] if kind else each, "f32") for each in (ours, theirs))
            np.testing.assert_allclose(b, a, atol=1e-5, rtol=0)
    expected.pop("seconds"), found.pop("seconds")
    assert not list(differences(expected, found))


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_shipped_checkpoints_are_told_of_in_the_same_messages(direction: str, ask: Callable[..., Any]) -> None:
    model = translator.load(direction, device="cpu")
    texts = (ROOT / "assets" / "newcomers" / f"{direction}.txt").read_text(encoding="utf-8").split("\n")[3:40:4]
    sentences: list[dict[str, Any]] = [
        {"text": text, "settings": each} for text in texts if text for each in ({}, {"method": "greedy"})
    ]
    for asked, found in zip(sentences, ask(model, sentences), strict=True):
        compare(model, model.translate(asked["text"], **asked["settings"]), found["trace"])


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_numbers_and_names_of_the_source_are_kept_alike(direction: str, ask: Callable[..., Any]) -> None:
    model = translator.load(direction, device="cpu")
    texts = {
        "de-en": ("Es kostet 1147 Euro.", "Am 3. Mai 2024 wohnte er in Zimmer 204.", "Das Haus hat 12.345 Bücher."),
        "en-zh": ("I turned 21 on 3 May 2024.", "My name is Drereln.", "Call Schussan at 555 1234 in room 204."),
    }[direction]
    sentences: list[dict[str, Any]] = [
        {"text": text, "settings": {"method": method, "spans_from_source": True, "name_penalty": 3.0}}
        for text in texts
        for method in ("greedy", "beam")
    ]
    for asked, found in zip(sentences, ask(model, sentences, brief=True), strict=True):
        trace = model.translate(asked["text"], **asked["settings"])
        assert found["ids"] == [token.id for token in trace.tgt]


@pytest.fixture(scope="module")
def answered(tiny: Translator, ask: Callable[..., Any]) -> list[list[dict[str, Any]]]:
    """What the page's code answers to each of GERMAN in each of SETTINGS."""
    found = ask(tiny, [{"text": text, "settings": settings} for settings in SETTINGS for text in GERMAN])
    return [found[start : start + len(GERMAN)] for start in range(0, len(found), len(GERMAN))]


@pytest.mark.slow
@pytest.mark.parametrize("way", range(len(SETTINGS)), ids=lambda way: "-".join(map(str, SETTINGS[way].values())))
def test_every_way_of_decoding(way: int, tiny: Translator, answered: list[list[dict[str, Any]]]) -> None:
    for text, found in zip(GERMAN, answered[way], strict=True):
        compare(tiny, tiny.translate(text, **SETTINGS[way]), found["trace"])


@pytest.mark.slow
def test_no_end_before_the_least_length(tiny: Translator, ask: Callable[..., Any], tmp_path: Path) -> None:
    bundle, model = tiny.bundle, copy.copy(tiny.bundle.model)
    model.config = dataclasses.replace(model.config, min_length=20)
    sides = {"src": bundle.src, "tgt": bundle.tgt}
    folder = save_bundle(tmp_path / "long", model=model, **sides, name="long", card="# Long\n", decode=bundle.decode)
    longer = translator.load(folder, device="cpu")
    for settings in ({"method": "greedy"}, {"method": "beam", "beam": 4}):
        sentences: list[dict[str, Any]] = [{"text": text, "settings": settings} for text in GERMAN]
        for asked, found in zip(sentences, ask(longer, sentences), strict=True):
            trace = longer.translate(asked["text"], **settings)
            assert len(trace.tgt) > 20 or trace.truncated
            compare(longer, trace, found["trace"])


@pytest.mark.slow
def test_a_prefix_and_a_forced_target(tiny: Translator, ask: Callable[..., Any]) -> None:
    text = GERMAN[0]
    ids = list(tiny.bundle.tgt.ids("The park."))
    for method in ("greedy", "beam"):
        settings = {"method": method}
        asked: list[dict[str, Any]] = [
            {"text": text, "settings": settings, "prefix": prefix} for prefix in ("I run", ids)
        ]
        for each, found in zip(asked, ask(tiny, asked), strict=True):
            compare(tiny, tiny.translate(text, prefix=each["prefix"], **settings), found["trace"])
    targets: list[Any] = ["I run.", [*ids, 2], ids]
    for target, found in zip(targets, ask(tiny, [{"text": text, "target": each} for each in targets]), strict=True):
        compare(tiny, tiny.force(text, target), found["trace"])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "greedy"}, {"method": "beam", "beam": 4}])
def test_heads_that_are_gated(settings: dict[str, Any], tiny: Translator, ask: Callable[..., Any]) -> None:
    model = tiny.bundle.model
    values = {kind: np.random.default_rng(5).random(shape) for kind, shape in model.config.head_counts.items()}
    task = {"gates": {kind: value.ravel().tolist() for kind, value in values.items()}}
    gates = make_gates(model, values)
    (found,) = ask(tiny, [{"text": GERMAN[1], "settings": settings}], **task)
    compare(tiny, tiny.translate(GERMAN[1], gates=gates, **settings), found["trace"])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "greedy"}, {"method": "beam", "beam": 4}])
def test_live_steps_are_told_of_in_the_same_messages(
    settings: dict[str, Any], tiny: Translator, ask: Callable[..., Any]
) -> None:
    (found,) = ask(tiny, [{"text": GERMAN[0], "settings": settings}], steps=True)
    bundle = tiny.bundle
    src = (*bundle.src.encode(GERMAN[0]).tokens, bundle.src.token(2))
    expected = []
    for step in tiny.stream(GERMAN[0], **settings):
        message = step_payload(step, src, bundle.tgt.token(1), bundle.info, bundle.tgt.decode)
        so_far = bundle.tgt.decode([token.id for token in step.tokens])
        expected.append(json.loads(json.dumps({**message, "translation": so_far})))
    for ours, theirs in zip(expected, found["steps"], strict=True):
        np.testing.assert_allclose(
            unpack(theirs.pop("cross"), "u16"), unpack(ours.pop("cross"), "u16"), atol=2e-5, rtol=0
        )
        assert not list(differences(ours, theirs))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_what_is_left_half_way_gives_its_memory_back(method: str, tiny: Translator, ask: Callable[..., Any]) -> None:
    ask(tiny, [{"text": GERMAN[0], "settings": {"method": method}}] * 3, leaveAfter=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"text": "  \u200b "},
        {"text": "a" * 1001},
        {"text": "…" * 400},
        {"text": "wort " * 199},
        {"text": "Ja.", "settings": {"max_length": 161}},
        {"text": "Ja.", "prefix": [2, 5]},
        {"text": "Ja.", "prefix": [1]},
        {"text": "Ja.", "settings": {"max_length": 2}, "prefix": [260, 261, 262]},
        {"text": "Ja.", "target": "  "},
        {"text": "Ja.", "target": [0]},
    ],
)
def test_refusals_are_in_the_same_words(asked: dict[str, Any], tiny: Translator, ask: Callable[..., Any]) -> None:
    (found,) = ask(tiny, [asked])
    text, settings = asked["text"], asked.get("settings", {})

    def translate() -> object:
        if "target" in asked:
            return tiny.force(text, asked["target"], **settings)
        return tiny.translate(text, prefix=asked.get("prefix", ()), **settings)

    with pytest.raises(InputError) as refused:
        translate()
    assert found["refused"] == str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"beam": 13}, "beam is 13"),
        ({"beam": 2.5}, "beam is 2.5"),
        ({"method": "magic"}, 'method is "magic"'),
        ({"seed": -1}, "seed is -1"),
        ({"top_p": 0}, "top_p is 0"),
        ({"constructor": 1}, "unknown setting 'constructor'"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(
    settings: dict[str, Any], said: str, tiny: Translator, ask: Callable[..., Any]
) -> None:
    (found,) = ask(tiny, [{"text": "Ja.", "settings": settings}])
    assert said in found["refused"]


@pytest.mark.slow
def test_sampling_repeats_itself_by_its_seed(tiny: Translator, ask: Callable[..., Any]) -> None:
    settings = [{"method": "sample", "seed": seed, "max_length": 12} for seed in (0, 0, 1, 2)]
    found = ask(tiny, [{"text": GERMAN[0], "settings": each} for each in settings])
    ids = [[token["i"] for token in each["trace"]["tgt"]] for each in found]
    assert ids[0] == ids[1]
    assert len({tuple(each) for each in ids}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "filters", [{}, {"temperature": 0.7}, {"top_k": 3}, {"top_p": 0.6}, {"top_k": 9, "top_p": 0.9}]
)
def test_samples_are_drawn_as_often_as_their_probability_says(
    filters: dict[str, Any], tiny: Translator, ask: Callable[..., Any]
) -> None:
    """The first token of 400 seeds: never one that is filtered away, the others about as often as they should be."""
    count = 400
    seeds = [{"method": "sample", "seed": seed, "max_length": 1, **filters} for seed in range(count)]
    found = ask(tiny, [{"text": GERMAN[0], "settings": each} for each in seeds])
    drawn = [each["trace"]["tgt"][0]["i"] for each in found]
    model = tiny.bundle.model
    with torch.inference_mode():
        memory = model.encode(torch.tensor([tiny.source_ids(GERMAN[0])]), None).memory
        scores = model.decode(torch.tensor([[1]]), memory, None).logits[0, 0].log_softmax(-1)
    scores = scores.clone() / filters.get("temperature", 1.0)
    scores[[0, 1]] = -math.inf
    best = scores.topk(filters.get("top_k", len(scores)))
    probs = best.values.softmax(-1)
    probs[probs.cumsum(-1) - probs >= filters.get("top_p", 1.0)] = 0
    wanted = dict(zip(best.indices.tolist(), (probs / probs.sum()).tolist(), strict=True))
    assert all(wanted.get(id_, 0) > 0 for id_ in drawn)
    for id_, prob in wanted.items():
        deviation = math.sqrt(count * prob * (1 - prob))
        assert abs(drawn.count(id_) - count * prob) <= 4.5 * deviation + 1
