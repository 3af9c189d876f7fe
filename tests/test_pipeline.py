"""The Translator: text in, a trace that agrees with itself out; everything else refused by name."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

import translator
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
from translator.decode import finish, search, search_batch
from translator.model import Gates
from translator.pipeline import Limits

TEXT = "Guten Morgen, ich renne!"
METHODS = ("greedy", "beam", "sample")


def drain(steps: Generator[Step, None, Trace]) -> tuple[list[Step], Trace]:
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return seen, end.value


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


def test_a_live_beam_search_ends_in_the_same_trace(tiny: Translator) -> None:
    live, trace = drain(tiny.stream(TEXT, method="beam", max_length=15))
    assert trace.translation == tiny.translate(TEXT, method="beam", max_length=15).translation
    assert [step.beams for step in trace.steps] == [step.beams for step in live[: len(trace.steps)]]


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


def test_a_trace_survives_a_file(tiny: Translator, tmp_path: Path) -> None:
    trace = tiny.translate(TEXT, method="beam", max_length=12)
    trace.save(tmp_path / "x.npz")
    again = Trace.load(tmp_path / "x.npz")
    assert again._meta() == trace._meta()
    for name in ("encoder", "decoder", "cross", "log_probs"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
    for a, b in zip(again.steps, trace.steps, strict=True):
        np.testing.assert_array_equal(a.cross, b.cross)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("change", [lambda maps: maps.astype(int), lambda maps: maps[..., :-1], lambda maps: maps[0]])
def test_a_trace_file_with_other_maps_is_refused(
    tiny: Translator, tmp_path: Path, kind: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    tiny.translate(TEXT, max_length=4).save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as data:
        arrays = dict(data)
    np.savez(tmp_path / "x.npz", **{**arrays, kind: change(arrays[kind])})
    with pytest.raises(InputError, match="is no trace file"):
        Trace.load(tmp_path / "x.npz")


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta.update(truncated="no"),
        lambda meta: meta.update(source=5),
        lambda meta: meta["src"][0].update(id="5"),
        lambda meta: meta["src"][0].update(span=[0]),
        lambda meta: meta["src"][0].update(special=None),
        lambda meta: meta["checkpoint"].update(name=None),
        lambda meta: meta["steps"][0].update(log_prob="-1"),
        lambda meta: meta["steps"][0]["candidates"][0].update(log_prob=None),
        lambda meta: meta["steps"][0]["beams"][0].update(ids=[1.5]),
        lambda meta: meta["settings"].update(beam=0),
        lambda meta: meta.update(colour="red"),
    ],
)
def test_a_trace_file_that_says_something_else_is_refused(
    tiny: Translator, tmp_path: Path, change: Callable[[dict], None]
) -> None:
    tiny.translate(TEXT, method="beam", max_length=4).save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as data:
        arrays = dict(data)
    meta = json.loads(arrays["meta"].tobytes())
    change(meta)
    np.savez(tmp_path / "x.npz", **{**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)})
    with pytest.raises(InputError):
        Trace.load(tmp_path / "x.npz")


def test_decoder_and_cross_maps_are_of_the_same_heads(tiny: Translator) -> None:
    trace = tiny.translate(TEXT, max_length=4)
    with pytest.raises(ValueError, match="of the same heads"):
        dataclasses.replace(trace, cross=trace.cross[:, :1].copy())


def test_another_kind_of_attention_is_named(tiny: Translator) -> None:
    trace = tiny.translate(TEXT, max_length=2)
    for ask in (trace.weights, trace.queries, trace.keys):
        with pytest.raises(InputError, match="attention kind is 'self'"):
            ask("self")


def test_a_trace_file_that_was_damaged_is_refused(tiny: Translator, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    tiny.translate(TEXT, max_length=4).save(path)
    whole = path.read_bytes()
    damaged = [whole[: len(whole) * part // 20] for part in range(20)]
    for at in range(0, len(whole), 29):
        damaged.append(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    np.save(tmp_path / "x.npy", np.zeros(3))
    survived = 0  # some bytes of an archive say nothing
    for content in [*damaged, (tmp_path / "x.npy").read_bytes()]:
        path.write_bytes(content)
        with suppress(InputError):
            Trace.load(path)
            survived += 1
    assert survived < len(damaged) / 2


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_gives_the_single_translations(tiny: Translator, method: str) -> None:
    texts = [TEXT, "Ich renne.", "Haus", "Das Haus ist groß, aber alt. Guten Morgen!", "京都 😀"]
    batch = tiny.translate_batch(texts, method=method, beam=3)
    assert batch == [tiny.translate(text, method=method, beam=3).translation for text in texts]


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


def test_settings_come_from_the_checkpoint_unless_they_are_given(tiny_checkpoint: Path) -> None:
    bundle = translator.load(tiny_checkpoint).bundle
    own = Translator(type(bundle)(**{**vars(bundle), "decode": DecodeConfig(method="beam", beam=2, max_length=5)}))
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


@pytest.mark.parametrize("method", METHODS)
def test_a_prefix_begins_the_translation(tiny: Translator, method: str) -> None:
    trace = tiny.translate(TEXT, method=method, prefix="Good morning")
    assert trace.translation.startswith("Good morning")
    ids = tiny.bundle.tgt.ids("Good morning")
    assert [token.id for token in trace.tgt[: len(ids)]] == ids


@pytest.mark.parametrize(
    "text", ["", " ", "\t\n", "\u200b", "\u3000", "\ufeff", "\u200b\u200d\u2060", "\u00ad", "\x00"]
)
def test_blank_is_nothing_to_translate_and_the_model_is_not_run(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(tiny.bundle.model, "encode", None)
    for work in (tiny.translate, tiny.stream, tiny.source_ids):
        with pytest.raises(InputError, match="nothing to translate"):
            work(text)


def test_the_limits_are_exact_and_say_the_size(tiny: Translator) -> None:
    limits = Limits(characters=20, source_tokens=10, target_tokens=12)
    strict = Translator(tiny.bundle, limits=limits)
    with pytest.raises(InputError, match=r"has 21 characters; at most 20 are allowed, and nothing is cut"):
        strict.translate("x" * 21)
    assert len(strict.source_ids("x" * 8)) == 10  # the space before the word and EOS are tokens too
    with pytest.raises(InputError, match=r"has 11 tokens; at most 10 are allowed, and nothing is cut"):
        strict.source_ids("x" * 9)
    with pytest.raises(InputError, match="max_length is 13; at most 12"):
        strict.translate("x", max_length=13)
    assert len(strict.translate("x", max_length=12).tgt) <= 12
    with pytest.raises(InputError, match="target has 13 tokens; at most 12"):
        strict.force("x", [200] * 13)
    with pytest.raises(InputError, match="the prefix has 13 tokens"):
        strict.translate("x", prefix=[200] * 13)
    with pytest.raises(InputError, match="normalised, has 21 characters"):
        strict.source_ids("…" * 7)


def test_over_long_text_is_refused_at_once(tiny: Translator) -> None:
    for text in ("字" * 1_000_000, "a\u0301" * 500_000, "x " * 500_000):
        started = time.perf_counter()
        with pytest.raises(InputError, match="1,000,000 characters; at most 1,000"):
            tiny.stream(text)
        assert time.perf_counter() - started < 0.05


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "guess"}, "method is 'guess'"),
        ({"method": ["beam"]}, "method is"),
        ({"beam": 0}, "beam is 0"),
        ({"beam": 1.5}, "beam is 1.5"),
        ({"beam": True}, "beam is True"),
        ({"top_p": float("nan")}, "top_p is nan"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"temperature": 10**400}, "temperature is 1000"),
        ({"length_penalty": -(10**400)}, "length_penalty is -1000"),
        ({"max_length": 161}, "max_length is 161"),
        ({"max_length": 0}, "max_length is 0"),
        ({"colour": "red"}, "unknown setting 'colour'"),
        ({"deadline": -1}, "deadline is -1"),
        ({"deadline": "soon"}, "deadline is 'soon'"),
        ({"prefix": [1.5]}, "forced ids"),
        ({"prefix": [10**9]}, "id 1000000000"),
        ({"prefix": None}, "forced ids are None"),
        ({"prefix": 5}, "forced ids are 5"),
        ({"prefix": b"ab"}, "forced ids are b'ab'"),
        ({"prefix": [True]}, "forced ids"),
        ({"prefix": {5, 6}}, "forced ids"),
        ({"prefix": np.array(5)}, "forced ids"),
        ({"prefix": [0]}, "the prefix holds id 0"),
        ({"prefix": [2, 5]}, "the prefix goes on after"),
        ({"stop": 5}, "stop is 5"),
        ({"deadline": True}, "deadline is True"),
        ({"gates": {"cross": [[1, 0]]}}, "gates is dict; it must be what interventions.make_gates gives"),
        ({"gates": Gates(cross=torch.ones(2, 3))}, r"gates of cross are \(2, 3\); they must be \(2, 2\)"),
        ({"gates": Gates(encoder=torch.ones(1, 2, 2))}, r"gates of encoder are \(1, 2, 2\)"),
        ({"gates": Gates(decoder="off")}, "gates of decoder are str"),
        ({"gates": Gates(decoder=torch.full((2, 2), torch.nan))}, "gate of decoder is no number"),
        ({"gates": Gates(decoder=torch.ones(2, 2, dtype=torch.complex64))}, "gate of decoder is no number"),
    ],
)
def test_bad_settings_are_named_before_the_first_step(
    tiny: Translator, settings: dict[str, object], words: str
) -> None:
    for work in (tiny.translate, tiny.stream):
        with pytest.raises(InputError, match=words):
            work(TEXT, **settings)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (None, "forced ids are None"),
        (5, "forced ids are 5"),
        ({5: 6}, "forced ids"),
        ([], "the target is blank"),
        (" ", "the target is blank"),
        ([0, 2], "the target holds id 0"),
        ([10**9], "the target holds id 1000000000"),
        ([2, 5], "the target goes on after"),
    ],
)
def test_a_target_that_cannot_be_is_named(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch, target: object, words: str
) -> None:
    monkeypatch.setattr(tiny.bundle.model, "encode", None)  # nothing runs before
    with pytest.raises(InputError, match=words):
        tiny.force(TEXT, target)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [torch.float64, torch.float16, torch.int64, torch.bool])
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_gates_may_be_any_kind_of_number(tiny: Translator, method: str, kind: torch.dtype) -> None:
    one, other = (
        tiny.translate(TEXT, method=method, max_length=5, gates=Gates(cross=torch.zeros(2, 2, dtype=each)))
        for each in (torch.float32, kind)
    )
    np.testing.assert_array_equal(one.cross, other.cross)
    assert other.altered


def test_a_far_deadline_is_none(tiny: Translator) -> None:
    assert tiny.translate(TEXT, deadline=10**400, max_length=2).tgt


def test_numbers_of_numpy_are_numbers(tiny: Translator, tmp_path: Path) -> None:
    want = tiny.translate(TEXT, method="sample", temperature=0.5, seed=3, max_length=9, prefix=[5, 6])
    given = {"temperature": np.float32(0.5), "seed": np.int64(3), "max_length": np.int32(9), "prefix": np.array([5, 6])}
    found = tiny.translate(TEXT, method="sample", **given)
    assert found.settings == want.settings and found.tgt == want.tgt
    found.save(tmp_path / "x.npz")
    assert tiny.force(TEXT, np.array([token.id for token in want.tgt])).tgt == want.tgt


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", True])
@pytest.mark.parametrize("name", ["characters", "source_tokens", "target_tokens"])
def test_a_limit_is_a_number_above_0(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name} is "):
        Limits(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", ["one text", b"bytes", None, 5])
def test_a_batch_is_no_text(tiny: Translator, texts: object) -> None:
    with pytest.raises(InputError, match="must be a list of texts"):
        tiny.translate_batch(texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["stop", "refused"])
def test_a_batch_asks_functions_only(tiny: Translator, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 5"):
        tiny.translate_batch([TEXT], **{name: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [None, 3, b"bytes", ["list"]])
def test_what_is_no_text_is_refused(tiny: Translator, text: object) -> None:
    with pytest.raises(InputError, match="must be a string"):
        tiny.translate(text)  # type: ignore[arg-type]


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


def test_threads_share_a_translator(tiny: Translator) -> None:
    texts = [f"Ich renne {n}." for n in range(12)]
    alone = [tiny.translate(text, max_length=15) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: tiny.translate(text, max_length=15), texts))
    for a, b in zip(alone, together, strict=True):
        assert a.translation == b.translation
        np.testing.assert_allclose(a.cross, b.cross, atol=1e-5)


@pytest.mark.parametrize(("failing", "method"), [(1, "greedy"), (3, "greedy"), (99, "beam")])
def test_when_memory_runs_out_the_cpu_does_it_again(
    tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failing: int, method: str
) -> None:
    """Memory runs out at the first step, at the third, or in the replay; steps already shown come once only."""
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


def test_memory_that_runs_out_in_a_batch(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = translator.load(tiny_checkpoint, device="cpu")
    expected = tiny.translate_batch([TEXT])

    def memory(*args: object) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(tiny.bundle.model, "memory", memory)
    assert tiny.translate_batch([TEXT]) == expected


def test_a_fixed_length_checkpoint_shows_the_padding_it_reads(checkpoint_maker: ModuleType, tiny: Translator) -> None:
    bundle = tiny.bundle
    model = checkpoint_maker.tiny_model(len(bundle.src), len(bundle.tgt), padded_length=24)
    fixed = Translator(type(bundle)(**{**vars(bundle), "model": model}))
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
            found.append(search_batch(tiny.bundle.model, sources, config, max_lengths=limits, rows=1))
            found.append(search_batch(tiny.bundle.model, sources, config, max_lengths=limits, rows=8))
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*maps, strict=True):
        for kind in ("encoder", "decoder", "cross"):
            np.testing.assert_allclose(one.weights(kind), two.weights(kind), atol=1e-5)
    for source, *ids in zip(sources, *found, strict=True):
        if len(set(ids)) > 1:
            differ = min(t for t in range(12) if len({x[t : t + 1] for x in ids}) > 1)
            steps = list(search(tiny.bundle.model, source, config, max_length=12, prefix=ids[0][: differ + 1]))
            (_, best), (_, second) = steps[differ].candidates(2)
            assert best - second <= 1e-4
    assert finish(search(tiny.bundle.model, sources[0], config, max_length=12)).ids == found[0][0]


def test_the_package_offers_what_it_says() -> None:
    for name in translator.__all__:
        assert getattr(translator, name) is not None
    assert translator.load is pipeline.load
    with pytest.raises(AttributeError, match="no attribute 'train'"):
        translator.train  # noqa: B018
