"""A forced target against the greedy trace, PyTorch's cross-entropy and a sort of the whole vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from translator import InputError, Trace, Translator
from translator.analysis.forced import force, token_ranks
from translator.decode import finish, search
from translator.decode.beam import penalty

GIVEN = "The house is big but old."


def logits_of(tiny: Translator, trace: Trace) -> tuple[torch.Tensor, torch.Tensor]:
    """The plain training pass, [T, V], and the target ids."""
    src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))
    with torch.inference_mode():
        return tiny.bundle.model(torch.tensor([src]), torch.tensor([[1, *tgt[:-1]]]), None)[0], torch.tensor(tgt)


def test_forcing_the_greedy_output_reproduces_its_trace(tiny: Translator, trace: Trace) -> None:
    found = force(tiny, trace.source, [token.id for token in trace.tgt], method="greedy", max_length=12)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(found.trace.weights(kind), trace.weights(kind), atol=1e-5)
    np.testing.assert_allclose(found.trace.log_probs, trace.log_probs, atol=1e-5)  # one pass against single steps
    assert found.verdict == "same"
    assert found.ranks.tolist() == [1] * len(trace.tgt)


@pytest.mark.slow
def test_the_negative_log_likelihood_is_torchs_cross_entropy(tiny: Translator, trace: Trace) -> None:
    found = force(tiny, trace.source, GIVEN)
    logits, ids = logits_of(tiny, found.trace)
    assert -found.score == pytest.approx(float(F.cross_entropy(logits, ids, reduction="sum")), abs=1e-3)


def test_ranks_are_places_in_the_sorted_vocabulary(tiny: Translator, trace: Trace) -> None:
    given = tiny.force(trace.source, GIVEN)
    logits, ids = logits_of(tiny, given)
    order = logits.argsort(dim=-1, descending=True)
    want = [row.tolist().index(id_) + 1 for row, id_ in zip(order, ids.tolist(), strict=True)]
    assert token_ranks(tiny, given).tolist() == want
    assert max(want) > 1


@pytest.mark.slow
def test_the_verdict_compares_what_a_search_compares(tiny: Translator, trace: Trace) -> None:
    """A wide beam's find is better than the greedy choice: a search error of greedy search, a model error of none."""
    wide = tiny.translate(trace.source, method="beam", beam=32, length_penalty=0.0)
    greedy = tiny.translate(trace.source, method="greedy")
    assert wide.score > greedy.score
    ids = [token.id for token in wide.tgt]
    assert force(tiny, trace.source, ids, method="greedy").verdict == "search error"
    found = force(tiny, trace.source, [token.id for token in greedy.tgt], method="beam", beam=32, length_penalty=0.0)
    assert found.verdict == "model error"


@pytest.mark.parametrize(("target", "named"), [("  ", "blank"), ("the " * 200, "at most 160"), ([], "blank")])
def test_a_target_that_cannot_be_is_refused(tiny: Translator, trace: Trace, target: object, named: str) -> None:
    with pytest.raises(InputError, match=named):
        force(tiny, trace.source, target)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_an_end_that_was_forced_counts_nothing(tiny: Translator, trace: Trace, method: str) -> None:
    """Both sides are ranked as the search itself ranks its find, which `force_eos` ended at the limit."""
    settings = {"method": method, "beam": 3, "force_eos": True, "max_length": 5, "length_penalty": 0.7}
    request = tiny._intake.request(trace.source, **settings)
    best = finish(search(tiny.engine, request.src_ids, request.config, max_length=5))
    assert best.truncated
    assert best.ids[-1] == 2
    want = best.score / (penalty(5, request.config) if method == "beam" else 1)
    found = force(tiny, trace.source, best.ids, **settings)
    assert found.chosen_ranked == pytest.approx(want, abs=1e-5)
    assert found.ranked == pytest.approx(want, abs=1e-5)
    assert found.trace.truncated
    shorter = force(tiny, trace.source, [*best.ids[:3], 2], **settings)
    assert not shorter.trace.truncated
    assert shorter.ranked == pytest.approx(
        shorter.score / (penalty(4, request.config) if method == "beam" else 1), abs=1e-5
    )
