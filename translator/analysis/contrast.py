"""Contrastive attribution: the difference of two logits, split over the model and the source.

Over the model's parts the split is exact (see `parts`); over source words it is one of three estimates: gradient ×
input and integrated gradients (`gradients`), and occlusion, where no attention may read the word.
Sources: Yin and Neubig 2022, "Interpreting language models with contrastive explanations"; Ferrando et al. 2023,
"Explaining how Transformers use context to build predictions" (the split over parts). A part's share is what it adds
directly: what it gave to later layers counts as theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from translator.analysis.aggregate import word_groups, word_surfaces
from translator.analysis.gradients import Score, both_gradients
from translator.analysis.named import token_named
from translator.analysis.parts import Part, output_sum
from translator.analysis.passes import Pair, layer_of, pair_of, to_numpy
from translator.analysis.sites import Recording, decoder_pass, encoder_pass, record
from translator.analysis.stopping import Stop, ask
from translator.errors import InputError
from translator.pipeline import Translator
from translator.registry.lab import SOURCES
from translator.rules import whole
from translator.trace import Token, Trace

POINTS = 32
"""Of the quadrature of integrated gradients: more would keep a visitor waiting for over half a second."""
POSITIONS = 1024
"""Tokens that occlusion reads at once, so that a long sentence too asks `stop` often."""
METHODS = SOURCES


@dataclass(frozen=True, eq=False)
class Contrast:
    """Why `word` rather than `against` at `step` (from 0).

    `total` is logit(word) − logit(against), which is the difference of their log-probabilities in nats as well.
    `values` [P] are the shares of `parts` and sum to it. `source` gives for each of `METHODS` what each of the W
    source `words` brings, [W] (the end token is one of them; NaN where a word cannot be taken away). Integrated
    gradients begin at `baseline`, the difference where every source word is a zero, and sum to `total` − `baseline`:
    the `gap` that their quadrature left was spread over the tokens by the size of their shares.
    """

    step: int
    word: Token
    against: Token
    log_probs: tuple[float, float]
    total: float
    parts: tuple[Part, ...]
    values: np.ndarray
    words: tuple[str, ...]
    source: dict[str, np.ndarray]
    baseline: float
    gap: float


def contrast(
    translator: Translator,
    trace: Trace,
    step: int,
    word: int | str | None = None,
    against: int | str | None = None,
    *,
    points: int = POINTS,
    stop: Stop | None = None,
) -> Contrast:
    """Split logit(word) − logit(against) at `step` of `trace`.

    Args:
        step: counted from 0.
        word: a token as shown, or an id; None: the one that was produced.
        against: likewise; None: the likeliest other one.
        points: of the quadrature of integrated gradients.
        stop: asked before every batch of words, and twice a point; True ends the work.
    Raises:
        InputError: there is no such step or token, both are the same, or the trace is not of this model.
        CancelledError: `stop` said so.
    """
    step = layer_of(len(trace.tgt), step, "step")
    points = whole("points", points, 1, 1000)
    pair = until(pair_of(translator, trace), step)
    recording = record(pair)
    with torch.inference_mode():
        logits = pair.model.output(recording.hidden[:, step])[0].float()
    ids = chosen(translator, trace, step, logits, word, against)
    parts, values = split_logits(recording, step, ids)
    slope, integrated = both_gradients(
        translator, trace, [step], _difference(ids), inputs="source", points=points, stop=stop
    )
    groups = word_groups(trace.src)
    members = [groups == group for group in range(int(groups.max()) + 1)]
    tokens_of = {"gradient": slope.source[0], "integrated": _complete(integrated.source[0], float(integrated.gap[0]))}
    source = {name: np.array([values[own].sum() for own in members]) for name, values in tokens_of.items()}
    source["occlusion"] = _occlusion(pair, ids, members, stop)
    tokens = tuple(map(translator.bundle.tgt.token, ids))
    return Contrast(
        step=step,
        word=tokens[0],
        against=tokens[1],
        log_probs=tuple(logits.log_softmax(-1)[list(ids)].tolist()),
        total=float(logits[ids[0]].double() - logits[ids[1]].double()),
        parts=parts,
        values=values,
        words=tuple(word_surfaces(trace.src, trace.source)),
        source=source,
        baseline=float(integrated.base[0]),
        gap=float(integrated.gap[0]),
    )


def until(pair: Pair, step: int) -> Pair:
    """`pair` up to and with `step`: the decoder is causal, so that what follows changes nothing there."""
    return replace(pair, reads=pair.reads[:, : step + 1], tgt_ids=pair.tgt_ids[: step + 1])


def chosen(
    translator: Translator, trace: Trace, step: int, logits: Tensor, word: int | str | None, against: int | str | None
) -> tuple[int, int]:
    """The ids of both tokens; logits [V] are of that step.

    Raises:
        InputError: there is no such token, or both are the same.
    """
    first = trace.tgt[step].id if word is None else token_named(translator, word, logits, "word")
    if against is None:
        best = logits.topk(min(2, len(logits))).indices.tolist()
        second = best[0] if best[0] != first else best[-1]
    else:
        second = token_named(translator, against, logits, "against")
    if first == second:
        shown = translator.bundle.tgt.token(first).surface
        raise InputError(f"word and against are both {shown!r}; a difference needs two tokens")
    return first, second


def split_logits(recording: Recording, step: int, ids: tuple[int, int]) -> tuple[tuple[Part, ...], np.ndarray]:
    """Who adds how much to logit(ids[0]) − logit(ids[1]) at `step`: the parts, and their shares [P]."""
    model, found = recording.pair.model, output_sum(recording, step)
    rows = model.output.weight[list(ids)].double()
    values = found.vectors @ (rows[0] - rows[1])
    if model.output.bias is not None:
        biases = model.output.bias[list(ids)].double()
        values[0] += biases[0] - biases[1]
    return found.parts, to_numpy(values)


def _difference(ids: tuple[int, int]) -> Score:
    """The difference of two logits, [..., V] → [...]."""
    return lambda logits: logits[..., ids[0]] - logits[..., ids[1]]


def _complete(values: np.ndarray, gap: float) -> np.ndarray:
    """Values [S] with a gap in their sum spread over them by their size."""
    sizes = np.abs(values)
    return values + gap * (sizes / sizes.sum() if sizes.any() else 1 / len(values))


def _occlusion(pair: Pair, ids: tuple[int, int], members: list[np.ndarray], stop: Stop | None) -> np.ndarray:
    """What the difference loses without each word, [W]; NaN where nothing would be left to read."""
    keep = ~torch.as_tensor(np.stack([np.zeros_like(members[0]), *members]), device=pair.src_ids.device)
    if pair.src_keep is not None:
        keep &= pair.src_keep
    model, found = pair.model, []
    with torch.inference_mode():
        source, reads = model.embed(pair.src_ids, target=False), model.embed(pair.reads, target=True)
        for rows in keep.split(max(1, POSITIONS // keep.shape[1])):
            ask(stop, "the contrast")
            memory = encoder_pass(model, source.expand(len(rows), -1, -1), rows)
            hidden = decoder_pass(model, reads.expand(len(rows), -1, -1), memory, rows)
            found.append(model.output(hidden[:, -1]))
    logits = torch.cat(found)
    values = to_numpy(logits[:, ids[0]] - logits[:, ids[1]])
    return np.where(keep.any(1).cpu().numpy(), values[0] - values, np.nan)[1:]
