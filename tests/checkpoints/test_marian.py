"""Marian checkpoints against `transformers`: tokens, logits, every weight, every id; and what is refused."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import pickle
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import safetensors.torch
import torch

import translator
from translator.checkpoints import load_bundle
from translator.checkpoints.convert import convert
from translator.decode import finish, replay, search, search_batch
from translator.engine import EagerEngine
from translator.errors import CheckpointError

SPEC = importlib.util.spec_from_file_location("marian_maker", Path(__file__).parents[1] / "marian_maker.py")
assert SPEC is not None and SPEC.loader is not None
maker: ModuleType = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(maker)
SHAPES = sorted(maker.SHAPES)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return maker.sentences(5000)


@pytest.fixture(scope="module")
def models(texts: list[str]) -> tuple[bytes, bytes]:
    return maker.spm_model(texts[:900], 400), maker.spm_model(texts[600:1500], 350)


@pytest.fixture(scope="module")
def made(models: tuple[bytes, bytes], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A checkpoint of a shape, made once: (folder, transformers' model, our bundle)."""
    found: dict[str, Any] = {}

    def make(shape: str) -> Any:
        if shape not in found:
            folder = tmp_path_factory.mktemp("marian") / f"opus-mt-en-zh-{shape}"
            folder, net = maker.make_marian(folder, shape, models)
            found[shape] = (folder, net, load_bundle(folder))
        return found[shape]

    return make


def reference_tokenizer(folder: Path) -> Any:
    from transformers import MarianTokenizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a normaliser that it does not use here
        tokenizer = MarianTokenizer.from_pretrained(folder)
    return tokenizer


def generated(net: Any, src_ids: list[int], beams: int, limit: int) -> tuple[int, ...]:
    ids = torch.tensor([src_ids])
    out = net.generate(ids, attention_mask=torch.ones_like(ids), num_beams=beams, max_length=limit + 1)[0, 1:].tolist()
    return tuple(out[: out.index(0) + 1] if 0 in out else out)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [1, 5, 14])
def test_greedy_and_beam_tokens_are_those_of_transformers(made: Any, texts: list[str], shape: str, limit: int) -> None:
    _, net, bundle = made(shape)
    sources = [[*bundle.src.ids(text)[:40], 0] for text in texts[:6]]
    for beam in {1, 2, bundle.decode.beam}:
        config = dataclasses.replace(bundle.decode, method="greedy" if beam == 1 else "beam", beam=beam)
        expected = [generated(net, source, beam, limit) for source in sources]
        assert [finish(search(EagerEngine(bundle.model), s, config, max_length=limit)).ids for s in sources] == expected
        assert search_batch(EagerEngine(bundle.model), sources, config, max_lengths=[limit] * len(sources)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["opus", "separate", "unscaled"])
def test_banned_sequences_are_those_of_transformers(made: Any, texts: list[str], shape: str, tmp_path: Path) -> None:
    """The pairs and triples that come first without the ban, so that it binds in greedy and in beam search."""
    folder, net, bundle = made(shape)
    sources = [[*bundle.src.ids(text)[:40], 0] for text in texts[:6]]
    free = [generated(net, source, beams, 12) for source in sources for beams in (1, 3)]
    pad, start = bundle.model.config.pad_id, bundle.model.config.start_id
    bad = [
        [pad],
        [start, free[0][0]],
        *(list(ids[:2]) for ids in free[::2]),
        *(list(ids[1:4]) for ids in free if ids[3:]),
    ]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    edit(tmp_path / "generation_config.json", bad_words_ids=bad)
    ours = load_bundle(tmp_path)
    kept, net.generation_config.bad_words_ids = net.generation_config.bad_words_ids, bad
    try:
        for beam in (1, 3):
            config = dataclasses.replace(ours.decode, method="greedy" if beam == 1 else "beam", beam=beam)
            expected = [generated(net, source, beam, 12) for source in sources]
            assert expected != free[beam // 3 :: 2]
            assert [finish(search(EagerEngine(ours.model), s, config, max_length=12)).ids for s in sources] == expected
            assert search_batch(EagerEngine(ours.model), sources, config, max_lengths=[12] * len(sources)) == expected
    finally:
        net.generation_config.bad_words_ids = kept
    native = load_bundle(convert(tmp_path, tmp_path / "native"))
    assert native.model.config.banned_sequences == ours.model.config.banned_sequences != ()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_sequence_is_repeated_like_transformers(made: Any, texts: list[str], size: int, tmp_path: Path) -> None:
    folder, net, bundle = made("opus")
    sources = [[*bundle.src.ids(text)[:40], 0] for text in texts[:6]]
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    edit(tmp_path / "generation_config.json", no_repeat_ngram_size=size)
    ours = load_bundle(tmp_path)
    free = [generated(net, source, beams, 20) for beams in (1, 3) for source in sources]
    net.generation_config.no_repeat_ngram_size = size
    try:
        expected = [generated(net, source, beams, 20) for beams in (1, 3) for source in sources]
    finally:
        net.generation_config.no_repeat_ngram_size = 0
    assert expected != free, "it binds"
    for beam, wanted in ((1, expected[:6]), (3, expected[6:])):
        config = dataclasses.replace(ours.decode, method="greedy" if beam == 1 else "beam", beam=beam)
        assert [finish(search(EagerEngine(ours.model), s, config, max_length=20)).ids for s in sources] == wanted
        assert search_batch(EagerEngine(ours.model), sources, config, max_lengths=[20] * len(sources)) == wanted


@pytest.mark.parametrize("shape", SHAPES)
def test_logits_and_every_weight_are_those_of_eager_attention(made: Any, texts: list[str], shape: str) -> None:
    _, net, bundle = made(shape)
    src_ids = [*bundle.src.ids(texts[7])[:40], 0]
    tgt_ids = [5, 9, 7, 30, 11, 0]
    reads = torch.tensor([[bundle.model.config.start_id, *tgt_ids[:-1]]])
    with torch.inference_mode():
        expected = net(input_ids=torch.tensor([src_ids]), decoder_input_ids=reads, output_attentions=True)
        encoded = bundle.model.encode(torch.tensor([src_ids]), None)
        logits = bundle.model.decode(reads, encoded.memory, None).logits
    torch.testing.assert_close(logits, expected.logits, atol=1e-4, rtol=0)
    found = replay(EagerEngine(bundle.model), src_ids, tgt_ids)
    for ours, theirs in (
        (found.encoder, expected.encoder_attentions),
        (found.decoder, expected.decoder_attentions),
        (found.cross, expected.cross_attentions),
    ):
        torch.testing.assert_close(torch.from_numpy(ours), torch.cat(theirs), atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["opus", "separate"])
def test_the_tokenizer_gives_the_same_ids_and_texts(made: Any, texts: list[str], shape: str) -> None:
    folder, _, bundle = made(shape)
    tokenizer = reference_tokenizer(folder)
    some = texts if shape == "opus" else texts[:1000]
    some = [*some, ">>cmn_Hans<< Good morning.", ">>nowhere<<Good", ">>deu<<", " >>deu<< x"]
    expected = tokenizer(some).input_ids
    assert [[*ids, 0] for ids in bundle.src.ids_batch(some)] == expected
    assert [bundle.src.encode(text).ids for text in some[-300:]] == bundle.src.ids_batch(some[-300:])
    for ids in bundle.tgt.ids_batch(texts[:300]):
        assert bundle.tgt.decode([*ids, 0]) == tokenizer.decode([*ids, 0], skip_special_tokens=True)
        tokens = bundle.tgt.tokens([*ids, 0])
        assert [token.id for token in tokens] == [*ids, 0] and tokens[-1].special


def test_a_typed_special_token_is_text(made: Any) -> None:
    _, _, bundle = made("opus")
    assert not {bundle.src.eos_id, bundle.src.pad_id} & set(bundle.src.ids("Good </s> morning <pad>"))


def test_spans_point_into_what_was_typed(made: Any) -> None:
    _, _, bundle = made("opus")
    text = ">>cmn_Hans<<  ﬁne Ünïcode  here"
    tokens = bundle.src.encode(text).tokens
    assert tokens[0].surface == ">>cmn_Hans<<" and not tokens[0].unknown
    assert text[slice(*tokens[0].span)] == ">>cmn_Hans<<"
    covered = {i for token in tokens for i in range(*token.span)}
    assert {i for i, char in enumerate(text) if not char.isspace()} <= covered
    assert [token.word for token in tokens] == sorted(token.word for token in tokens)


def test_a_folder_translates_and_its_trace_is_whole(made: Any, tmp_path: Path) -> None:
    folder, _, _ = made("opus")
    engine = translator.load(folder)
    trace = engine.translate("The house is big.", max_length=9)
    assert engine.languages == ("en", "zh") and trace.settings.penalty_kind == "power"
    assert len(trace.steps) == len(trace.tgt) <= 9
    trace.save(tmp_path / "trace.npz")
    assert translator.Trace.load(tmp_path / "trace.npz").tgt == trace.tgt


@pytest.mark.parametrize("shape", ["opus", "unequal", "untied"])
def test_converted_it_is_native_and_the_same(made: Any, tmp_path: Path, shape: str) -> None:
    folder, _, bundle = made(shape)
    native = load_bundle(convert(folder, tmp_path / "native"))
    assert (tmp_path / "native" / "manifest.json").is_file()
    assert native.decode == bundle.decode and native.model.config == bundle.model.config
    theirs = dict(bundle.model.named_parameters())
    assert all(torch.equal(value, theirs[name]) for name, value in native.model.named_parameters())
    assert native.src.ids(">>deu<< Good morning.") == bundle.src.ids(">>deu<< Good morning.")
    engines = translator.load(folder), translator.load(tmp_path / "native")
    assert len({engine.translate("The house.", max_length=9).translation for engine in engines}) == 1


def test_sentencepiece_missing_is_named(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _, _ = made("opus")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(CheckpointError, match="pip install sentencepiece"):
        load_bundle(folder)


@pytest.mark.slow
def test_transformers_is_not_needed(made: Any) -> None:
    folder, _, _ = made("unequal")
    code = (
        "import sys, translator\n"
        f"translator.load({str(folder)!r}).translate('The house.', max_length=4)\n"
        "print('transformers' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


# What is no model


@pytest.fixture
def copy(made: Any, tmp_path: Path) -> Any:
    """A copy of a checkpoint, to be damaged."""

    def make(shape: str = "opus") -> Path:
        folder = tmp_path / "copy"
        folder.mkdir()
        for path in made(shape)[0].iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        return folder

    return make


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def cut(path: Path, count: int) -> None:
    path.write_bytes(path.read_bytes()[:count])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: (f / "vocab.json").unlink(), "vocab.json is missing"),
        (lambda f: (f / "source.spm").unlink(), "source.spm is missing"),
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda f: cut(f / "model.safetensors", 5000), r"model.safetensors cannot be read|cut off"),
        (lambda f: cut(f / "model.safetensors", 4), r"model.safetensors"),
        (lambda f: cut(f / "target.spm", 100), "target.spm: it is not a sentencepiece model"),
        (lambda f: (f / "model.safetensors").write_bytes(b"\xff" * 64), "header of"),
        (lambda f: (f / "config.json").write_text("{"), "config.json cannot be read as JSON"),
        (lambda f: edit(f / "config.json", model_type="t5"), "model_type is 't5'"),
        (lambda f: edit(f / "config.json", d_model=16), r"model.shared.weight has the shape"),
        (lambda f: edit(f / "config.json", decoder_layers=3), r"lacks model.decoder.layers.2.self_attn.q_proj.weight"),
        (lambda f: edit(f / "config.json", decoder_layers=1), r"holds model.decoder.layers.1"),
        (lambda f: edit(f / "config.json", encoder_attention_heads=5), "encoder_heads is 5"),
        (lambda f: edit(f / "config.json", activation_function="mish"), "activation_function is 'mish'"),
        (lambda f: edit(f / "config.json", vocab_size=9999), "source vocabulary has"),
        (lambda f: edit(f / "vocab.json", **{"</s>": 3}), "vocab.json: the id of"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[1], 2]), "bad_words_ids is"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[1], []]), "bad_words_ids is"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[[1]]]), "bad_words_ids is"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[1, 99999]]), "banned_sequences is 99999"),
        (lambda f: edit(f / "generation_config.json", num_beams=1000), "beam is 1000"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(copy: Any, damage: Any, said: str) -> None:
    folder = copy()
    damage(folder)
    with pytest.raises(CheckpointError, match=said):
        load_bundle(folder)


def write_bin(folder: Path, value: object) -> None:
    (folder / "model.safetensors").unlink(missing_ok=True)
    torch.save(value, folder / "pytorch_model.bin")


def pickled(folder: Path) -> Path:
    """The folder with its weights as a pickle instead."""
    write_bin(folder, safetensors.torch.load_file(folder / "model.safetensors"))
    return folder


class Runs:
    """Unpickling it calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def payloads(canary: Path) -> dict[str, object]:
    write = f"open({str(canary)!r}, 'w').write('ran')"
    return {
        "system": Runs(os.system, f"touch {canary}"),
        "exec": Runs(exec, write),
        "eval": Runs(eval, write),
        "subprocess": Runs(subprocess.check_output, ["touch", str(canary)]),
        "open": Runs(open, str(canary), "w"),
        "import": Runs(__import__("runpy").run_path, str(canary)),
    }


@pytest.mark.slow
def test_a_pickle_is_refused_with_the_file_and_a_command_that_makes_a_folder_which_loads(
    copy: Any, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(tmp_path / "my checkpoints"))
    folder = copy("unequal")
    expected = translator.load(folder, device="cpu").translate("The house.", max_length=6).tgt
    write_bin(folder, made("unequal")[1].state_dict())  # tied weights stand in it under each of their names
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(
        CheckpointError, match=rf"^{folder}/pytorch_model.bin is a pickle, which is read only to"
    ) as said:
        translator.load(folder, device="cpu")
    command = shlex.split(str(said.value).partition("once: ")[2])
    assert command[:4] == ["python", "-m", "translator", "convert"]
    done = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = translator.load(done.stdout.strip(), device="cpu")
    assert made.bundle.folder == tmp_path / "my checkpoints" / "copy"
    assert made.translate("The house.", max_length=6).tgt == expected


def test_safetensors_are_read_whatever_pickle_lies_beside_them(copy: Any, tmp_path: Path) -> None:
    folder = copy("unequal")
    (folder / "pytorch_model.bin").write_bytes(b"no weights")
    load_bundle(folder)
    convert(folder, tmp_path / "out")


@pytest.mark.parametrize("kind", ["system", "exec", "eval", "subprocess", "open", "import"])
@pytest.mark.parametrize("where", ["whole", "entry", "plain"])
@pytest.mark.parametrize("forced", [False, True])
def test_a_pickle_that_runs_code_is_refused_and_not_run(
    copy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, where: str, forced: bool
) -> None:
    folder, canary = copy(), tmp_path / "canary"
    payload = payloads(canary)[kind]
    if kind == "import":
        script = tmp_path / "script.py"
        script.write_text(f"open({str(canary)!r}, 'w').write('ran')", encoding="utf-8")
        payload = Runs(__import__("runpy").run_path, str(script))
    if where == "plain":
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(payload))
    else:
        write_bin(folder, payload if where == "whole" else {"final_logits_bias": payload})
    if forced:
        monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin is cut off, damaged, or holds more than weights"):
        convert(folder, tmp_path / "out")
    assert not canary.exists()


@pytest.mark.parametrize("value", [[1, 2], {"a": 3}, {3: torch.zeros(1)}, torch.zeros(2), {}])
def test_a_pickle_of_something_else_is_refused(copy: Any, tmp_path: Path, value: object) -> None:
    folder = copy()
    write_bin(folder, value)
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin(:| holds a)|pytorch_model.bin lacks"):
        convert(folder, tmp_path / "out")


@pytest.mark.parametrize("kept", [0, 3, 100, 5000])
def test_a_pickle_that_is_cut_off_is_refused(copy: Any, tmp_path: Path, kept: int) -> None:
    folder = pickled(copy("unequal"))
    cut(folder / "pytorch_model.bin", kept)
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin is cut off"):
        convert(folder, tmp_path / "out")


def test_a_weight_that_is_not_finite_is_refused(copy: Any) -> None:
    folder = copy("unequal")
    state = safetensors.torch.load_file(folder / "model.safetensors")
    state["model.decoder.layers.0.fc1.bias"][0] = float("nan")
    safetensors.torch.save_file(state, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"fc1.bias holds values that are not finite"):
        load_bundle(folder)
