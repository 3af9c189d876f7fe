"""Deletion of words against the translator given the shortened sentence; and the words of a trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from translator import CancelledError, InputError, Trace, Translator
from translator.analysis import deletion as deletions
from translator.analysis.deletion import deletion
from translator.analysis.words import source_words, target_words


@pytest.mark.parametrize("changes", [{}, {"padded_length": 24}, {"norm": "post", "final_norm": False}])
def test_it_is_the_shortened_sentence_by_itself(tiny: Translator, checkpoint_maker: ModuleType, changes: dict) -> None:
    """What is left, given by itself, is the reference; sentences of several lengths share a batch."""
    model = checkpoint_maker.tiny_model(len(tiny.bundle.src), len(tiny.bundle.tgt), **changes)
    made = Translator(replace(tiny.bundle, model=model))
    trace = made.translate("Das Haus ist alt.", method="greedy", max_length=6)
    words = source_words(trace)
    sets = [words.members[0], words.members[1] | words.members[3], np.zeros(len(trace.src), dtype=bool)]
    found = deletion(made, trace, sets)
    ids = [token.id for token in trace.tgt]
    for column, shorter in enumerate(("Haus ist alt.", "Das ist.", "Das Haus ist alt.")):
        want = trace.log_probs - made.force(shorter, ids).log_probs
        np.testing.assert_allclose(found[:, column], want, atol=1e-4)


def test_a_masked_word_is_missed_by_nobody(tiny: Translator, trace: Trace) -> None:
    from translator.model import Transformer

    model = Transformer(replace(tiny.bundle.model.config, masked_ids=(trace.src[0].id,))).eval()
    model.load_state_dict(tiny.bundle.model.state_dict())
    blind = Translator(replace(tiny.bundle, model=model))
    seen = blind.translate(trace.source, method="greedy", max_length=5)
    words = source_words(seen)
    ids = [token.id for token in seen.tgt]
    want = seen.log_probs - blind.force("Das Haus ist groß aber alt.", ids).log_probs
    np.testing.assert_allclose(deletion(blind, seen, [words.members[4]])[:, 0], want, atol=1e-4)


@pytest.mark.parametrize(
    ("removed", "named"),
    [
        (lambda size: np.zeros(size), "float64"),
        (lambda size: np.zeros(3, dtype=bool), r"\(3,\)"),
        (lambda size: np.ones(size, dtype=bool), "cannot be removed"),
    ],
)
def test_what_cannot_be_removed_is_named(tiny: Translator, trace: Trace, removed: Callable, named: str) -> None:
    with pytest.raises(InputError, match=named):
        deletion(tiny, trace, [removed(len(trace.src))])


def test_nothing_asked_is_nothing_lost_and_a_long_run_can_be_stopped(tiny: Translator, trace: Trace) -> None:
    assert deletion(tiny, trace, []).shape == (len(trace.tgt), 0)
    with pytest.raises(CancelledError):
        deletion(tiny, trace, [source_words(trace).members[0]], stop=lambda: True)


def test_a_long_sentence_goes_in_more_batches(tiny: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    masks = list(source_words(trace).members)
    want, asked = deletion(tiny, trace, masks), []
    monkeypatch.setattr(deletions, "POSITIONS", 2 * (len(trace.src) + len(trace.tgt)))
    found = deletion(tiny, trace, masks, stop=lambda: bool(asked.append(None)))
    assert len(asked) == -(-(len(masks) + 1) // 2)
    np.testing.assert_allclose(found, want, atol=1e-5)


def test_words_have_their_text_and_their_tokens(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace()
    words = source_words(trace)
    assert words.texts == ("die", "Bücher", ",", "die", "ich", "habe", ".")
    assert words.members.sum(axis=0).tolist() == [1] * 8 + [0]  # the end of the sentence is no word
    assert words.lettered.tolist() == [True, True, False, True, True, True, False]
    assert words.sums(np.arange(9.0)).tolist() == [0, 3, 3, 4, 5, 6, 7]
    assert words.means(np.arange(9.0))[1] == 1.5
    assert target_words(trace).texts == ("the", "books", "the", "I", "have", ".")
