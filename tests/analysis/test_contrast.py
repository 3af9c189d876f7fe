"""Why A and not B: shares that sum to the difference, and gradients against captum and plain `transformers`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import MarianMTModel

from translator import InputError, Trace, Translator
from translator.analysis.contrast import METHODS, Contrast, contrast, until
from translator.analysis.parts import Part, decoder_sum, encoder_sum, memory_sum
from translator.analysis.passes import pair_of
from translator.analysis.sites import record, source_words


def translated(engine: Translator) -> Trace:
    return engine.translate("Das Haus ist groß, aber alt.", method="greedy", max_length=8)


@pytest.mark.slow
def test_the_shares_of_the_parts_sum_to_the_difference(engine: Translator) -> None:
    trace = translated(engine)
    for step in (0, 3, len(trace.tgt) - 1):
        found = contrast(engine, trace, step, points=2)
        assert found.values.sum() == pytest.approx(found.total, abs=1e-4)
        assert found.total == pytest.approx(found.log_probs[0] - found.log_probs[1], abs=1e-4)
        assert found.log_probs[0] == pytest.approx(trace.steps[step].log_prob, abs=1e-4)


def test_a_sum_is_the_stream_wherever_it_is_asked_for(engine: Translator) -> None:
    recording = record(pair_of(engine, translated(engine)))
    for position in (0, 4):
        torch.testing.assert_close(
            memory_sum(recording, position).total, recording.memory[0, position].double(), atol=2e-5, rtol=1e-5
        )
        for side, found in (("encoder", encoder_sum), ("decoder", decoder_sum)):
            for layer in range(engine.bundle.model.config.head_counts[side][0] + 1):
                want = recording.values[side, "residual", layer][0, position].double()
                torch.testing.assert_close(found(recording, position, layer).total, want, atol=2e-5, rtol=1e-5)


def test_a_head_that_is_silent_has_no_share(laid_out: Callable[[str], Translator]) -> None:
    engine = laid_out("post")
    attention = engine.bundle.model.decoder[1].cross
    with torch.no_grad():
        attention.out.weight[:, attention.d_head :] = 0
    found = contrast(engine, translated(engine), 2, points=2)
    shares = dict(zip(found.parts, found.values, strict=True))
    assert shares[Part("cross", 1, 1)] == 0 and shares[Part("cross", 1, 0)] != 0


def test_parts_are_named_as_a_person_counts() -> None:
    parts = Part("cross", 2, 4), Part("decoder", 0, 0), Part("encoder", 1, 0), Part("decoder ffn", 3), Part("bias")
    assert [part.name for part in parts] == [
        "decoder L3 cross H5",
        "decoder L1 self H1",
        "encoder L2 self H1",
        "decoder L4 feed-forward",
        "biases",
    ]


def forward(engine: Translator, trace: Trace, found: Contrast) -> Callable[[Tensor], Tensor]:
    """The difference as the model itself gives it, for word embeddings [B, S, D], by its own layers."""
    model, pair = engine.bundle.model, pair_of(engine, trace)

    def run(words: Tensor) -> Tensor:
        x = words + model.src_positions[: words.shape[1]]
        x = model.embedding_norms[0](x) if model.embedding_norms else x
        for layer in model.encoder:
            x = layer(x, None)[0]
        reads = pair.reads[:, : found.step + 1].expand(len(words), -1)
        logits = model.decode(reads, model.encoder_norm(x), None).logits[:, -1]
        return logits[:, found.word.id] - logits[:, found.against.id]

    return run


def words_of(found: Contrast, trace: Trace, values: np.ndarray) -> np.ndarray:
    """Values of tokens [S] summed over the words: each of this text's words is whole where the spans say so."""
    owner = [token.word if not token.special else 1000 + n for n, token in enumerate(trace.src)]
    return np.array([values[[o == word for o in owner]].sum() for word in dict.fromkeys(owner)])


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["pre", "post", "embedding norm", "padded"])
def test_gradients_are_captums(laid_out: Callable[[str], Translator], layout: str) -> None:
    from captum.attr import InputXGradient, IntegratedGradients  # a second of processor time, for this test alone

    engine = laid_out(layout)
    trace = translated(engine)
    found = contrast(engine, trace, 3, points=900)
    words = source_words(pair_of(engine, trace))[None]
    run = forward(engine, trace, found)
    want = InputXGradient(run).attribute(words.clone().requires_grad_()).sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(found.source["gradient"], words_of(found, trace, want), atol=1e-4)
    path = IntegratedGradients(run).attribute(words, n_steps=1500, method="riemann_middle", internal_batch_size=100)
    want = words_of(found, trace, path.sum(-1)[0].detach().numpy())
    np.testing.assert_allclose(found.source["integrated"], want, atol=0.03 * np.abs(want).max())


@pytest.mark.slow
def test_integrated_gradients_are_complete(engine: Translator) -> None:
    trace = translated(engine)
    for points in (3, 64):
        found = contrast(engine, trace, 2, points=points)
        assert found.source["integrated"].sum() == pytest.approx(found.total - found.baseline, abs=1e-4)
    run = forward(engine, trace, found)
    words = source_words(pair_of(engine, trace))[None]
    assert found.total == pytest.approx(float(run(words)), abs=1e-4)
    assert found.baseline == pytest.approx(float(run(torch.zeros_like(words))), abs=1e-4)


@pytest.mark.slow
def test_occlusion_is_a_pass_in_which_nobody_reads_the_word(engine: Translator) -> None:
    trace, model = translated(engine), engine.bundle.model
    found, pair = contrast(engine, trace, 3, points=2), pair_of(engine, trace)
    owner = np.array([token.word for token in trace.src])
    for number, word in enumerate(found.words[:4]):
        keep = torch.from_numpy(owner != number)[None]
        with torch.inference_mode():
            memory = model.encode(pair.src_ids, keep).memory
            logits = model.decode(pair.reads[:, :4], memory, keep).logits[0, -1]
        want = found.total - float(logits[found.word.id] - logits[found.against.id])
        assert found.source["occlusion"][number] == pytest.approx(want, abs=1e-4), word


@pytest.mark.slow
def test_marian_by_transformers_with_plain_hooks(marian: tuple[Translator, MarianMTModel]) -> None:
    """As Yin and Neubig's own code does it: backward from the difference of logits, a hook on the embedding."""
    engine, net = marian
    trace = engine.force("The house is old.", [9, 30, 41, 17])
    found = contrast(engine, trace, 2, points=2)
    seen: list[Tensor] = []

    def hook(module: torch.nn.Module, given: object, out: Tensor) -> Tensor:
        seen.append(out.detach().requires_grad_())
        return seen[-1]

    handle = net.model.encoder.embed_tokens.register_forward_hook(hook)
    src, reads = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.src, trace.reads[:3]))
    with torch.enable_grad():
        logits = net(input_ids=src, decoder_input_ids=reads).logits[0, -1]
        difference = logits[found.word.id] - logits[found.against.id]
        (gradient,) = torch.autograd.grad(difference, seen[0])
    handle.remove()
    values = (gradient * seen[0]).sum(-1)[0].detach().numpy()
    np.testing.assert_allclose(found.source["gradient"], words_of(found, trace, values), atol=1e-4)
    assert found.total == pytest.approx(difference.item(), abs=1e-4)
    assert found.values.sum() == pytest.approx(found.total, abs=1e-4)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"step": 99}, "step is 99"),
        ({"step": 0, "word": "Donaudampfschiff"}, "word is 'Donaudampfschiff', which is no single token of tiny"),
        ({"step": 0, "against": "ru nn"}, "against is 'ru nn'"),
        ({"step": 0, "word": 10**6}, "word is 1000000"),
        ({"step": 0, "word": True}, "word is True"),
        ({"step": 0, "word": 9, "against": 9}, "word and against are both"),
        ({"step": 0, "points": 0}, "points is 0"),
    ],
)
def test_what_cannot_be_asked_is_named(tiny: Translator, trace: Trace, settings: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        contrast(tiny, trace, **settings)


@pytest.mark.slow
def test_a_token_is_named_as_shown_or_by_its_id(tiny: Translator, trace: Trace) -> None:
    candidate = trace.steps[2].candidates[3].token
    by_id = contrast(tiny, trace, 2, candidate.id, points=2)
    by_text = contrast(tiny, trace, 2, str(candidate.id), points=2)
    assert by_id.word == by_text.word == candidate
    if not candidate.special:
        assert contrast(tiny, trace, 2, candidate.surface, points=2).word.surface == candidate.surface
    usual = contrast(tiny, trace, 2, points=2)
    assert (usual.word.id, usual.against.id) == (trace.tgt[2].id, trace.steps[2].candidates[1].token.id)


def test_a_pair_cut_short_is_its_beginning(tiny: Translator, trace: Trace) -> None:
    pair = pair_of(tiny, trace)
    short = until(pair, 3)
    with torch.inference_mode():
        whole, part = (record(each).hidden for each in (pair, short))
    torch.testing.assert_close(part[0, 3], whole[0, 3])
    assert set(contrast(tiny, trace, 3, points=2).source) == set(METHODS)
