"""The index and what is found in it, against brute force over the traces themselves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import softmax

import translator
from translator import CheckpointError, InputError, Trace, Translator
from translator.analysis.index import FILE, Index, store_index, stored_index
from translator.analysis.indexing import make_index, states_of
from translator.analysis.joint import balanced, joint, plane
from translator.analysis.search import Corpus
from translator.checkpoints.save import amend

TEXTS = (
    "Das Haus ist groß, aber alt.",
    "Ich renne in den Park.",
    "Guten Morgen, Frau Müller!",
    "Ich renne in dem Park.",
    "Das Haus ist alt.",
    "Guten Morgen!",
)
KINDS = ("encoder", "decoder", "cross")


@pytest.fixture(scope="module")
def traces(tiny: Translator) -> list[Trace]:
    return [tiny.translate(text, method="greedy") for text in TEXTS]


@pytest.fixture(scope="module")
def index(tiny: Translator) -> Index:
    return make_index(tiny, TEXTS, data="six", width=16)


@pytest.fixture(scope="module")
def corpus(tiny: Translator, index: Index) -> Corpus:
    return Corpus(tiny, index)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_index_holds_each_rows_best_key(index: Index, traces: Sequence[Trace], kind: str) -> None:
    at = index.rows_at(kind)
    for n, trace in enumerate(traces):
        weights = trace.weights(kind)
        rows = slice(at[n], at[n + 1])
        np.testing.assert_array_equal(index.best[kind][..., rows], weights.argmax(-1))
        np.testing.assert_allclose(index.weight[kind][..., rows] / 255, weights.max(-1), atol=0.5 / 255 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_strongest_rows_are_those_of_brute_force(corpus: Corpus, traces: Sequence[Trace], kind: str) -> None:
    for layer, head in ((0, 1), (1, 0)):
        best: dict[int, float] = {}
        for n, trace in enumerate(traces):
            weights = trace.weights(kind)[layer, head]
            queries, keys = trace.queries(kind), trace.keys(kind)
            for q, row in enumerate(weights):
                if not queries[q].special and not keys[int(row.argmax())].special:
                    best[n] = max(best.get(n, 0), float(row.max()))
        found = corpus.head_rows(kind, layer, head, count=3)
        want = sorted(best.values(), reverse=True)[:3]
        np.testing.assert_allclose([hit.weight for hit in found][: len(want)], want, atol=1 / 255)
        for hit in found:
            trace = traces[hit.sentence]
            assert (hit.source, hit.translation) == (trace.source, trace.translation)
            assert trace.queries(kind)[hit.query].surface == hit.query_text
            assert trace.keys(kind)[hit.key].surface == hit.key_text
            assert trace.weights(kind)[layer, head, hit.query].argmax() == hit.key


def test_a_habit_is_what_the_head_does_most_often(corpus: Corpus, index: Index, traces: Sequence[Trace]) -> None:
    """A head made to look at the token before."""
    best = index.best["encoder"].copy()
    place = np.arange(best.shape[-1]) - index.src_at[index.sentence_of("encoder")]
    best[1, 1] = np.maximum(place - 1, 0)
    altered = Corpus(corpus.translator, replace(index, best={**index.best, "encoder": best}))
    found = altered.habit("encoder", 1, 1)
    assert (found.offset, found.special) == (-1, False)
    rows = sum(len(trace.src) - 1 for trace in traces)  # all but the ends, which are special
    assert found.share == pytest.approx((rows - len(TEXTS)) / rows)
    hits = altered.head_rows("encoder", 1, 1, order="typical", count=4)
    assert all(hit.query - hit.key == 1 for hit in hits) and len({hit.sentence for hit in hits}) == 4
    weights = index.weight["encoder"][1, 1] / 255
    usual = (place > 0) & np.concatenate([np.arange(len(trace.src)) < len(trace.src) - 1 for trace in traces])
    assert abs(hits[0].weight - np.median(weights[usual])) == pytest.approx(
        np.abs(weights[usual] - np.median(weights[usual])).min()
    )


@pytest.mark.parametrize("side", ["encoder", "decoder"])
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_neighbours_are_those_of_the_states_themselves(
    tiny: Translator, corpus: Corpus, traces: Sequence[Trace], side: str, layer: int
) -> None:
    """All 16 directions of the states are kept here, so that rounding is all that is lost."""
    states = [states_of(tiny, trace)[side == "decoder"][layer] for trace in traces]
    centre = np.concatenate(states).mean(axis=0)
    own = states[3][2] - centre
    cosines = [
        max((state - centre) @ own / np.linalg.norm(state - centre) / np.linalg.norm(own) for state in sentence)
        for sentence in states
    ]
    found = corpus.neighbours(traces[3], side, layer, 2, count=6)  # type: ignore[arg-type]
    assert found[0].cosine == pytest.approx(1, abs=0.01) and found[0].sentence in (3, int(np.argmax(cosines)))
    np.testing.assert_allclose([each.cosine for each in found], sorted(cosines, reverse=True), atol=0.02)
    for each in found:
        tokens = traces[each.sentence].src if side == "encoder" else traces[each.sentence].reads
        assert tokens[each.place].surface == each.text


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_like_a_cell_is_what_brute_force_finds(
    tiny: Translator, corpus: Corpus, traces: Sequence[Trace], kind: str
) -> None:
    """Weight times the mean cosine of both ends, from the states themselves; all 16 directions are kept here."""
    states = [dict(zip(("encoder", "decoder"), states_of(tiny, trace), strict=True)) for trace in traces]
    asking, asked = ("encoder" if kind == "encoder" else "decoder"), ("decoder" if kind == "decoder" else "encoder")
    for layer, head, query in ((0, 0, 2), (1, 1, 3)):
        key = int(traces[1].weights(kind)[layer, head, query].argmax())
        depth = 2 if kind == "cross" else layer
        centres = [
            np.concatenate([each[side][at] for each in states]).mean(0)
            for side, at in ((asking, layer), (asked, depth))
        ]
        ends = [states[1][asking][layer, query] - centres[0], states[1][asked][depth, key] - centres[1]]
        best: dict[int, float] = {}
        for n, trace in enumerate(traces):
            for q, row in enumerate(trace.weights(kind)[layer, head]):
                k = int(row.argmax())
                if trace.queries(kind)[q].special or trace.keys(kind)[k].special != traces[1].keys(kind)[key].special:
                    continue
                others = [states[n][asking][layer, q] - centres[0], states[n][asked][depth, k] - centres[1]]
                cosines = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(ends, others, strict=True)]
                best[n] = max(best.get(n, -1.0), float(row.max() * np.mean(cosines)))
        found = corpus.like_cell(traces[1], kind, layer, head, query, key, count=6)
        scores = [hit.score for hit in found if hit.score > -1]
        np.testing.assert_allclose(scores, sorted(best.values(), reverse=True), atol=0.02)


@pytest.mark.slow
def test_the_index_comes_back_as_it_was_stored(tiny_checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_checkpoint, folder)
    made = translator.load(folder, device="cpu")
    assert stored_index(made) is None
    index = make_index(made, TEXTS[:3], data="three")
    store_index(made, index)
    again = stored_index(translator.load(folder, device="cpu"))
    assert again is not None and again.texts == TEXTS[:3] and again.data == "three"
    for name in ("best", "weight", "states", "basis", "centre"):
        for part, values in getattr(index, name).items():
            np.testing.assert_array_equal(getattr(again, name)[part], values)
    content = (folder / FILE).read_bytes()
    with pytest.raises(CheckpointError, match="other weights"):
        store_index(made, replace(index, checkpoint="0" * 64))
    (folder / FILE).write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="run the command index again"):
        stored_index(made)


@pytest.mark.parametrize(
    "damage",
    [
        lambda index: replace(index, checkpoint="0" * 64),
        lambda index: replace(index, targets=index.targets + 10**6),
        lambda index: replace(index, src_at=index.src_at[:-1]),
        lambda index: replace(index, best={**index.best, "cross": index.best["cross"] + 99}),
        lambda index: replace(index, weight={**index.weight, "cross": index.weight["cross"][:1]}),
        lambda index: replace(index, basis={**index.basis, "encoder": index.basis["encoder"] * np.nan}),
    ],
)
def test_a_damaged_index_is_refused(
    tiny_checkpoint: Path, tmp_path: Path, index: Index, damage: Callable[[Index], Index]
) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_checkpoint, folder)
    made = translator.load(folder, device="cpu")
    amend(folder, {FILE: damage(index).packed()})
    with pytest.raises(CheckpointError, match="run the command index again"):
        stored_index(made)


@pytest.mark.slow
def test_an_index_that_nobody_vouches_for_or_that_unpacks_to_much_is_not_read(
    tiny_checkpoint: Path, tmp_path: Path, index: Index
) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(tiny_checkpoint, folder)
    made = translator.load(folder, device="cpu")
    (folder / FILE).write_bytes(index.packed())
    assert stored_index(made) is None
    huge = replace(index, states={**index.states, "encoder": np.zeros((1, 40 * 2**20, 1), dtype=np.int8)})
    amend(folder, {FILE: huge.packed()})
    with pytest.raises(CheckpointError, match="unpacks to more"):
        stored_index(made)


def test_an_index_that_is_too_large_is_refused(tiny: Translator, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translator.analysis.index.MOST_BYTES", 100)
    with pytest.raises(InputError, match="take fewer sentences"):
        store_index(tiny, index)


@pytest.mark.slow
def test_what_cannot_be_is_named(tiny: Translator, corpus: Corpus, traces: Sequence[Trace]) -> None:
    with pytest.raises(InputError, match="head is 9"):
        corpus.head_rows("cross", 0, 9)
    with pytest.raises(InputError, match="order is 'best'"):
        corpus.head_rows("cross", 0, 0, order="best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="count is 0"):
        corpus.head_rows("cross", 0, 0, count=0)
    with pytest.raises(InputError, match="layer is 3"):
        corpus.neighbours(traces[0], "encoder", 3, 0)
    with pytest.raises(InputError, match="place is 99"):
        corpus.neighbours(traces[0], "encoder", 0, 99)
    with pytest.raises(InputError, match="key is 99"):
        corpus.like_cell(traces[0], "cross", 0, 0, 0, 99)
    with pytest.raises(InputError, match="sentences is 1"):
        joint(corpus, "cross", 0, 0, sentences=1)
    with pytest.raises(InputError, match="'middle'"):
        joint(corpus, "middle", 0, 0)
    with pytest.raises(InputError, match="at least 2"):
        make_index(tiny, TEXTS[:1], data="one")
    with pytest.raises(InputError, match="sentence 2: "):
        make_index(tiny, [TEXTS[0], " "], data="blank")


def test_bringing_queries_and_keys_together_changes_no_weight() -> None:
    rng = np.random.default_rng(0)
    queries, keys = rng.normal(3, 2, (7, 5)), rng.normal(-1, 0.3, (9, 5))
    drawn = balanced(queries, keys)
    np.testing.assert_allclose(softmax(drawn[0] @ drawn[1].T, axis=1), softmax(queries @ keys.T, axis=1), atol=1e-9)
    np.testing.assert_allclose(drawn[0].mean(axis=0), drawn[1].mean(axis=0))
    assert [np.linalg.norm(cloud - cloud.mean(axis=0)) / len(cloud) ** 0.5 for cloud in drawn] == pytest.approx(
        [np.linalg.norm(drawn[0] - drawn[0].mean(axis=0)) / 7**0.5] * 2
    )


def test_the_plane_keeps_what_it_can() -> None:
    """Points that lie in a plane keep all their distances."""
    rng = np.random.default_rng(1)
    flat = rng.normal(size=(12, 2)) @ rng.normal(size=(2, 6))
    drawn, kept = plane(flat)
    want = np.linalg.norm(flat[:, None] - flat, axis=-1)
    np.testing.assert_allclose(np.linalg.norm(drawn[:, None] - drawn, axis=-1), want, atol=1e-9)
    assert kept == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_joint_picture_is_of_the_heads_own_queries_and_keys(
    tiny: Translator, corpus: Corpus, traces: Sequence[Trace], kind: str
) -> None:
    """Batched and padded there, sentence by sentence here; the softmax of the products are the traces' weights."""
    from translator.analysis.joint import _vectors

    both = [corpus.tokens(n) for n in range(4)]
    queries, keys = _vectors(corpus, both, kind, 1, 0)
    at = np.cumsum([0, *(len(trace.queries(kind)) for trace in traces[:4])])
    key_at = np.cumsum([0, *(len(trace.keys(kind)) for trace in traces[:4])])
    for n, trace in enumerate(traces[:4]):
        scores = queries[at[n] : at[n + 1]] @ keys[key_at[n] : key_at[n + 1]].T / np.sqrt(queries.shape[1])
        if kind == "decoder":
            scores[~np.tri(len(scores), dtype=bool)] = -np.inf
        np.testing.assert_allclose(softmax(scores, axis=1), trace.weights(kind)[1, 0], atol=1e-5)
    found = joint(corpus, kind, 1, 0, sentences=4)
    assert found.queries.shape == (at[-1], 2) and found.keys.shape == (key_at[-1], 2)
    assert [t.id for t in found.query_tokens[: at[1]]] == [t.id for t in traces[0].queries(kind)]
    assert -1 <= found.agreement <= 1 and 0 < found.kept <= 1
    assert torch.is_inference_mode_enabled() is False
