"""The patching board: nothing and everything patched, by hand with the model's modules, and hooks in `transformers`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from translator import CancelledError, InputError, Translator
from translator.analysis.minimal import Runs, matched, minimal_pair, noisy_pair, places_of
from translator.analysis.patching import Patch, grid, patched_translation, restored
from translator.analysis.sites import word_scale

CLEAN, CORRUPT = "Ich renne in den Park.", "Ich renne in dem Park."
SAME = {"step": 2, "word": 40, "against": 50}


@pytest.fixture(scope="module", params=["pre", "post", "embedding norm", "unequal", "padded"])
def runs(request: pytest.FixtureRequest, laid_out: Callable[[str], Translator]) -> Runs:
    engine = laid_out(request.param)
    return minimal_pair(engine, CLEAN, CORRUPT, max_length=8, **SAME)


@pytest.mark.slow
def test_the_differences_are_the_models_own(tiny: Translator) -> None:
    runs = minimal_pair(tiny, CLEAN, CORRUPT, max_length=8, **SAME)
    reads = [token.id for token in tiny.translate(CLEAN, method="greedy", max_length=8).tgt[:2]]
    for text, delta in ((CLEAN, runs.clean_delta), (CORRUPT, runs.corrupt_delta)):
        log_probs = tiny.force(text, [*reads, 40]).log_probs[-1] - tiny.force(text, [*reads, 50]).log_probs[-1]
        assert delta == pytest.approx(log_probs, abs=1e-4)
    assert runs.restored(np.array([runs.corrupt_delta, runs.clean_delta])).tolist() == [0, 1]


@pytest.mark.slow
def test_nothing_patched_is_the_corrupted_run_and_everything_the_clean_one(runs: Runs) -> None:
    encoder, decoder = (runs.clean.pair.model.config.head_counts[side][0] for side in ("encoder", "decoder"))
    everything = [[Patch("encoder", "residual", layer)] for layer in range(encoder + 1)]
    everything += [[Patch("decoder", "residual", decoder)], [Patch("cross", "k", 0), Patch("encoder", "residual", 0)]]
    everything += [[Patch("cross", what, layer) for what in ("k", "v") for layer in range(decoder)]]
    found = restored(runs, [[], *everything])
    np.testing.assert_allclose(found, [0, *[1] * len(everything)], atol=1e-4)


def test_patching_what_is_equal_in_both_changes_nothing(runs: Runs) -> None:
    equal = [n for n, own in enumerate(runs.partner) if "/" not in runs.words[n] and own >= 0]
    found = restored(runs, [[Patch("encoder", "residual", 0, None, n)] for n in equal])
    np.testing.assert_allclose(found, 0, atol=1e-4)
    assert restored(runs, [[Patch("decoder", "q", 0)]])[0] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("what", ["residual", "head", "q", "k", "v", "pattern", "ffn"])
def test_a_grid_is_its_cells_one_by_one(runs: Runs, what: Any, kind: str) -> None:
    if kind == "cross" and what in ("residual", "ffn"):
        return
    told: list[tuple[int, int]] = []
    found = grid(runs, what, kind, progress=lambda done, total: told.append((done, total)))
    layers, heads = runs.clean.pair.model.config.head_counts[kind]
    tokens = len(runs.words) if kind == "encoder" else len(runs.reads)
    wide = tokens if what in ("residual", "ffn") else heads
    assert found.restored.shape == (layers + (what == "residual"), wide) == (len(found.rows), len(found.columns))
    assert told[-1] == (found.restored.size,) * 2
    for row, column in ((0, 0), (len(found.rows) - 1, wide - 1)):
        alone = restored(runs, [[found.patches[row][column]]])[0]
        assert found.restored[row, column] == pytest.approx(alone, abs=1e-4)


def test_all_heads_together_are_the_whole_attention(runs: Runs) -> None:
    """The output of all heads, and their patterns with their values, are the same thing."""
    _, heads = runs.clean.pair.model.config.head_counts["encoder"]
    together = [Patch("encoder", "head", 0, head) for head in range(heads)]
    by_cause = [Patch("encoder", "pattern", 0), Patch("encoder", "v", 0)]
    by_more = [Patch("encoder", name, 0) for name in ("q", "k", "v")]
    whole, *others = restored(runs, [[Patch("encoder", "head", 0)], together, by_cause, by_more])
    np.testing.assert_allclose(others, whole, atol=1e-4)
    assert abs(whole) > 1e-3


@contextmanager
def swapped(net: torch.nn.Module, name: str, change: Callable[[Tensor], Tensor], *, before: bool) -> Iterator[None]:
    """`net` with what a module reads or gives changed by a plain hook of PyTorch's."""

    def after(module: object, given: object, out: Any) -> Any:
        return (change(out[0]), *out[1:]) if isinstance(out, tuple) else change(out)

    module = net.get_submodule(name)
    if before:
        handle = module.register_forward_pre_hook(lambda module, given: (change(given[0]), *given[1:]))
    else:
        handle = module.register_forward_hook(after)
    yield
    handle.remove()


WIDTH = {"encoder": 16, "decoder": 8, "cross": 8}
SITES = [
    (Patch("encoder", "residual", 2, None, 1), "model.encoder.layers.1", False),
    (Patch("encoder", "ffn", 0, None, None), "model.encoder.layers.0.fc2", False),
    (Patch("encoder", "head", 1, 1, 3), "model.encoder.layers.1.self_attn.out_proj", True),
    (Patch("encoder", "q", 1, 0, None), "model.encoder.layers.1.self_attn.q_proj", False),
    (Patch("encoder", "k", 0, 1, None), "model.encoder.layers.0.self_attn.k_proj", False),
    (Patch("encoder", "v", 2, 0, 2), "model.encoder.layers.2.self_attn.v_proj", False),
    (Patch("decoder", "ffn", 0, None, 2), "model.decoder.layers.0.fc2", False),
    (Patch("cross", "head", 0, 3, None), "model.decoder.layers.0.encoder_attn.out_proj", True),
    (Patch("cross", "q", 0, 2, 2), "model.decoder.layers.0.encoder_attn.q_proj", False),
    (Patch("cross", "k", 0, 0, 2), "model.decoder.layers.0.encoder_attn.k_proj", False),
    (Patch("cross", "v", 0, 1, None), "model.decoder.layers.0.encoder_attn.v_proj", False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("patch", "module", "before"), SITES, ids=lambda each: getattr(each, "what", None))
def test_transformers_with_plain_hooks_gives_the_same(
    marian: tuple[Translator, Any], patch: Patch, module: str, before: bool
) -> None:
    engine, net = marian
    traces = [engine.force(text, [9, 30, 41, 17]) for text in ("the house in old.", "the house on old.")]
    runs = minimal_pair(engine, *traces, step=2, word=30, against=52)
    assert runs.partner == tuple(range(len(traces[0].src)))
    sources = [torch.tensor([[token.id for token in trace.src]]) for trace in traces]
    reads = torch.tensor([[token.id for token in traces[0].reads[:3]]])

    def delta(source: Tensor) -> float:
        logits = net(input_ids=source, decoder_input_ids=reads).logits[0, -1]
        return float(logits[30] - logits[52])

    kept: list[Tensor] = []

    def keep(value: Tensor) -> Tensor:
        kept.append(value.clone())
        return value

    def put(value: Tensor) -> Tensor:
        value = value.clone()
        width = WIDTH[patch.kind]
        columns = slice(None) if patch.head is None else slice(width * patch.head, width * (patch.head + 1))
        rows = slice(None) if patch.position is None else slice(patch.position, patch.position + 1)
        value[:, rows, columns] = kept[0][:, rows, columns]
        return value

    with torch.inference_mode():
        with swapped(net, module, keep, before=before):
            clean = delta(sources[0])
        corrupt = delta(sources[1])
        with swapped(net, module, put, before=before):
            want = delta(sources[1])
    assert (runs.clean_delta, runs.corrupt_delta) == pytest.approx((clean, corrupt), abs=1e-4)
    found = restored(runs, [[patch]])[0] * (clean - corrupt) + corrupt
    assert found == pytest.approx(want, abs=1e-4)
    if (patch.kind, patch.what) != ("cross", "q"):  # above one layer, queries know of no source yet
        assert abs(want - corrupt) > 1e-4


def test_a_pattern_put_in_by_hand(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    model, pair = runs.clean.pair.model, runs.corrupt.pair
    attention, usual = model.encoder[1].attention, type(model.encoder[1].attention).weigh

    def weigh(self: Any, query: Tensor, key: Tensor, keep: Tensor | None) -> Tensor:
        weights = usual(self, query, key, keep)
        if self is attention:
            weights = weights.clone()
            weights[:, 1] = runs.clean.values["encoder", "pattern", 1][:, 1]
        return weights

    monkeypatch.setattr(type(attention), "weigh", weigh)
    with torch.inference_mode():
        logits = model.decode(pair.reads, model.encode(pair.src_ids, pair.src_keep).memory, pair.src_keep).logits[0, -1]
    monkeypatch.undo()
    want = runs.restored(float(logits[runs.word.id] - logits[runs.against.id]))
    assert restored(runs, [[Patch("encoder", "pattern", 1, 1)]])[0] == pytest.approx(want, abs=1e-4)


@pytest.mark.slow
def test_a_patched_translation(tiny: Translator) -> None:
    runs = minimal_pair(tiny, CLEAN, CORRUPT, **SAME)
    nothing, everything = (patched_translation(tiny, runs, each) for each in ([], [Patch("encoder", "residual", 0)]))
    assert nothing.translation == tiny.translate(CORRUPT, method="greedy").translation == runs.translations[1]
    assert everything.translation == tiny.translate(CLEAN, method="greedy").translation == runs.translations[0]
    assert (nothing.restored, everything.restored) == pytest.approx((0, 1), abs=1e-4)
    for patches in ([Patch("decoder", "pattern", 1, 0)], [Patch("cross", "head", 1), Patch("decoder", "ffn", 0)]):
        found = patched_translation(tiny, runs, patches, limit=6)
        assert len(found.ids) <= 6
        assert found.ids[:2] == tuple(runs.clean.pair.reads[0, 1:].tolist())
        assert found.restored == pytest.approx(restored(runs, [patches])[0], abs=1e-4)


@pytest.mark.slow
def test_a_patch_in_the_decoder_moves_the_next_word(tiny: Translator) -> None:
    """With the clean run's last state at the step, the patched model says there what the clean one says."""
    runs = minimal_pair(tiny, CLEAN, CORRUPT, **SAME)
    found = patched_translation(tiny, runs, [Patch("decoder", "residual", 2)], limit=3)
    assert found.ids[2] == int(tiny.translate(CLEAN, method="greedy").tgt[2].id)


@pytest.mark.slow
def test_without_a_step_it_is_where_the_translations_part(tiny: Translator) -> None:
    runs = minimal_pair(tiny, CLEAN, CORRUPT)
    first, second = (tiny.translate(text, method="greedy") for text in (CLEAN, CORRUPT))
    step = next(n for n, (a, b) in enumerate(zip(first.tgt, second.tgt, strict=False)) if a.id != b.id)
    assert (runs.step, runs.word.id, runs.against.id) == (step, first.tgt[step].id, second.tgt[step].id)
    assert runs.clean_delta > 0 > runs.corrupt_delta


def test_positions_are_matched_by_what_is_shared() -> None:
    assert matched([1, 2, 3, 9], [1, 7, 3, 9]) == (0, 1, 2, 3)
    assert matched([1, 2, 3, 4, 9], [1, 3, 4, 9]) == (0, 2, 3, 4)
    assert matched([1, 3, 4, 9], [1, 5, 6, 3, 4, 9]) == (0, -1, -1, 1, 2, 3)
    assert matched([1, 2, 4, 9], [1, 5, 6, 4, 9]) == (0, -1, -1, 2, 3)
    with pytest.raises(InputError, match="share no token"):
        matched([1, 2, 9], [4, 5, 9])


@pytest.mark.slow
def test_sentences_of_different_length(tiny: Translator) -> None:
    runs = minimal_pair(tiny, "Ich renne in den Park.", "Ich renne in den alten Park.", max_length=8, **SAME)
    lost = [n for n, own in enumerate(runs.partner) if own < 0]
    assert lost and runs.unmatched == tuple(runs.words[n] for n in lost)
    assert grid(runs, "residual").restored.shape[1] == len(runs.words) - len(lost)
    with pytest.raises(InputError, match=f"position {lost[0]}.* has no partner"):
        restored(runs, [[Patch("encoder", "v", 0, None, lost[0])]])
    with pytest.raises(InputError, match="'pattern', which needs sentences that match token by token"):
        grid(runs, "pattern")
    assert grid(runs, "pattern", "decoder").restored.shape == (2, 2)


@pytest.mark.slow
def test_noise_is_the_other_corruption(tiny: Translator) -> None:
    runs = noisy_pair(tiny, CLEAN, [1], step=2, strength=5, draws=3, max_length=8)
    again = noisy_pair(tiny, CLEAN, [1], step=2, strength=5, draws=3, max_length=8)
    assert runs.corrupt_delta == again.corrupt_delta != noisy_pair(tiny, CLEAN, [1], step=2, seed=1).corrupt_delta
    words, noisy = (each.values["encoder", "residual", 0] for each in (runs.clean, runs.corrupt))
    moved = (noisy - words).norm(dim=-1)
    assert moved.shape == (3, len(runs.words)) and (moved[:, 1] > 0).all() and (moved[:, [0, 2, 3]] == 0).all()
    found = grid(runs, "residual").restored
    np.testing.assert_allclose(found[0], np.arange(len(runs.words)) == 1, atol=1e-4)
    assert restored(runs, [[Patch("encoder", "residual", 1)]])[0] == pytest.approx(1, abs=1e-4)
    with pytest.raises(InputError, match="3 draws of noise"):
        patched_translation(tiny, runs, [])


@pytest.mark.slow
def test_without_a_step_noise_is_judged_where_it_costs_most(tiny: Translator) -> None:
    """By hand: the embedding's weight replaced by the noisy vector, the model run as it is."""
    trace = tiny.translate(CLEAN, method="greedy", max_length=8)
    runs = noisy_pair(tiny, trace, [1], strength=20, draws=1)
    model, ids, noisy = tiny.bundle.model, [token.id for token in trace.src], runs.corrupt.values
    shift = noisy["encoder", "residual", 0][0, 1] - runs.clean.values["encoder", "residual", 0][0, 1]
    assert shift.abs().max() > 0 and ids.count(ids[1]) == 1

    def log_probs() -> torch.Tensor:
        memory = model.encode(torch.tensor([ids]), None).memory
        reads = torch.tensor([[token.id for token in trace.reads]])
        said = model.decode(reads, memory, None).logits[0].log_softmax(-1)
        return said[range(len(trace.tgt)), [token.id for token in trace.tgt]]

    with torch.inference_mode():
        usual = log_probs()
        weight = model.src_embedding.weight
        before = weight[ids[1]].clone()
        weight[ids[1]] += shift / word_scale(model)
        try:
            lost, heard = usual - log_probs(), tiny.translate(CLEAN, method="greedy").translation
        finally:
            weight[ids[1]] = before
    words = [n for n, token in enumerate(trace.tgt) if not token.special]
    assert runs.step == max(words, key=lambda n: float(lost[n]))
    assert runs.translations == (trace.translation, heard)
    assert patched_translation(tiny, runs, []).translation == heard


def test_noise_is_named_by_words_and_tokens(tiny: Translator) -> None:
    trace = tiny.translate("Ich renne in den Park, den Park.", method="greedy", max_length=4)
    shown = [token.surface for token in trace.src]
    words = [token.word for token in trace.src]
    both = [n for n, token in enumerate(trace.src) if trace.source[slice(*token.span or (0, 0))] and words[n] in (3, 6)]
    assert places_of(trace, "den") == both
    assert places_of(trace, "Ich renne") == [n for n, word in enumerate(words) if word in (0, 1) and shown[n] != "</s>"]
    assert places_of(trace, shown[0]) == [n for n, each in enumerate(shown) if each == shown[0]]
    for text in ("Hund", "den Hund", "</s>"):
        with pytest.raises(InputError, match=f"{text.split()[-1]!r} is no word and no token of the first sentence"):
            places_of(trace, text)


def test_a_board_can_be_stopped(tiny: Translator) -> None:
    runs = minimal_pair(tiny, CLEAN, CORRUPT, max_length=8, **SAME)
    for work in (
        lambda: grid(runs, "head", stop=lambda: True),
        lambda: patched_translation(tiny, runs, [], stop=lambda: True),
    ):
        with pytest.raises(CancelledError):
            work()


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        (Patch("encoder", "residual", 3), "layer is 3"),
        (Patch("encoder", "head", 2), "layer is 2"),
        (Patch("encoder", "head", 0, 2), "head is 2"),
        (Patch("encoder", "ffn", 0, 1), "head is 1; ffn has no heads"),
        (Patch("cross", "residual", 0), "kind is 'cross'"),
        (Patch("middle", "q", 0), "'middle'"),
        (Patch("encoder", "soul", 0), "what is 'soul'"),  # type: ignore[arg-type]
        (Patch("encoder", "residual", 0, None, 99), "position is 99"),
        (Patch("decoder", "residual", 0, None, 3), "position is 3"),
    ],
)
def test_a_patch_that_cannot_be_is_named(tiny: Translator, patch: Patch, named: str) -> None:
    with pytest.raises(InputError, match=named):
        restored(minimal_pair(tiny, CLEAN, CORRUPT, max_length=8, **SAME), [[patch]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"corrupt": CLEAN}, "both are translated alike"),
        ({"corrupt": CLEAN, "step": 1}, "nothing to restore"),
        ({"corrupt": "京都"}, "share no token"),
        ({"step": 99}, "step is 99"),
        ({"step": 1, "word": "Xyzzy"}, "word is 'Xyzzy'"),
    ],
)
def test_sentences_that_are_no_minimal_pair_are_refused(tiny: Translator, settings: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        minimal_pair(tiny, **{"clean": CLEAN, "corrupt": CORRUPT, **settings})
