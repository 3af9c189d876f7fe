"""The logit lens against the model's output and a plain computation of one layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from translator import InputError, Trace, Translator
from translator.analysis.lens import Lens, lens


def test_the_last_row_is_the_models_output(tiny: Translator, trace: Trace) -> None:
    found = lens(tiny, trace, count=8)
    whole = tiny.force(trace.source, [token.id for token in trace.tgt])  # one pass over all positions, as the lens
    np.testing.assert_array_equal(found.log_probs[-1].astype(np.float32), whole.log_probs.astype(np.float32))
    np.testing.assert_allclose(found.log_probs[-1], trace.log_probs, atol=1e-5)  # decoded step by step
    for step, best in zip(whole.steps, found.best[-1], strict=True):
        assert best == step.candidates
    np.testing.assert_allclose(found.divergence[-1], 0, atol=1e-7)


def test_a_row_is_the_stream_through_norm_and_output(tiny: Translator, trace: Trace) -> None:
    found = lens(tiny, trace)
    model = tiny.bundle.model
    src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))
    with torch.inference_mode():
        memory = model.encode(torch.tensor([src]), None, maps=False).memory
        x = model.embed(torch.tensor([[1, *tgt[:-1]]]), target=True)
        rows = [x, model.decoder[0].fast(x, memory, None)]
        last = model(torch.tensor([src]), torch.tensor([[1, *tgt[:-1]]]), None)[0].log_softmax(-1)
        for index, stream in enumerate(rows):
            log_probs = model.output(model.decoder_norm(stream))[0].log_softmax(-1)
            want = log_probs[torch.arange(len(tgt)), torch.tensor(tgt)].numpy()
            np.testing.assert_allclose(found.log_probs[index], want, atol=1e-4)
            kl = torch.nn.functional.kl_div(log_probs, last, log_target=True, reduction="none").sum(-1)
            np.testing.assert_allclose(found.divergence[index], kl.numpy(), atol=1e-4)
            best = [candidates[0].token.id for candidates in found.best[index]]
            assert best == log_probs.argmax(-1).tolist()


def test_decided_is_the_first_row_from_which_the_token_stays_best() -> None:
    ranks = np.array([[1, 3, 1, 2], [2, 1, 1, 2], [1, 1, 1, 2]])
    found = Lens(best=(), log_probs=ranks, ranks=ranks, divergence=ranks)
    assert found.decided.tolist() == [2, 1, 0, 3]


def test_no_candidate_is_refused(tiny: Translator, trace: Trace) -> None:
    with pytest.raises(InputError, match="count is 0"):
        lens(tiny, trace, count=0)
