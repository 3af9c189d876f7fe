"""Why a head looks here: shares that sum to the cell's score, and words that are what the head adds to the logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from translator import InputError, Trace, Translator
from translator.analysis.cell import cell
from translator.analysis.contrast import contrast
from translator.analysis.parts import Part
from translator.analysis.why_here import why_here

LAYOUTS = ["pre", "post", "post with a last norm", "unbiased", "embedding norm", "no biases", "unequal", "padded"]
CELLS = [("encoder", 0, 1, 3, 2), ("encoder", 1, 0, 0, 4), ("decoder", 1, 1, 5, 2), ("decoder", 0, 0, 0, 0)]
CELLS += [("cross", 0, 0, 4, 6), ("cross", 1, 1, 2, 3)]


def translated(engine: Translator) -> Trace:
    return engine.translate("Das Haus ist groß, aber alt.", method="greedy", max_length=8)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("where", CELLS, ids=lambda where: f"{where[0]}{where[1]}")
def test_the_shares_sum_to_the_score(laid_out: Callable[[str], Translator], layout: str, where: tuple) -> None:
    engine = laid_out(layout)
    trace = translated(engine)
    if where[1] >= trace.weights(where[0]).shape[0]:
        return
    found, worked = why_here(engine, trace, *where), cell(engine, trace, *where)
    assert found.score == pytest.approx(worked.scores[where[4]], abs=1e-5)
    assert found.weight == pytest.approx(worked.weight, abs=1e-5)
    assert found.table.sum() == pytest.approx(found.score, abs=1e-5)
    assert found.by_query.sum() == pytest.approx(found.by_key.sum())
    assert found.table.shape == (len(found.query_parts), len(found.key_parts))


def test_marians_score_is_split_too(marian: tuple[Translator, Any]) -> None:
    """Against the query and key projections of `transformers`, seen by plain hooks."""
    engine, net = marian
    trace = engine.force("the house in old.", [9, 30, 41, 17])
    found = why_here(engine, trace, "cross", 0, 3, 2, 1)
    kept: list[torch.Tensor] = []
    attention = net.model.decoder.layers[0].encoder_attn
    handles = [
        each.register_forward_hook(lambda module, given, out: kept.append(out))
        for each in (attention.q_proj, attention.k_proj)
    ]
    src, reads = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.src, trace.reads))
    with torch.inference_mode():
        net(input_ids=src, decoder_input_ids=reads)
    for handle in handles:
        handle.remove()
    query, key = kept[0][0, 2, 24:32], kept[1][0, 1, 24:32]
    assert found.score == pytest.approx(float(query @ key) / 8**0.5, abs=1e-5)
    assert found.table.sum() == pytest.approx(found.score, abs=1e-5)


def test_the_writers_are_all_that_stood_before(laid_out: Callable[[str], Translator]) -> None:
    engine = laid_out("pre")
    found = why_here(engine, translated(engine), "cross", 0, 0, 4, 6)
    entered = Part("bias"), Part("word"), Part("position")
    assert found.query_parts == (*entered, Part("decoder", 0, 0), Part("decoder", 0, 1))
    assert {Part("encoder", 1, 1), Part("encoder ffn", 1)} < set(found.key_parts)
    first = why_here(engine, translated(engine), "encoder", 0, 0, 1, 2)
    assert first.query_parts == first.key_parts == entered


def test_a_word_alone_by_hand(laid_out: Callable[[str], Translator]) -> None:
    """In the first layer of a model with post-norm, the query of the word is the projection of its embedding."""
    engine = laid_out("post")
    trace, model = translated(engine), engine.bundle.model
    found = why_here(engine, trace, "encoder", 0, 1, 3, 2)
    rows = model.encoder[0].attention.qkv.weight.double()
    words = [model.src_embedding.weight[trace.src[n].id].double() * 4 for n in (3, 2)]
    q, k = rows[8:16] @ words[0], rows[16 + 8 : 16 + 16] @ words[1]
    place = found.query_parts.index(Part("word")), found.key_parts.index(Part("word"))
    assert found.table[place] == pytest.approx(float(q @ k) / 8**0.5, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_what_the_keys_write_together_is_the_heads_share(
    laid_out: Callable[[str], Translator], layout: str, kind: str
) -> None:
    engine = laid_out(layout)
    trace = translated(engine)
    asked, step = contrast(engine, trace, 3, points=1), 3
    share = dict(zip(asked.parts, asked.values, strict=True))[Part(kind, 0, 1)]  # type: ignore[arg-type]
    everything = len(engine.bundle.tgt)
    keys = range(step + 1) if kind == "decoder" else range(len(trace.src))
    pushes = []
    for key in keys:
        found = why_here(engine, trace, kind, 0, 1, step, key, count=everything)
        words = {token.id: value for token, value in found.cell.up}
        pushes.append(words[asked.word.id] - words[asked.against.id])
    assert sum(pushes) == pytest.approx(share, abs=1e-5)
    whole = {token.id: value for token, value in found.head.up}
    assert whole[asked.word.id] - whole[asked.against.id] == pytest.approx(share, abs=1e-5)
    assert np.mean(list(whole.values())) == pytest.approx(0, abs=1e-6)


def test_words_are_sorted_both_ways(tiny: Translator, trace: Trace) -> None:
    for kind in ("encoder", "cross"):
        found = why_here(tiny, trace, kind, 1, 0, 2, 1, count=5)
        for writes in (found.cell, found.head):
            up, down = ([value for _, value in words] for words in (writes.up, writes.down))
            assert up == sorted(up, reverse=True) and down == sorted(down) and up[0] > 0 > down[0]
            assert len(up) == len(down) == 5


@pytest.mark.parametrize(
    ("where", "named"),
    [
        (("cross", 9, 0, 0, 0), "layer is 9"),
        (("cross", 0, 9, 0, 0), "head is 9"),
        (("decoder", 0, 0, 1, 2), "key is 2; it must be a whole number from 0 to 1"),
        (("soul", 0, 0, 0, 0), "'soul'"),
        (("cross", 0, 0, True, 0), "query is True"),
    ],
)
def test_a_cell_that_does_not_exist_is_named(tiny: Translator, trace: Trace, where: tuple, named: str) -> None:
    with pytest.raises(InputError, match=named):
        why_here(tiny, trace, *where)
