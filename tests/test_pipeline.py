"""The Translator: text in, a trace that agrees with itself out, with any search, in batches and threads."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

import translator
import translator.assembly
import translator.pipeline
from translator import (
    BusyError,
    CancelledError,
    DecodeConfig,
    InputError,
    Step,
    Trace,
    Translator,
    pipeline,
)
from translator.assembly import live_step
from translator.decode import finish, search, search_batch

TEXT = "Guten Morgen, ich renne!"
METHODS = ("greedy", "beam", "sample")


def drain(steps: Generator[Step, None, Trace]) -> tuple[list[Step], Trace]:
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return seen, end.value


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_trace_is_whole_and_agrees_with_itself(tiny: Translator, method: str) -> None:
    trace = tiny.translate(f"  {TEXT}", method=method, max_length=20)
    assert trace.source == f"  {TEXT}"
    assert trace.normalised == TEXT
    assert trace.translation == tiny.bundle.tgt.decode([token.id for token in trace.tgt])
    typed = "".join(trace.source[slice(*t.span)] for t in trace.src[:-1] if t.span)
    assert typed.replace(" ", "") == TEXT.replace(" ", "")
    assert [t.id for t in trace.src] == list(tiny.source_ids(TEXT))
    assert (trace.src[-1].surface, trace.start.surface) == ("</s>", "<s>")
    assert trace.truncated == (trace.tgt[-1].id != 2)
    for weights in (trace.encoder, trace.decoder, trace.cross):
        np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-5)
    for t, step in enumerate(trace.steps):
        assert (step.index, step.token) == (t, trace.tgt[t])
        assert step.tokens == trace.tgt[: t + 1]
        assert len(step.candidates) == 8
        assert step.log_prob <= step.candidates[0].log_prob + 1e-6
        assert bool(step.beams) == (method == "beam")
    assert trace.settings.method == method
    assert trace.checkpoint == tiny.bundle.info
    assert trace.seconds > 0


@pytest.mark.parametrize("method", ["greedy", "sample"])
def test_live_steps_are_the_steps_of_the_trace(tiny: Translator, method: str) -> None:
    live, trace = drain(tiny.stream(TEXT, method=method, max_length=15, candidates=3))
    assert len(live) == len(trace.steps)
    for a, b in zip(live, trace.steps, strict=True):
        assert (a.index, a.token.id, [t.id for t in a.tokens]) == (b.index, b.token.id, [t.id for t in b.tokens])
        assert a.log_prob == pytest.approx(b.log_prob, abs=1e-5)
        assert a.entropy == pytest.approx(b.entropy, abs=1e-5)
        assert [c.token for c in a.candidates] == [c.token for c in b.candidates]
        np.testing.assert_allclose(a.cross, b.cross, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_step_that_comes_too_soon_is_not_made(tiny: Translator, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    made: list[object] = []
    monkeypatch.setattr(translator.pipeline, "live_step", lambda *args: made.append(args) or live_step(*args))
    every, _ = drain(tiny.stream(TEXT, method=method, max_length=15))
    assert len(made) == len(every) > 3
    assert [step.log_probs for step in every] == [
        tuple(s.log_prob for s in every[:n]) for n in range(1, len(every) + 1)
    ]
    made.clear()
    (first,), trace = drain(tiny.stream(TEXT, method=method, max_length=15, every=3600))
    assert len(made) == 1 and first.index == 0
    assert trace.translation == tiny.translate(TEXT, method=method, max_length=15).translation
    steps = tiny.stream(TEXT, method=method, max_length=15, every=0.05)
    next(steps)
    time.sleep(0.06)
    assert next(steps).log_probs == every[1].log_probs


@pytest.mark.slow
def test_a_live_beam_search_ends_in_the_same_trace(tiny: Translator) -> None:
    live, trace = drain(tiny.stream(TEXT, method="beam", max_length=15))
    assert trace.translation == tiny.translate(TEXT, method="beam", max_length=15).translation
    assert [step.beams for step in trace.steps] == [step.beams for step in live[: len(trace.steps)]]


@pytest.mark.slow
def test_a_search_that_gives_more_than_may_be_kept_is_replayed(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, replays = tiny.translate(TEXT, method="beam", beam=3, max_length=15), []
    real = translator.assembly.replay
    monkeypatch.setattr("translator.assembly.replay", lambda *a, **more: replays.append(a) or real(*a, **more))
    for kept, times in ((translator.assembly.RECORDED, 0), (20_000, 1)):
        monkeypatch.setattr("translator.assembly.RECORDED", kept)
        trace = tiny.translate(TEXT, method="beam", beam=3, max_length=15)
        assert len(replays) == times and trace.tgt == whole.tgt
        np.testing.assert_allclose(trace.decoder, whole.decoder, atol=1e-5)


def test_nothing_is_decoded_twice(tiny: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"encode": 0, "step": 0}

    def counted(name: str) -> None:
        real = getattr(tiny.bundle.model, name)

        def counting(*args: object, **more: object) -> object:
            calls[name] += 1
            return real(*args, **more)

        monkeypatch.setattr(tiny.bundle.model, name, counting)

    for name in calls:
        counted(name)
    trace = tiny.translate(TEXT, max_length=9)
    assert calls == {"encode": 1, "step": len(trace.tgt)}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_gives_the_single_translations(tiny: Translator, method: str) -> None:
    texts = [TEXT, "Ich renne.", "Haus", "Das Haus ist groß, aber alt. Guten Morgen!", "京都 😀"]
    batch = tiny.translate_batch(texts, method=method, beam=3)
    assert batch == [tiny.translate(text, method=method, beam=3).translation for text in texts]


@pytest.mark.slow
def test_a_batch_names_what_it_refuses(tiny: Translator) -> None:
    texts = [TEXT, " ", "x" * 1001]
    with pytest.raises(InputError, match="text 2: nothing to translate"):
        tiny.translate_batch(texts)
    told: dict[int, str] = {}
    found = tiny.translate_batch(texts, refused=lambda index, error: told.update({index: str(error)}))
    assert found[0]
    assert found[1:] == ["", ""]
    assert told.keys() == {1, 2}
    assert tiny.translate_batch([]) == []


@pytest.mark.slow
def test_settings_come_from_the_checkpoint_unless_they_are_given(tiny_checkpoint: Path) -> None:
    bundle = translator.load(tiny_checkpoint).bundle
    own = Translator(dataclasses.replace(bundle, decode=DecodeConfig(method="beam", beam=2, max_length=5)))
    assert own.translate(TEXT).settings == DecodeConfig(method="beam", beam=2, max_length=5)
    assert own.translate(TEXT, beam=3, max_length=None).settings == DecodeConfig(method="beam", beam=3)


def test_a_forced_translation_is_scored_not_searched(tiny: Translator) -> None:
    trace = tiny.force(TEXT, "Good morning!")
    assert trace.translation == "Good morning!"
    assert not trace.truncated
    searched = tiny.translate(TEXT, max_length=10)
    again = tiny.force(TEXT, [token.id for token in searched.tgt])
    np.testing.assert_allclose(again.cross, searched.cross, atol=1e-5)
    assert again.score == pytest.approx(searched.score)
    assert again.truncated == searched.truncated


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_prefix_begins_the_translation(tiny: Translator, method: str) -> None:
    trace = tiny.translate(TEXT, method=method, prefix="Good morning")
    assert trace.translation.startswith("Good morning")
    ids = tiny.bundle.tgt.ids("Good morning")
    assert [token.id for token in trace.tgt[: len(ids)]] == ids


@pytest.mark.parametrize(
    "text",
    ["\ud800x", "x\udfff\ud83d", "😀👩\u200d👩\u200d👧", "\u202eabc", "العربية", "ﷺ" * 20, "e" + "\u0301" * 40],
)
def test_strange_text_gives_a_trace_that_can_be_written(tiny: Translator, text: str) -> None:
    trace = tiny.translate(text, max_length=8)
    for part in (trace.source, trace.normalised, trace.translation, *(t.surface for t in (*trace.src, *trace.tgt))):
        part.encode("utf-8")
    assert len(trace.source) == len(text)


@pytest.mark.parametrize("method", METHODS)
def test_stop_ends_the_work_between_two_steps(tiny: Translator, method: str) -> None:
    flag = threading.Event()
    steps = tiny.stream(TEXT, method=method, stop=flag.is_set)
    next(steps)
    next(steps)
    flag.set()
    with pytest.raises(CancelledError):
        next(steps)
    with pytest.raises(CancelledError):
        tiny.translate_batch([TEXT], method=method, stop=lambda: True)


def test_the_deadline_ends_the_work(tiny: Translator) -> None:
    steps = tiny.stream(TEXT, deadline=0.2)
    next(steps)
    time.sleep(0.25)
    with pytest.raises(BusyError, match=r"longer than 0.2 seconds"):
        next(steps)


@pytest.mark.slow
def test_threads_share_a_translator(tiny: Translator) -> None:
    texts = [f"Ich renne {n}." for n in range(12)]
    alone = [tiny.translate(text, max_length=15) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: tiny.translate(text, max_length=15), texts))
    for a, b in zip(alone, together, strict=True):
        assert a.translation == b.translation
        np.testing.assert_allclose(a.cross, b.cross, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("failing", "method"), [(1, "greedy"), (3, "greedy"), (99, "beam")])
def test_when_memory_runs_out_the_cpu_does_it_again(
    tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failing: int, method: str
) -> None:
    """Memory runs out at the first step, at the third, or in the replay; steps already shown come once only."""
    monkeypatch.setattr("translator.assembly.RECORDED", translator.assembly.RECORDED if failing < 99 else 0)
    tiny = translator.load(tiny_checkpoint, device="cpu")
    expected = tiny.translate(TEXT, method=method, max_length=8)
    taken = 0

    def step(*args: object) -> object:
        nonlocal taken
        taken += 1
        if taken == failing:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return type(tiny.bundle.model).step(tiny.bundle.model, *args)  # type: ignore[arg-type]

    def decode(*args: object) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(tiny.bundle.model, "step", step)
    monkeypatch.setattr(tiny.bundle.model, "decode", decode)
    live, trace = drain(tiny.stream(TEXT, method=method, max_length=8))
    assert [step.index for step in live] == list(range(len(expected.tgt)))
    assert [t.id for t in trace.tgt] == [t.id for t in expected.tgt]
    np.testing.assert_allclose(trace.decoder, expected.decoder, atol=1e-6)
    assert "once more on the CPU" in caplog.text
    assert TEXT not in caplog.text


@pytest.mark.slow
def test_memory_that_runs_out_in_a_batch(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = translator.load(tiny_checkpoint, device="cpu")
    expected = tiny.translate_batch([TEXT])

    def encode(*args: object, **more: object) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(tiny.bundle.model, "encode", encode)
    assert tiny.translate_batch([TEXT]) == expected


def test_a_fixed_length_checkpoint_shows_the_padding_it_reads(checkpoint_maker: ModuleType, tiny: Translator) -> None:
    bundle = tiny.bundle
    model = checkpoint_maker.tiny_model(len(bundle.src), len(bundle.tgt), padded_length=24)
    fixed = Translator(dataclasses.replace(bundle, model=model))
    trace = fixed.translate("Ich renne.", max_length=5)
    assert len(trace.src) == 24
    assert [t.surface for t in trace.src[-2:]] == ["<pad>", "<pad>"]
    assert fixed.translate_batch(["Ich renne."], max_length=5) == [trace.translation]


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_text_does_not_depend_on_batch_or_threads(tiny: Translator) -> None:
    """500 sentences, alone and eight at once, on one thread and on two: equal wherever the margin exceeds 1e-4."""
    words = ["Ich", "renne", "in", "den", "Park", "Haus", "alt", "groß", "Frau", "Müller", "京", "😀"]
    rng = np.random.default_rng(3)
    sources = [tiny.source_ids(" ".join(rng.choice(words, rng.integers(1, 9)))) for _ in range(500)]
    config, limits = DecodeConfig(), [12] * 500
    before, found, maps = torch.get_num_threads(), [], []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            maps.append([tiny.translate(tiny.bundle.src.decode(ids), max_length=12) for ids in sources[:20]])
            found.append(search_batch(tiny.engine, sources, config, max_lengths=limits, rows=1))
            found.append(search_batch(tiny.engine, sources, config, max_lengths=limits, rows=8))
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*maps, strict=True):
        for kind in ("encoder", "decoder", "cross"):
            np.testing.assert_allclose(one.weights(kind), two.weights(kind), atol=1e-5)
    for source, *ids in zip(sources, *found, strict=True):
        if len(set(ids)) > 1:
            differ = min(t for t in range(12) if len({x[t : t + 1] for x in ids}) > 1)
            steps = list(search(tiny.engine, source, config, max_length=12, prefix=ids[0][: differ + 1]))
            (_, best), (_, second) = steps[differ].candidates(2)
            assert best - second <= 1e-4
    assert finish(search(tiny.engine, sources[0], config, max_length=12)).ids == found[0][0]


def test_the_package_offers_what_it_says() -> None:
    for name in translator.__all__:
        assert getattr(translator, name) is not None
    assert translator.load is pipeline.load
    with pytest.raises(AttributeError, match="no attribute 'train'"):
        translator.train  # noqa: B018
