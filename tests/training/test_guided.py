"""Guided alignment: its loss is torch's cross-entropy, it leads one head alone, and without weight nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from translator.config import ModelConfig, from_dict
from translator.errors import InputError
from translator.model import Transformer
from translator.text import Tokenizer
from translator.training.config import TrainConfig
from translator.training.data import Batch, Pair, collate
from translator.training.guided import Guided, misalignment
from translator.training.run import build
from translator.training.state import read_whole

Make = Callable[..., tuple[TrainConfig, Path]]
HEADS = {"guided_head": (1, 0), "guiding_head": (0, 1)}
EOS = 2


@pytest.fixture
def batch() -> Batch:
    """Sentences of several lengths on both sides."""
    shape = ModelConfig(src_vocab=30, tgt_vocab=40)
    return collate([[5, 6, 7], [8], [9, 10, 11, 12, 13]], [[14, 15], [16, 17, 18, 19], [20]], shape)


def small(**changes: object) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 2, "dropout": 0.0}
    heads = {"encoder_heads": 2, "decoder_heads": 2}
    return Transformer(ModelConfig(src_vocab=30, tgt_vocab=40, **sizes, **heads, **changes)).train()  # type: ignore


def test_the_loss_is_torchs_cross_entropy_against_the_row_after(batch: Batch) -> None:
    """Sentence by sentence: row t of the guided head against row t + 1 of the other, for all targets but EOS."""
    torch.manual_seed(1)
    (sentences, length), width = batch.tgt_in.shape, batch.src.shape[1]
    scores = torch.randn(sentences, length, width, dtype=torch.float64)
    guiding = torch.rand(sentences, length, width, dtype=torch.float64).softmax(-1)
    wanted = torch.zeros((), dtype=torch.float64)
    for number, tokens in enumerate((2, 4, 1)):
        wanted += F.cross_entropy(scores[number, :tokens], guiding[number, 1 : tokens + 1], reduction="sum")
    found = misalignment(scores.softmax(-1), guiding, batch, EOS)
    torch.testing.assert_close(found.double(), wanted, atol=1e-5, rtol=1e-6)


def test_the_pass_gives_what_the_model_gives(batch: Batch) -> None:
    """Logits as without guidance, and the maps of a pass that keeps every map."""
    model = small()
    logits, guided, guiding = Guided(model, (1, 0), (0, 1))(batch.src, batch.tgt_in, batch.src_keep, batch.rows)
    torch.testing.assert_close(logits, model(batch.src, batch.tgt_in, batch.src_keep, batch.rows))
    encoded = model.encode(batch.src, batch.src_keep)
    cross = model.decode(batch.tgt_in, encoded.memory, batch.src_keep).cross
    torch.testing.assert_close(guided, cross[:, 1, 0])
    torch.testing.assert_close(guiding, cross[:, 0, 1])


def test_only_the_guided_head_is_led(batch: Batch) -> None:
    """The loss moves the queries and keys of that head, and of its layer's cross-attention nothing else."""
    model = small()
    _, *maps = Guided(model, (1, 0), (0, 1))(batch.src, batch.tgt_in, batch.src_keep, batch.rows)
    misalignment(*maps, batch, EOS).backward()
    moved = model.decoder[1].cross.qkv.weight.grad.abs().sum(dim=1).unflatten(0, (3, 2, 8)).sum(dim=-1)
    assert (moved[:2, 0] > 0).all() and not moved[:2, 1].any() and not moved[2].any()


def test_the_guiding_head_learns_nothing_of_it(batch: Batch) -> None:
    shape = (*batch.tgt_in.shape, batch.src.shape[1])
    guided, guiding = (torch.rand(shape, requires_grad=True) for _ in range(2))
    misalignment(guided, guiding, batch, EOS).backward()
    assert guided.grad is not None and guided.grad.any() and guiding.grad is None


@pytest.mark.slow
def test_without_weight_a_run_is_the_same_to_the_bit(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    shape = {"decoder_layers": 2}
    states = []
    for name, more in (("plain", {}), ("named", HEADS), ("guided", {"guided": 0.05, **HEADS})):
        config, _ = toy_config(steps=4, eval_every=4, model=shape, **more)
        build(config, toy_data, tmp_path / name)[0].run()
        states.append(read_whole(tmp_path / name / "state-0.pt")["model"])
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert not all(torch.equal(states[0][name], states[2][name]) for name in states[0])


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"r_drop": 1.0}, {"precision": "bf16"}])
def test_the_guided_head_comes_to_agree(toy_config: Make, toy_data: Path, tmp_path: Path, more: dict) -> None:
    """Where it looks most is where the guiding head looks a row later, more often than in a run without."""
    agreements = []
    for weight in (0.0, 1.0):
        config, _ = toy_config(steps=80, eval_every=80, model={"decoder_layers": 2}, guided=weight, **HEADS, **more)
        trainer, corpus = build(config, toy_data, tmp_path / str(weight))
        trainer.run()
        agreements.append(agreement(trainer.model.eval(), corpus.src, corpus.tgt, corpus.dev["dev"]))
    assert agreements[1] > agreements[0] + 0.1, agreements


def agreement(model: Transformer, src: Tokenizer, tgt: Tokenizer, pairs: Sequence[Pair]) -> float:
    """The share of target tokens for which both heads look at the same source token most."""
    rows = collate(src.ids_batch([p.src for p in pairs]), tgt.ids_batch([p.tgt for p in pairs]), model.config)
    with torch.inference_mode():
        _, guided, guiding = Guided(model, (1, 0), (0, 1))(rows.src, rows.tgt_in, rows.src_keep, rows.rows)
    places = rows.rows[rows.targets != model.config.eos_id]
    led, leading = guided.flatten(0, 1)[places].argmax(-1), guiding.flatten(0, 1)[places + 1].argmax(-1)
    return float((led == leading).float().mean())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"guided": -1}, "guided is -1"),
        ({"guided": 0.05}, "guided_head is None"),
        ({"guided": 0.05, "guided_head": [1, 0]}, "guiding_head is None"),
        ({"guided_head": [1]}, r"guided_head is \[1\]"),
        ({"guided_head": [1, -1]}, "guided_head is -1"),
        ({"guided": 0.05, "guided_head": [1, 0], "guiding_head": [1, 0]}, "another head"),
    ],
)
def test_what_cannot_guide_is_named(values: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_dict(TrainConfig, {"name": "n", "src": "de", "tgt": "en", **values})


@pytest.mark.slow
def test_a_head_that_the_model_lacks_is_named(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    config, _ = toy_config(guided=0.05, guided_head=(0, 2), guiding_head=(0, 1))
    with pytest.raises(InputError, match=r"guided_head is \(0, 2\); the decoder has layers 0 to 0 and heads 0 to 1"):
        build(config, toy_data, tmp_path / "run")
