"""Growing deeper: the function is kept, and the new layers learn."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from translator.config import ModelConfig
from translator.errors import InputError
from translator.model import Transformer
from translator.training.card import Card, render
from translator.training.config import TrainConfig
from translator.training.export import history
from translator.training.grow import grow
from translator.training.run import train
from translator.training.selection import BASE
from translator.training.state import read_whole

SHALLOW = ModelConfig(
    50, 60, d_model=16, d_ff=32, encoder_layers=2, decoder_layers=3, encoder_heads=2, decoder_heads=4
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("encoder", "decoder"), [(2, 3), (4, 6), (5, 4), (3, 7)])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_grown_model_computes_the_same(encoder: int, decoder: int, norm: str) -> None:
    torch.manual_seed(1)
    shape = replace(SHALLOW, norm=norm, final_norm=norm == "pre")
    shallow = Transformer(shape).eval()
    deep = Transformer(replace(shape, encoder_layers=encoder, decoder_layers=decoder)).eval()
    ids = torch.randint(4, 50, (3, 7)), torch.randint(4, 60, (3, 5))
    keep = torch.ones(3, 7, dtype=torch.bool)
    grow(deep, shallow.state_dict())
    same = torch.allclose(deep(*ids, keep), shallow(*ids, keep), atol=1e-5)
    # After a post-norm sublayer that adds nothing the stream is normalised again, which changes
    # nothing only while the norms still have their first weights.
    assert same


def test_the_layers_in_between_learn(tmp_path: Path) -> None:
    torch.manual_seed(1)
    shallow = Transformer(SHALLOW)
    deep = Transformer(replace(SHALLOW, encoder_layers=4, decoder_layers=6))
    grow(deep, shallow.state_dict())
    assert not deep.encoder[1].feed_forward.down.weight.any() and not deep.decoder[1].cross.out.weight.any()
    assert torch.equal(deep.encoder[1].attention.qkv.weight, shallow.encoder[0].attention.qkv.weight)
    ids = torch.randint(4, 50, (3, 7)), torch.randint(4, 60, (3, 5))
    keep = torch.ones(3, 7, dtype=torch.bool)
    deep(*ids, keep).logsumexp(-1).sum().backward()
    for layer in (deep.encoder[1], deep.decoder[1]):
        assert layer.feed_forward.down.weight.grad.abs().sum() > 0
        assert layer.attention.out.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("change", [{"encoder_layers": 1}, {"d_ff": 64}, {"decoder_heads": 4, "d_head": 8}])
def test_what_is_not_deeper_alone_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(InputError):
        grow(Transformer(replace(SHALLOW, **change)), Transformer(SHALLOW).state_dict())


@pytest.mark.slow
def test_a_config_with_a_base_trains_both(toy_data: Path, tmp_path: Path) -> None:
    model = {"d_model": 16, "d_ff": 32, "encoder_heads": 2, "decoder_heads": 2}
    config = TrainConfig(
        "toy", "de", "en", steps=4, warmup=2, batch_tokens=200, vocab=320, eval_every=2, eval_sentences=4,
        model={**model, "encoder_layers": 2, "decoder_layers": 2},
        base={"steps": 6, "model": {**model, "encoder_layers": 1, "decoder_layers": 1}},
    )  # fmt: skip
    trainer, _ = train(config, toy_data, tmp_path)
    assert trainer.progress.step == 4 and len(trainer.model.encoder) == 2
    assert json.loads((tmp_path / BASE / "train.json").read_text())["steps"] == 6
    small = read_whole(tmp_path / BASE / "best.pt")
    assert small.keys() < trainer.model.state_dict().keys()
    told = [record for record in history(tmp_path) if "dev_bleu" in record]
    assert [record["step"] for record in told] == [2, 4, 6, 8, 10]
    hours = [record["hours"] for record in told]
    assert hours == sorted(hours)
    again, _ = train(config, toy_data, tmp_path)  # finished: nothing is trained, nothing grown anew
    for name, value in trainer.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[name])


@pytest.mark.slow
@pytest.mark.parametrize("best", [0, 1, 2, 3])
def test_a_run_may_begin_from_what_an_export_of_its_base_would_take(
    toy_data: Path, toy_model: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, best: int
) -> None:
    common = {"warmup": 1, "batch_tokens": 200, "vocab": 320, "eval_every": 1, "eval_sentences": 4, "average": 1}
    before = TrainConfig("toy", "de", "en", seed=2, steps=2, model=toy_model, base={"seed": 1, "steps": 2}, **common)
    train(before, toy_data, tmp_path / BASE)
    old, new = (read_whole(folder / "weights-000000002.pt") for folder in (tmp_path / BASE / BASE, tmp_path / BASE))
    wanted = {  # the candidates of an export, in their order
        0: new,
        1: read_whole(tmp_path / BASE / "best.pt"),
        2: {name: old[name] + (value - old[name]) / 4 for name, value in new.items()},
        3: {name: torch.stack([old[name], value]).mean(0) for name, value in new.items()},
    }[best]
    grown = []
    module = importlib.import_module("translator.training.run")
    monkeypatch.setattr(module, "grow", lambda model, weights: (grow(model, weights), grown.append(weights)))
    calls = iter([float(i == best) for i in range(4)])
    real = module.development
    monkeypatch.setattr(
        module, "development", lambda *rest, **kw: real(*rest, **kw) if kw else lambda _: {"bleu": next(calls)}
    )
    config = replace(before, seed=3, begin="selected", base={"seed": 2, "begin": "best", "base": before.base})
    train(config, toy_data, tmp_path)
    (began,) = grown
    assert began.keys() == wanted.keys()
    for name, value in wanted.items():
        assert torch.equal(began[name], value), name
    assert next(calls, None) is None


def test_the_card_tells_of_both_runs() -> None:
    model = {"d_model": 16, "d_ff": 32, "encoder_layers": 4, "decoder_layers": 4}
    base = {"steps": 60, "lr": 0.25, "model": {**model, "encoder_layers": 1}}
    config = TrainConfig("toy", "de", "en", steps=40, lr=0.5, model=model, base=base)
    shape = ModelConfig(10, 10, **model)
    text = render(Card(config, shape, parameters=1, steps=100, hours=1.0, selection="the best"))
    assert "| steps | 100 of 100 |" in text
    assert "60 steps at 1 + 4 layers; 40 steps at 4 + 4 layers" in text
    assert "rate 0.25" in text and "rate 0.5" in text


@pytest.mark.slow
def test_a_base_may_have_a_base(toy_data: Path, tmp_path: Path) -> None:
    model = {"d_model": 16, "d_ff": 32, "encoder_heads": 2, "decoder_heads": 2, "encoder_layers": 2}
    config = TrainConfig(
        "toy", "de", "en", seed=2, steps=2, warmup=1, batch_tokens=200, vocab=320, eval_every=1, eval_sentences=4,
        model={**model, "decoder_layers": 2},
        base={"seed": 1, "steps": 3, "base": {"steps": 4, "model": {**model, "decoder_layers": 1}}},
    )  # fmt: skip
    trainer, _ = train(config, toy_data, tmp_path)
    told = [record["step"] for record in history(tmp_path) if "dev_bleu" in record]
    assert told == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert json.loads((tmp_path / BASE / "train.json").read_text())["seed"] == 1
    assert len(read_whole(tmp_path / BASE / BASE / "best.pt")) < len(trainer.model.state_dict())
    text = render(Card(config, trainer.model.config, parameters=1, steps=9, hours=1.0, selection="the best"))
    assert "| steps | 9 of 9 |" in text
    assert "4 steps at 2 + 1 layers; 3 steps at 2 + 2 layers; 2 steps at 2 + 2 layers" in text
