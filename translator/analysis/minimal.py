"""Minimal pairs: two sentences that differ in little, and the word that differs in their translations.

Positions are matched by what both sentences share, and one for one where a stretch is replaced by one as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import torch
from torch import Tensor

from translator.analysis.contrast import chosen, until
from translator.analysis.passes import Pair, layer_of, pair_of
from translator.analysis.sites import Recording, record, source_words, word_scale
from translator.analysis.words import source_words as words_of
from translator.decode import search_encoded
from translator.errors import InputError
from translator.model import Encoded
from translator.pipeline import Translator
from translator.rules import real, whole
from translator.trace import Token, Trace

LEAST = 1e-3
"""Nats that the difference must change between the two runs; a share of less is noise."""


@dataclass(frozen=True, eq=False)
class Runs:
    """A clean run and a corrupted one (or several) over the same target prefix.

    `word` and `against` are judged at `step` (from 0): `clean_delta` and `corrupt_delta` are logit(word) −
    logit(against), which is their log-probability difference in nats. `partner`, one entry for each source token of
    the corrupted run, is the clean run's position that it is matched with, -1 for none. `words` are the names of
    the corrupted run's source tokens, `reads` of what the decoder reads up to `step`.
    """

    clean: Recording
    corrupt: Recording
    step: int
    word: Token
    against: Token
    clean_delta: float
    corrupt_delta: float
    partner: tuple[int, ...]
    words: tuple[str, ...]
    reads: tuple[str, ...]
    translations: tuple[str, str]

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The source tokens of the corrupted run that have no partner."""
        return tuple(name for name, own in zip(self.words, self.partner, strict=True) if own < 0)

    def deltas(self, hidden: Tensor) -> Tensor:
        """logit(word) − logit(against) at `step`, from what the output projection reads, [B, T, D] → [B]."""
        output, ids = self.clean.pair.model.output, [self.word.id, self.against.id]
        rows = output.weight[ids]
        bias = 0.0 if output.bias is None else float(output.bias[ids[0]] - output.bias[ids[1]])
        return hidden[:, self.step] @ (rows[0] - rows[1]) + bias

    def restored(self, delta: Any) -> Any:
        """How much of the way from the corrupted run (0) to the clean one (1) a difference has come; any shape."""
        return (delta - self.corrupt_delta) / (self.clean_delta - self.corrupt_delta)


def minimal_pair(
    translator: Translator,
    clean: str | Trace,
    corrupt: str | Trace,
    *,
    step: int | None = None,
    word: int | str | None = None,
    against: int | str | None = None,
    **settings: Any,
) -> Runs:
    """The runs of two sentences.

    Both read the translation of `clean` up to `step`; without a step, it is the first at which the two translations
    differ, and `word` and `against` are what the one says there and the other.

    Args:
        clean, corrupt: texts, or traces of them.
        step: counted from 0.
        word, against: tokens as shown, or ids.
        settings: how texts are decoded, see `Translator.stream`; greedily unless it is said.
    Raises:
        InputError: nothing is shared, the translations do not differ and no step is named, or the word's advantage
            is the same in both.
    """
    traces = [
        each if isinstance(each, Trace) else translator.translate(each, **{"method": "greedy", **settings})
        for each in (clean, corrupt)
    ]
    pairs = [pair_of(translator, trace) for trace in traces]
    first, second = traces
    step = _parting(first, second) if step is None else layer_of(len(first.tgt), step, "step")
    reads, tgt = pairs[0].reads[:, : step + 1], pairs[0].tgt_ids[: step + 1]
    recordings = [record(Pair(each.engine, each.src_ids, each.src_keep, reads, tgt)) for each in pairs]
    if against is None and second.tgt[:step] == first.tgt[:step] and len(second.tgt) > step:
        other = second.tgt[step].id
        against = other if other != first.tgt[step].id else None
    partner = matched([token.id for token in first.src], [token.id for token in second.src])
    words = tuple(
        token.surface if own < 0 or first.src[own].id == token.id else f"{first.src[own].surface} / {token.surface}"
        for token, own in zip(second.src, partner, strict=True)
    )
    texts = first.translation, second.translation
    return _runs(translator, first, (recordings[0], recordings[1]), step, (word, against), partner, words, texts)


def noisy_pair(
    translator: Translator,
    clean: str | Trace,
    noisy: Sequence[int],
    *,
    step: int | None = None,
    word: int | str | None = None,
    against: int | str | None = None,
    strength: float = 3.0,
    draws: int = 4,
    seed: int = 0,
    **settings: Any,
) -> Runs:
    """The runs of one sentence, and of the same with noise on the embeddings of some source tokens.

    Source: Meng et al. 2022, "Locating and editing factual associations in GPT": Gaussian noise of `strength`
    standard deviations of the embeddings. The corrupted difference is the mean over `draws`; the second translation is
    that of the first draw.

    Args:
        noisy: positions of source tokens, from 0; `places_of` finds those of a word.
        step: counted from 0; None: where the noise costs a produced token most.
        word, against: tokens as shown, or ids; None: what was produced, and what the noise makes likeliest.
    Raises:
        InputError: there is no such position, step or token, or the noise changes nothing.
    """
    trace = clean if isinstance(clean, Trace) else translator.translate(clean, **{"method": "greedy", **settings})
    pair = pair_of(translator, trace)
    places = [layer_of(len(trace.src), position, "position") for position in noisy]
    if not places:
        raise InputError("no source token was named; noise needs at least one")
    strength, draws = real("strength", strength, 0, 100), whole("draws", draws, 1, 64)
    noisy_words = _with_noise(pair, places, strength, draws, whole("seed", seed, 0, 2**63 - 1))
    step = _hardest_hit(trace, pair, noisy_words) if step is None else layer_of(len(trace.tgt), step, "step")
    short = until(pair, step)
    recordings = record(short), record(short, noisy_words)
    names = tuple(f"noise: {t.surface}" if n in places else t.surface for n, t in enumerate(trace.src))
    texts = trace.translation, translator.bundle.tgt.decode(greedily(translator, pair, recordings[1].memory[:1]))
    everyone = tuple(range(len(trace.src)))
    return _runs(translator, trace, recordings, step, (word, against), everyone, names, texts)


def places_of(trace: Trace, text: str) -> list[int]:
    """The positions of the source tokens that `text` names: tokens as shown, or all tokens of words.

    Raises:
        InputError: part of it is no token and no word of the sentence.
    """
    words, places = words_of(trace), set()
    for each in text.split():
        shown = {n for n, token in enumerate(trace.src) if token.surface == each and not token.special}
        rows = [row for row, word in zip(words.members, words.texts, strict=True) if word == each]
        found = shown | {int(n) for row in rows for n in row.nonzero()[0]}
        if not found:
            raise InputError(f"noise is {text[:40]!r}; {each[:40]!r} is no word and no token of the first sentence")
        places |= found
    return sorted(places)


def greedily(
    translator: Translator,
    pair: Pair,
    memory: Tensor,
    *,
    limit: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[int, ...]:
    """The target ids that greedy search makes of an encoder output, [1, S, D].

    No one text says what was encoded, so that `spans_from_source` has no say.

    Args:
        limit: produced tokens at most; None: as the translator has it for such a sentence.
        stop: asked at every step; True ends the search.
    Raises:
        CancelledError: `stop` said so.
    """
    config = replace(translator.bundle.decode, method="greedy")
    most = limit or usual_length(translator, pair)
    with torch.inference_mode():
        (ids,) = search_encoded(pair.engine, Encoded.without_maps(memory, pair.src_keep), config, [most], stop)
    return tuple(ids)


def usual_length(translator: Translator, pair: Pair) -> int:
    """How many tokens the translator produces at most for the source of `pair`."""
    return translator.usual_length([id_ for id_ in pair.src_ids[0].tolist() if id_ != pair.model.config.pad_id])


def matched(clean: Sequence[int], corrupt: Sequence[int]) -> tuple[int, ...]:
    """For each id of `corrupt` the position in `clean` that it is matched with, -1 for none.

    Raises:
        InputError: they share no more than their end.
    """
    partner = [-1] * len(corrupt)
    shared = 0
    for tag, a, a_end, b, b_end in SequenceMatcher(None, clean, corrupt, autojunk=False).get_opcodes():
        if tag == "equal" or (tag == "replace" and a_end - a == b_end - b):
            partner[b:b_end] = range(a, a_end)
        shared += (b_end - b) * (tag == "equal")
    if shared < 2:
        raise InputError("the sentences share no token but their end; a minimal pair differs in a word or two")
    return tuple(partner)


def _parting(first: Trace, second: Trace) -> int:
    """The first step at which two translations differ."""
    for step, (one, other) in enumerate(zip(first.tgt, second.tgt, strict=False)):
        if one.id != other.id:
            return step
    raise InputError(f"both are translated alike ({first.translation[:80]!r}); name a step, a word and another")


def _hardest_hit(trace: Trace, pair: Pair, noisy_words: Tensor) -> int:
    """The step at which noise costs the produced token most of its log-probability, special tokens set apart."""
    places = torch.arange(len(pair.tgt_ids), device=pair.tgt_ids.device)
    with torch.inference_mode():
        clean, noisy = (
            pair.model.output(record(pair, words).hidden).float().log_softmax(-1)[:, places, pair.tgt_ids].mean(0)
            for words in (None, noisy_words)
        )
    lost = (clean - noisy).tolist()
    words = [n for n, token in enumerate(trace.tgt) if not token.special]
    return max(words or range(len(lost)), key=lost.__getitem__)


def _with_noise(pair: Pair, places: list[int], strength: float, draws: int, seed: int) -> Tensor:
    """Word embeddings [draws, S, D] with noise at some positions."""
    model, words = pair.model, source_words(pair)
    spread = float(model.src_embedding.weight.std()) * word_scale(model)
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(draws, *words.shape, generator=generator).to(words) * spread * strength
    noise[:, [n for n in range(len(words)) if n not in places]] = 0
    return words + noise


def _runs(
    translator: Translator,
    trace: Trace,
    recordings: tuple[Recording, Recording],
    step: int,
    asked: tuple[int | str | None, int | str | None],
    partner: tuple[int, ...],
    words: tuple[str, ...],
    translations: tuple[str, str],
) -> Runs:
    clean, corrupt = recordings
    with torch.inference_mode():
        usual, broken = (clean.pair.model.output(each.hidden[:, step]).float() for each in recordings)
        ids = chosen(translator, trace, step, broken.mean(0), *asked)
        deltas = [float((logits[:, ids[0]] - logits[:, ids[1]]).mean()) for logits in (usual, broken)]
    tokens = [translator.bundle.tgt.token(id_) for id_ in ids]
    if abs(deltas[0] - deltas[1]) < LEAST:
        shown = f"{tokens[0].surface!r} against {tokens[1].surface!r}"
        raise InputError(f"{shown} stands at {deltas[0]:+.3f} nats in both runs; there is nothing to restore")
    reads = tuple(token.surface for token in trace.reads[: step + 1])
    return Runs(clean, corrupt, step, tokens[0], tokens[1], deltas[0], deltas[1], partner, words, reads, translations)
