"""The checkpoints that the repository ships: whole, as large as promised, and the same on every path."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import translator
from translator.analysis.alignment import error_rate
from translator.analysis.bench import Aligner, align
from translator.analysis.gold import shipped_gold
from translator.analysis.heads import head_stats, leading_head
from translator.analysis.profile import stored_profile
from translator.pipeline import Translator
from translator.trace import Trace
from translator.training.adequacy import adequacy_path, read_adequacy
from translator.ui import lab_align
from translator.ui.payload import profile_payload

ROOT = Path(__file__).parents[1]
NAMES = ("de-en", "en-zh")


@pytest.fixture(scope="module", params=NAMES)
def shipped(request: pytest.FixtureRequest) -> Translator:
    return translator.load(request.param, device="cpu")


def newcomers(engine: Translator) -> list[str]:
    return (ROOT / "assets" / "newcomers" / f"{engine.name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_size_card_and_log(shipped: Translator) -> None:
    folder, config = shipped.bundle.folder, shipped.bundle.model.config
    assert folder is not None
    assert (folder / "model.safetensors").stat().st_size < 50 * 2**20
    assert min(config.encoder_layers, config.decoder_layers) >= 3
    assert min(config.encoder_heads, config.decoder_heads) >= 8
    card = shipped.bundle.card
    assert "license: cc-by-sa-4.0" in card and "To be written" not in card and "tatoeba.org" in card
    assert all(sentence in card for sentence in newcomers(shipped))
    records = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"loss", "accuracy"} <= set().union(*records) and any("dev_bleu" in record for record in records)
    made_with = json.loads((folder / "train.json").read_text(encoding="utf-8"))
    rebuilds = json.loads((ROOT / "configs" / f"{shipped.name}.json").read_text(encoding="utf-8"))
    assert {key: made_with[key] for key in rebuilds} == rebuilds, "the config is not the one that made these weights"


def near_tie(trace: Trace) -> bool:
    """Whether some step's two best candidates are too close for rounding."""
    return any(step.candidates[0].log_prob - step.candidates[1].log_prob <= 1e-4 for step in trace.steps)


@pytest.mark.slow
def test_live_replayed_and_batched_decoding_agree(shipped: Translator) -> None:
    sentences = newcomers(shipped)[::4]
    batched = shipped.translate_batch(sentences, method="greedy")
    for sentence, text in zip(sentences, batched, strict=True):
        live = shipped.stream(sentence, method="greedy")
        steps = []
        while True:
            try:
                steps.append(next(live))
            except StopIteration as end:
                trace = end.value
                break
        np.testing.assert_allclose([s.log_prob for s in steps], trace.log_probs, atol=1e-4)
        if not near_tie(trace):
            assert [s.token.id for s in steps] == [t.id for t in trace.tgt]
            assert trace.translation == text
        for t, step in enumerate(steps):
            np.testing.assert_allclose(step.cross, trace.cross[:, :, t], atol=1e-5)


@pytest.mark.slow
def test_a_beam_keeps_what_its_winner_read(shipped: Translator) -> None:
    went_on = []
    for text in newcomers(shipped)[-3:]:
        live, taken = shipped.stream(text, method="beam"), 0
        while True:
            try:
                next(live)
                taken += 1
            except StopIteration as end:
                trace = end.value
                break
        went_on.append(taken > len(trace.tgt))
        forced = shipped.force(text, [token.id for token in trace.tgt])
        for kind in ("encoder", "decoder", "cross"):
            np.testing.assert_allclose(trace.weights(kind), forced.weights(kind), atol=1e-5)
        np.testing.assert_allclose(trace.log_probs, forced.log_probs, atol=1e-4)
        assert [step.candidates[0].token for step in trace.steps] == [step.candidates[0].token for step in forced.steps]
    assert any(went_on), "no search went on after its winner had ended"


@pytest.mark.slow
def test_maps_are_probabilities_and_causal(shipped: Translator) -> None:
    trace = shipped.translate(newcomers(shipped)[-5], method="beam")
    for kind in ("encoder", "decoder", "cross"):
        weights = trace.weights(kind)
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-5)
    above = np.triu(np.ones(trace.decoder.shape[2:], dtype=bool), k=1)
    assert not trace.decoder[..., above].any()


LOOP = re.compile(r"(.)\1{7}|(.{2,}?)\2{4}|(.{6,}?)\3{2}")
"""A character eight times in a row, a piece of text five times, or a long one three times."""


@pytest.mark.slow
@pytest.mark.parametrize("joined", [1, 6])
def test_no_translation_loops(shipped: Translator, joined: int) -> None:
    """Of everyday sentences alone and several at once, which is where weights of this size would loop."""
    sentences = [sentence.source for sentence in read_adequacy(adequacy_path(*shipped.languages))]
    texts = [" ".join(sentences[n : n + joined]) for n in range(0, len(sentences), joined)]
    assert not [text for text in texts if LOOP.search(text)]
    looping = [text for text in shipped.translate_batch(texts, method="beam") if LOOP.search(text)]
    assert not looping, looping


GREETINGS = {
    "de-en": {"Guten Morgen.": ("good morning",), "Ich liebe dich.": ("i love you",)},
    "en-zh": {"Good morning.": ("早上好", "早安", "早"), "I love you.": ("我爱你",)},
}


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_a_greeting_comes_out_right(shipped: Translator, number: int) -> None:
    text, words = list(GREETINGS[shipped.name].items())[number]
    translation = shipped.translate(text, method="beam").translation
    assert any(word in translation.lower() for word in words), translation


@pytest.mark.slow
def test_the_head_that_a_page_opens_with_links_words_better_for_its_measured_rates(shipped: Translator) -> None:
    """Over the hand-aligned pairs; without the rates it is the sharpest head, which need not be the one that is right.

    The rates were measured over these very pairs, so that each is judged with rates from the other half of them.
    """
    gold = shipped_gold(shipped.languages)
    assert gold is not None
    traces = [shipped.force(pair.src, pair.tgt) for pair in gold.pairs]
    heads = list(np.ndindex(*traces[0].cross.shape[:2]))

    def links(n: int, place: tuple[int, int]) -> frozenset[tuple[int, int]]:
        counts = (len(gold.pairs[n].src_words), len(gold.pairs[n].tgt_words))
        return align(shipped, traces[n], Aligner(layer=place[0], head=place[1]), counts)

    def rate(found: dict[int, frozenset[tuple[int, int]]]) -> float:
        return error_rate(list(found.values()), [gold.pairs[n].gold for n in found])

    halves = [range(first, len(traces), 2) for first in (0, 1)]
    sharpest, measured = {}, {}
    for half, rest in (halves, halves[::-1]):
        rates = [rate({n: links(n, place) for n in rest}) for place in heads]
        for n in half:
            stats = head_stats(traces[n], "cross")
            sharpest[n], measured[n] = (links(n, leading_head(stats, known)) for known in ((), rates))
    assert rate(measured) < rate(sharpest) - 0.01, (rate(measured), rate(sharpest))


@pytest.mark.slow
def test_the_head_that_aligns_best_is_said_to_align_and_its_rate_is_one_number(shipped: Translator) -> None:
    """In the lab, in the explorer's profile and in the bench; by either reading the lab names that reading's best."""
    profile = stored_profile(shipped)
    assert profile is not None and profile.alignment is not None
    best = profile.alignment["best_head"]
    told = profile_payload(profile)
    at = best["layer"] * shipped.bundle.model.config.decoder_heads + best["head"]
    assert told["roles"]["cross"][at] == "aligns"
    assert (told["rates"][at], told["readings"][at]) == (best["rate"], best["reading"])
    assert all(
        rate <= 0.5 for rate, role in zip(told["rates"], told["roles"]["cross"], strict=True) if role == "aligns"
    )
    trace = shipped.translate("Guten Morgen." if shipped.name == "de-en" else "Good morning.")
    for reading in ("output", "input"):
        rates = np.array(profile.alignment["heads"][reading])
        answer = lab_align.align(shipped, trace, {"reading": reading, "threshold": 0.3}, lambda: False)
        layer, head = np.unravel_index(rates.argmin(), rates.shape)
        said = next(values for words, values in answer["lines"] if words.startswith("Best over"))
        assert (said["name"], said["rate"]) == (f"L{layer + 1}H{head + 1}", f"{rates.min():.2f}")
        assert (answer["chosen"]["layer"], answer["chosen"]["head"]) == (layer + 1, head + 1)
