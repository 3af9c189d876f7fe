"""Any seq2seq model of `transformers` as a `Translator`: ids, maps and gates against the library itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import translator
from translator.adapted.gates import HeadGates
from translator.analysis import interventions, lens
from translator.errors import InputError


def _maker(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


marian, maker = _maker("marian_maker"), _maker("adapted_maker")
FAMILIES = sorted(maker.FAMILIES)
SHAPES = [*FAMILIES, *(f"{family}-{shape}" for family, shapes in maker.SHAPES.items() for shape in shapes)]
# Of the first layer, self and cross: T5's, and BART's.
PROJECTIONS = (
    ("block.0.layer.0.SelfAttention.o", "block.0.layer.1.EncDecAttention.o"),
    ("layers.0.self_attn.out_proj", "layers.0.encoder_attn.out_proj"),
)


def silenced(ours: Any, kind: str, layer: int, head: int) -> Any:
    model = ours.bundle.model
    return interventions.make_gates(model, interventions.silence(model, [(kind, layer, head)]))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [text for text in marian.sentences(1200) if len(text) < 90]


@pytest.fixture(scope="module")
def made(texts: list[str]) -> Any:
    """A family's model, made once: (transformers' model, its tokenizer, ours)."""
    tokenizer = maker.make_tokenizer(texts)
    found: dict[str, Any] = {}

    def make(family: str) -> Any:
        if family not in found:
            net = maker.make_model(family, len(tokenizer))
            found[family] = net, tokenizer, translator.adapt(net, tokenizer, name=family)
        return found[family]

    return make


def generated(net: Any, source: list[int], beams: int, limit: int) -> list[int]:
    ids = torch.tensor([source])
    out = net.generate(ids, attention_mask=torch.ones_like(ids), num_beams=beams, max_length=limit + 1)[0, 1:].tolist()
    return out[: out.index(1) + 1] if 1 in out else out


@pytest.mark.slow
@pytest.mark.parametrize("family", SHAPES)
@pytest.mark.parametrize("beams", [1, 2, 4])
def test_ids_of_greedy_and_beam_search_are_those_of_generate(
    made: Any, texts: list[str], family: str, beams: int
) -> None:
    net, tokenizer, ours = made(family)
    method = {"method": "greedy"} if beams == 1 else {"method": "beam", "beam": beams}
    for limit in (3, 14):
        expected = [generated(net, tokenizer(text)["input_ids"], beams, limit) for text in texts[:6]]
        traces = [ours.translate(text, max_length=limit, **method) for text in texts[:6]]
        assert [[token.id for token in trace.tgt] for trace in traces] == expected
        assert ours.translate_batch(texts[:6], max_length=limit, **method) == [trace.translation for trace in traces]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_summary_is_as_long_as_the_model_asks_for(made: Any, texts: list[str], family: str) -> None:
    """A document in, a text out: `min_length`, `min_new_tokens` and repeated words as `generate` has them."""
    tokenizer = made(family)[1]
    net = maker.make_model(family, len(tokenizer))
    net.lm_head.bias = torch.nn.Parameter(torch.zeros(len(tokenizer)).double())
    net.lm_head.bias.data[1] = 8.0  # by itself it ends at once
    shorter = translator.adapt(net, tokenizer)
    net.generation_config.update(min_length=14, min_new_tokens=16, no_repeat_ngram_size=3)
    longer = translator.adapt(net, tokenizer)
    document = " ".join(texts[:8])
    while len(tokenizer(document)["input_ids"]) > 190:
        document = document[: int(len(document) * 0.9)]
    source = tokenizer(document)["input_ids"]
    assert len(source) > 120
    for beams in (1, 4):
        method = {"method": "greedy"} if beams == 1 else {"method": "beam", "beam": beams}
        trace = longer.translate(document, max_length=30, **method)
        assert [token.id for token in trace.tgt] == generated(net, source, beams, 30)
        assert len(trace.tgt) > 16 > len(shorter.translate(document, max_length=30, **method).tgt)
        assert longer.translate_batch([document], max_length=30, **method) == [trace.translation]


@pytest.mark.slow
@pytest.mark.parametrize("family", SHAPES)
def test_every_map_is_that_of_one_eager_pass(made: Any, texts: list[str], family: str) -> None:
    net, tokenizer, ours = made(family)
    for method in ({"method": "greedy"}, {"method": "beam", "beam": 3}):
        for text in texts[:4]:
            trace = ours.translate(text, max_length=10, **method)
            source = torch.tensor([tokenizer(text)["input_ids"]])
            reads = torch.tensor([[0, *(token.id for token in trace.tgt[:-1])]])
            with torch.inference_mode():
                out = net(input_ids=source, decoder_input_ids=reads, output_attentions=True)
            for mine, theirs in (
                (trace.encoder, out.encoder_attentions),
                (trace.decoder, out.decoder_attentions),
                (trace.cross, out.cross_attentions),
            ):
                np.testing.assert_allclose(mine, torch.cat(theirs).numpy(), atol=1e-5)
            picked = out.logits[0].log_softmax(-1)[range(len(trace.tgt)), [token.id for token in trace.tgt]]
            np.testing.assert_allclose([step.log_prob for step in trace.steps], picked, atol=1e-4)
            assert [token.id for token in trace.src] == source[0].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_live_stream_ends_with_the_same_trace_and_shows_candidates(made: Any, texts: list[str], family: str) -> None:
    ours = made(family)[2]
    stream, shown = ours.stream(texts[0], method="beam", beam=2, max_length=8), []
    while True:
        try:
            shown.append(next(stream))
        except StopIteration as end:
            trace = end.value
            break
    assert shown and all(step.candidates and step.beams for step in shown)
    assert trace.translation == ours.translate(texts[0], method="beam", beam=2, max_length=8).translation
    forced = ours.force(texts[0], texts[1])
    assert forced.translation.split() == texts[1].split() or "<unk>" in [t.surface for t in forced.tgt]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_silent_head_is_a_zeroed_part_of_the_output_projection(made: Any, texts: list[str], family: str) -> None:
    _, tokenizer, ours = made(family)
    counts = ours.bundle.model.config.head_counts
    trace = ours.translate(texts[0], max_length=6)
    for kind in ("encoder", "decoder", "cross"):
        gates = silenced(ours, kind, 0, 1)
        gated = ours.force(texts[0], [token.id for token in trace.tgt], gates=gates)
        changed = maker.make_model(family, len(tokenizer))
        side = changed.get_encoder() if kind == "encoder" else changed.get_decoder()
        weight = side.get_submodule(PROJECTIONS[family in ("bart", "pegasus")][kind == "cross"]).weight
        width = weight.shape[1] // counts[kind][1]
        with torch.no_grad():
            weight[:, width : 2 * width] = 0
        expected = translator.adapt(changed, tokenizer).force(texts[0], [token.id for token in trace.tgt])
        np.testing.assert_allclose([s.log_prob for s in gated.steps], [s.log_prob for s in expected.steps], atol=1e-5)
        assert max(abs(a.log_prob - b.log_prob) for a, b in zip(gated.steps, trace.steps, strict=True)) > 1e-4
    assert ours.translate(texts[0], max_length=6).tgt == trace.tgt, "nothing is left behind"


@pytest.mark.slow
def test_source_ids_of_five_thousand_sentences_are_those_of_its_tokenizer(made: Any) -> None:
    _, tokenizer, ours = made("t5")
    many, src = marian.sentences(5000), ours.bundle.src
    assert [[*src.ids(text), *src.closing_ids] for text in many] == [tokenizer(text)["input_ids"] for text in many]
    assert src.closing_ids == (tokenizer.eos_token_id,)
    encoded = [[token.id for token in src.encode(text).tokens] for text in many[:300]]
    assert encoded == [src.ids(text) for text in many[:300]]


def test_gates_end_with_what_they_were_given_for(made: Any, texts: list[str]) -> None:
    net, tokenizer, ours = made("t5")
    ids = torch.tensor([tokenizer(texts[0])["input_ids"]])
    with torch.inference_mode():
        before = net(input_ids=ids, decoder_input_ids=ids).logits
        ours.translate(texts[0], max_length=4, gates=silenced(ours, "cross", 0, 1))
        assert torch.equal(net(input_ids=ids, decoder_input_ids=ids).logits, before)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_never_to_be_produced_is_as_generate_has_it(made: Any, texts: list[str], family: str) -> None:
    """An id, and two in a row, of those that come first without the ban."""
    tokenizer = made(family)[1]
    net = maker.make_model(family, len(tokenizer))
    found = ((text, generated(net, tokenizer(text)["input_ids"], 1, 9)) for text in texts)
    text, free = next((text, ids) for text, ids in found if len({*ids}) > 3)
    source = tokenizer(text)["input_ids"]
    net.generation_config.bad_words_ids = [[free[1]], free[2:4]]
    ours = translator.adapt(net, tokenizer)
    for beams in (1, 3):
        method = {"method": "greedy"} if beams == 1 else {"method": "beam", "beam": beams}
        made_ids = [token.id for token in ours.translate(text, max_length=9, **method).tgt]
        assert made_ids == generated(net, source, beams, 9) and free[1] not in made_ids[1:]


@pytest.mark.parametrize("fast", [True, False])
def test_spans_point_into_the_text_and_into_the_translation(
    made: Any, texts: list[str], monkeypatch: pytest.MonkeyPatch, fast: bool
) -> None:
    """Of a tokenizer without offsets they are looked for."""
    ours = made("bart")[2]
    monkeypatch.setattr(type(made("bart")[1]), "is_fast", property(lambda _: fast))
    for text in texts[:40]:
        for token in ours.bundle.src.encode(text).tokens:
            if token.span and not token.unknown and text.isascii() and token.surface != "▁":
                assert text[slice(*token.span)] == token.surface
        ids = ours.bundle.tgt.ids(text)
        decoded = ours.bundle.tgt.decode(ids)
        for token in ours.bundle.tgt.tokens(ids):
            if token.span and not token.unknown and token.surface != "▁":
                assert decoded[slice(*token.span)] == token.surface


def test_a_decoder_only_model_is_refused_by_name(made: Any) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    net = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=1))
    with pytest.raises(InputError, match=r"GPT2LMHeadModel is not an encoder-decoder model.*seq2seq"):
        translator.adapt(net, made("t5")[1])


def test_a_model_that_says_it_is_no_encoder_decoder_is_refused(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    net, tokenizer, _ = made("t5")
    monkeypatch.setattr(net.config, "is_encoder_decoder", False)
    with pytest.raises(InputError, match="T5ForConditionalGeneration is not an encoder-decoder model"):
        translator.adapt(net, tokenizer)


def test_a_model_without_a_head_is_refused(made: Any) -> None:
    from transformers import T5Model

    net, tokenizer, _ = made("t5")
    with pytest.raises(InputError, match="T5Model writes no tokens"):
        translator.adapt(T5Model(net.config), tokenizer)


@pytest.mark.parametrize("name", ["eos_token_id", "pad_token_id", "decoder_start_token_id"])
def test_an_id_that_is_named_nowhere_is_asked_for(made: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    net, tokenizer, _ = made("t5")
    for place in (net.config, net.generation_config):
        monkeypatch.setattr(place, name, None)
        monkeypatch.setattr(place, "bos_token_id", None, raising=False)
    with pytest.raises(InputError, match=f"{name} is None in the configuration of T5ForConditionalGeneration"):
        translator.adapt(net, tokenizer)


def test_an_analysis_of_our_own_layers_is_refused_in_words(made: Any, texts: list[str]) -> None:
    ours = made("t5")[2]
    trace = ours.translate(texts[0], max_length=4)
    with pytest.raises(InputError, match=r"of our own model; t5 was adapted from transformers"):
        lens.lens(ours, trace)
    with pytest.raises(InputError, match="save_pretrained"):
        ours.bundle.src.save("x", "src")


def test_heads_that_nobody_knows_are_not_gated_in_silence(made: Any, texts: list[str]) -> None:
    net, tokenizer, _ = made("t5")
    ours = translator.adapt(net, tokenizer)
    model = ours.bundle.model
    odd = HeadGates(torch.nn.Module(), torch.nn.Module(), model.config.head_counts)
    model.gates = odd  # type: ignore[attr-defined]
    assert not odd.known
    with pytest.raises(InputError, match="cannot be switched"):
        ours.translate(texts[0], gates=silenced(ours, "cross", 0, 0))
