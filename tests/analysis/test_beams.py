"""The beam tree against forced decoding, and against every hypothesis there is on a tiny vocabulary."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch

from translator import InputError, Trace, Translator
from translator.analysis.beams import beam_tree
from translator.config import DecodeConfig, TextConfig
from translator.decode.beam import penalty
from translator.text import VocabularyTokenizer


@pytest.mark.slow
def test_every_path_is_scored_as_forced_decoding_scores_it(tiny: Translator, trace: Trace) -> None:
    tree = beam_tree(tiny, trace.source, beam=3, length_penalty=0.8, max_length=8)
    config = DecodeConfig(length_penalty=0.8)
    for node in tree.nodes:
        assert node.score == pytest.approx(tiny.force(trace.source, node.ids).score, abs=1e-4)
        assert node.normalised == pytest.approx(node.score / penalty(len(node.ids), config))
        if node.parent >= 0:
            assert tree.nodes[node.parent].ids == node.ids[:-1]
            assert tree.nodes[node.parent].step == node.step - 1
        else:
            assert node.step == 0


@pytest.mark.slow
def test_fates_add_up(tiny: Translator, trace: Trace) -> None:
    tree = beam_tree(tiny, trace.source, beam=4, max_length=8)
    parents = {node.parent for node in tree.nodes}
    won = [node for node in tree.nodes if node.fate == "won"]
    assert [node.ids for node in won] == [tuple(token.id for token in tree.trace.tgt)]
    assert all((index in parents) == (node.fate == "grew") for index, node in enumerate(tree.nodes))
    assert any(node.fate == "pruned" for node in tree.nodes)
    path = [node for node in tree.nodes if node.leads]
    assert [node.ids for node in path] == [won[0].ids[: n + 1] for n in range(len(won[0].ids))]


@pytest.mark.slow
def test_greedy_stands_beside_it(tiny: Translator, trace: Trace) -> None:
    tree = beam_tree(tiny, trace.source, max_length=12)
    assert tree.greedy.translation == trace.translation
    assert tree.greedy.settings.method == "greedy"


@pytest.mark.slow
def test_a_wide_beam_finds_what_brute_force_finds(tiny: Translator, checkpoint_maker) -> None:
    """Three words and EOS, at most three tokens: 1 + 3 + 36 hypotheses that end."""
    words = VocabularyTokenizer(TextConfig("en", level="word"), ["<pad>", "<s>", "</s>", "<unk>", "a", "b"])
    model = checkpoint_maker.tiny_model(len(tiny.bundle.src), 6)
    toy = Translator(replace(tiny.bundle, model=model, tgt=words))
    tree = beam_tree(toy, "Park", beam=64, length_penalty=1.0, max_length=3)
    src = toy.source_ids("Park")
    best = {}
    for length in (1, 2, 3):
        for ids in product((3, 4, 5), repeat=length - 1):
            for last in (2, 3, 4, 5):
                if last == 2 or length == 3:
                    best[(*ids, last)] = brute(model, src, (*ids, last)) / ((5 + length) / 6)
    winner = max(best, key=best.__getitem__)
    assert tuple(token.id for token in tree.trace.tgt) == winner
    ends = {node.ids: node.normalised for node in tree.nodes if node.fate in ("won", "ended") or len(node.ids) == 3}
    assert set(ends) == set(best)
    assert all(ends[ids] == pytest.approx(best[ids], abs=1e-4) for ids in best)


def brute(model, src, ids) -> float:
    with torch.inference_mode():
        log_probs = model(torch.tensor([src]), torch.tensor([[1, *ids[:-1]]]), None)[0].log_softmax(-1)
    return float(log_probs[torch.arange(len(ids)), torch.tensor(ids)].sum())


def test_a_narrow_beam_is_refused(tiny: Translator) -> None:
    with pytest.raises(InputError, match="beam is 1"):
        beam_tree(tiny, "Park", beam=1)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_tree_is_of_a_beam_search(tiny: Translator, method: str) -> None:
    with pytest.raises(InputError, match="leave the method out"):
        beam_tree(tiny, "Park", method=method)
