"""Beam search, for one sentence or many at once.

The bookkeeping of one sentence is `BeamSearch`; `run` drives any number of them through one session. Ranking and
stopping follow `transformers`' `generate`, so that imported checkpoints give the tokens they are known for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from translator.config import DecodeConfig, ModelConfig
from translator.decode.copying import SourceSpans, ban_spans
from translator.decode.names import Names
from translator.decode.steps import Decoding, Hypothesis, ban_sequences, banned_ids, banned_next
from translator.engine import Session
from translator.engine.ranking import best_of
from translator.errors import InputError
from translator.model import Stepped
from translator.trace import Beam

T = TypeVar("T")

_SPARE = 16
"""So many more candidates are ranked where some may not be of the source; few steps need more."""
_UNREAD = 1e-9
"""The least attention that counts: that of a float16 model may round to 0, whose logarithm is endless."""


def penalty(length: int, config: DecodeConfig) -> float:
    """What a score is divided by: ((5 + length) / 6)^alpha (Wu et al. 2016, section 7), or length^alpha."""
    base = (5 + length) / 6 if config.penalty_kind == "wu" else length
    divisor: float = base**config.length_penalty
    return divisor


def covered(hypothesis: Hypothesis, config: DecodeConfig) -> float:
    """What a score loses for source tokens that were not read: beta Σ log min(attention, 1), at most 0.

    Source: Wu et al. 2016, "Google's Neural Machine Translation System", equation 14; their beta is
    `config.coverage_penalty`.
    """
    if not config.coverage_penalty:
        return 0.0
    return config.coverage_penalty * sum(math.log(min(max(each, _UNREAD), 1.0)) for each in hypothesis.coverage)


def attention_paid(stepped: Stepped, config: DecodeConfig) -> Tensor:
    """The attention [B, S] of a step that counts as coverage: the mean over the heads that `config` names.

    Raises:
        InputError: the model has no such head.
    """
    if config.coverage_heads is None:
        return stepped.cross.float().mean((1, 2))
    sizes = tuple(stepped.cross.shape[1:3])
    for head in config.coverage_heads:
        if not all(n < size for n, size in zip(head, sizes, strict=True)):
            raise InputError(
                f"coverage_heads holds {list(head)}; this decoder has {sizes[0]} layers of {sizes[1]} heads, from 0"
            )
    layers, heads = zip(*config.coverage_heads, strict=True)
    return stepped.cross[:, list(layers), list(heads)].float().mean(1)


class BeamSearch:
    """The hypotheses of one sentence: those that live, and the `beam` best of those that ended.

    `live` may be shorter than the beam when the vocabulary is tiny. `beams` is what the last step
    considered, best first; `leader` the row that the first of them grew from, by a token of log-probability `leading`;
    `parents` the rows that those which live grew from. A row is a place among those that lived before the step.
    `to_cover` counts the source tokens, without EOS, that coverage is asked of; `spans` are those of the source, where
    they count.
    """

    def __init__(
        self,
        config: DecodeConfig,
        eos_id: int,
        max_length: int,
        prefix: Hypothesis | None = None,
        *,
        to_cover: int = 0,
        spans: SourceSpans | None = None,
    ) -> None:
        self.to_cover, self.spans = to_cover, spans
        self.names = None if spans is None else spans.names
        self.config, self.eos_id, self.max_length = config, eos_id, max_length
        self.live: list[Hypothesis] = [prefix or Hypothesis()]
        self.ended: list[Hypothesis] = []
        self.parents: list[int] = [0]
        self.leader, self.leading = 0, 0.0
        self.beams: tuple[Beam, ...] = ()
        self.done = False
        self._ranks = [0]  # of each live hypothesis among `beams`, where ended ones stand too

    @property
    def forced(self) -> bool:
        """Whether the next token is the last that the limit allows, and has to be EOS."""
        return self.config.force_eos and len(self.live[0].ids) == self.max_length - 1

    @property
    def only_id(self) -> int | None:
        """The one id that may come next, counted 0 in the score; None where any may."""
        if self.config.first_id is not None and not self.live[0].ids:
            return self.config.first_id
        return self.eos_id if self.forced else None

    def normalised(self, hypothesis: Hypothesis) -> float:
        """The score after the penalties of length, coverage and missing names, by which hypotheses are ranked."""
        of_length = hypothesis.score / penalty(len(hypothesis.ids), self.config)
        return of_length + covered(hypothesis, self.config) - self._missing(hypothesis)

    def _missing(self, hypothesis: Hypothesis) -> float:
        """What it loses for names: over the source's length, as a longer one would else lose less."""
        return hypothesis.missing / penalty(max(self.to_cover, 1), self.config) if hypothesis.missing else 0.0

    def total(self, hypothesis: Hypothesis) -> float:
        """The score by which a step ranks what goes on with the hypothesis, unless it spells a name."""
        return hypothesis.score - (self.names.unspelt(hypothesis.ids) if self.names else 0.0)

    def best(self) -> Hypothesis:
        """The best that ended; one that hit the length limit ended there."""
        return max(self.ended, key=self.normalised)

    def grow(self, candidates: Sequence[tuple[int, int, float]], read: Sequence[Sequence[float]] = ()) -> None:
        """Take one step.

        Args:
            candidates: (parent row, token, log-probability), best total first; at least `beam` of them
                are no EOS where the vocabulary allows it.
            read: the attention that each row paid to each source token, where coverage counts.
        """
        live: list[Hypothesis] = []
        parents: list[int] = []
        ranks: list[int] = []
        beams: list[Beam] = []
        for rank, (parent, token, log_prob) in enumerate(candidates):
            if min(rank, len(live)) >= self.config.beam:
                break  # none that follows would live or count as an end
            paid = read[parent][: self.to_cover] if read else ()
            missing = self.names.missing((*self.live[parent].ids, token)) if self.names else 0.0
            hypothesis = self.live[parent].extend(token, log_prob, paid, parent, missing)
            ended = token == self.eos_id
            full = len(hypothesis.ids) == self.max_length
            if ended or full:
                if rank >= self.config.beam:
                    continue  # an end must be among the best, or bad short ends would fill the list
                self.ended.append(replace(hypothesis, truncated=not ended or self.forced))
            elif len(live) < self.config.beam:
                live.append(hypothesis)
                parents.append(parent)
                ranks.append(len(beams))
            else:
                continue
            parent_rank = self._ranks[parent]
            beams.append(Beam(hypothesis.ids, hypothesis.score, self.normalised(hypothesis), parent_rank, ended))
        self.leader, _, self.leading = candidates[0]
        self.live, self.parents, self.beams, self._ranks = live, parents, tuple(beams), ranks
        if any(beam.ended or len(beam.ids) == self.max_length for beam in beams):
            self.ended = sorted(self.ended, key=self.normalised, reverse=True)[: self.config.beam]
        self.done = self._finished()

    def _finished(self) -> bool:
        """Nothing lives, or nothing that lives could still push an ended hypothesis out at its present length.

        What lives may yet read all of its source, and so lose nothing by coverage.
        """
        if not self.live:
            return True
        if len(self.ended) < self.config.beam:
            return False
        if self.config.early_stopping is True:
            return True
        longest = self.config.early_stopping == "never" and self.config.length_penalty > 0
        length = self.max_length if longest else len(self.live[0].ids)
        best = self.live[0].score / penalty(length, self.config) - self._missing(self.live[0])
        return best <= self.normalised(self.ended[-1])


def run(
    decoding: Decoding, searches: Sequence[BeamSearch], last_ids: Sequence[int]
) -> Iterator[tuple[Tensor, Stepped]]:
    """Drive `searches`, one for each source of the session (with one row each), until all are done.

    Yields after every step, with `beams` of each search made anew: log_probs [B, V] of the rows before
    they grew and what the step gave.
    """
    session, model_config = decoding.session, decoding.model_config
    active, ids = list(searches), list(last_ids)
    while active:
        stepped = decoding.step(ids)
        log_probs, found = _candidates(model_config, active, session, stepped.logits)
        read = _read(stepped, active)
        for n, (search, candidates) in enumerate(zip(active, found, strict=True)):
            search.grow(candidates, read[n] if read else ())
        yield log_probs, stepped
        stay = [n for n, search in enumerate(active) if not search.done]
        rows = [n * session.rows + parent for n in stay for parent in _filled(active[n].parents, active[n].config.beam)]
        gone, active = len(stay) < len(active), [active[n] for n in stay]
        ids = [h.ids[-1] for search in active for h in _filled(search.live, search.config.beam)]
        if active and (gone or rows != list(range(len(active) * session.rows))):
            sources = torch.tensor(stay, device=log_probs.device) if gone else None
            session.reorder(rows, sources=sources)


def _read(stepped: Stepped, searches: Sequence[BeamSearch]) -> list[list[list[float]]]:
    """The attention that each row of each search paid to each source token; nothing where coverage does not count."""
    config = searches[0].config
    if not config.coverage_penalty:
        return []
    read: list[list[list[float]]] = attention_paid(stepped, config).unflatten(0, (len(searches), -1)).tolist()
    return read


def _filled(values: list[T], count: int) -> list[T]:
    """The list up to `count`, its first value standing in where too few hypotheses live; see `_candidates`."""
    return values + values[:1] * (count - len(values))


def _candidates(
    model_config: ModelConfig, searches: Sequence[BeamSearch], session: Session, logits: Tensor
) -> tuple[Tensor, list[list[tuple[int, int, float]]]]:
    """The log-probabilities [B, V] of a step, and of each search the best (parent row, token, log-probability).

    Twice the beam of these, the best total first, so that enough are left when half of them end. What must not be
    chosen is left out afterwards, and so many more are asked for. A row that stands in for a missing hypothesis has
    the score -inf, and gives none.
    """
    banned = banned_ids(model_config)
    never = [set(banned_next(model_config, s.config, [h.ids for h in s.live])) for s in searches]
    count, left_out = 2 * searches[0].config.beam, session.rows * len(banned) + max(map(len, never))
    spare = _SPARE * any(search.spans is not None for search in searches)
    scores = [[s.total(h) for h in s.live] + [-math.inf] * (session.rows - len(s.live)) for s in searches]
    log_probs, best = session.rank(logits, scores, count + left_out + spare)
    found = []
    for n, (search, ranked, own) in enumerate(zip(searches, best, never, strict=True)):
        if search.only_id is not None:
            rows = sorted(range(len(search.live)), key=lambda row: -scores[n][row])
            found.append([(row, search.only_id, 0.0) for row in rows][:count])
            continue
        allowed = [each for each in ranked if each[1] not in banned and (not own or each[:2] not in own)]
        if search.spans is not None:
            most = count if search.names is None else len(allowed)
            allowed = _of_source(search, search.spans, allowed, len(banned) + len(own), log_probs.shape[-1], most)
            if len(allowed) < count:
                allowed = _left(model_config, search, _own(log_probs, n, session), scores[n], count)
        if search.names is not None:
            allowed = _with_names(search, search.names, allowed, _own(log_probs, n, session), {*banned}, own)
        found.append(allowed[:count])
    return log_probs, found


def _own(log_probs: Tensor, n: int, session: Session) -> Tensor:
    """Of log_probs [B, V] those of the hypotheses of source n."""
    return log_probs[n * session.rows : (n + 1) * session.rows]


def _with_names(
    search: BeamSearch,
    names: Names,
    candidates: Sequence[tuple[int, int, float]],
    log_probs: Tensor,
    banned: set[int],
    never: set[tuple[int, int]],
) -> list[tuple[int, int, float]]:
    """`candidates` of a search with log_probs [R, V], and what spells a missing name, which ranks higher for it."""
    base = [search.total(hypothesis) for hypothesis in search.live]
    ranked = {(row, id_): (base[row] + log_prob, log_prob) for row, id_, log_prob in candidates}
    for row, hypothesis in enumerate(search.live):
        wrong = search.spans.forbidden(hypothesis.ids) if search.spans else np.empty(0, np.int64)
        for id_, gain in names.gains(hypothesis.ids):
            if id_ not in banned and (row, id_) not in never and not _holds(wrong, id_):
                log_prob = float(log_probs[row, id_])
                ranked[row, id_] = (base[row] + log_prob + gain, log_prob)
    order = sorted(ranked.items(), key=lambda each: -each[1][0])
    return [(row, id_, log_prob) for (row, id_), (_, log_prob) in order]


def _of_source(
    search: BeamSearch,
    spans: SourceSpans,
    candidates: list[tuple[int, int, float]],
    others: int,
    vocabulary: int,
    most: int,
) -> list[tuple[int, int, float]]:
    """The first `most` of `candidates` that the source's numbers and names allow; none where a row may have none left.

    `others` counts the ids that other rules forbid, so that what this leaves out is known without looking at them.
    """
    wrong = [spans.forbidden(hypothesis.ids) for hypothesis in search.live]
    if any(vocabulary - len(ids) <= others for ids in wrong):
        return []
    return list(islice((each for each in candidates if not _holds(wrong[each[0]], each[1])), most))


def _holds(ascending: np.ndarray, id_: int) -> bool:
    place = int(ascending.searchsorted(id_))
    return place < len(ascending) and int(ascending[place]) == id_


def _left(
    model_config: ModelConfig, search: BeamSearch, log_probs: Tensor, scores: Sequence[float], count: int
) -> list[tuple[int, int, float]]:
    """What `_candidates` gives for one search with log_probs [R, V], by a look at every token."""
    banned = torch.tensor(banned_ids(model_config), dtype=torch.long, device=log_probs.device)
    counted = log_probs.index_fill(-1, banned, -math.inf)  # a copy, which may be written to
    produced = [hypothesis.ids for hypothesis in search.live]
    ban_sequences(counted, model_config, search.config, produced)
    ban_spans(counted, [search.spans] * len(produced), produced)
    return best_of(counted, [scores], count)[0]
