"""Stations 11 and 12: choosing the next token, and training."""

from __future__ import annotations

from functools import partial

import numpy as np
import plotly.graph_objects as go

from translator.analysis import stations
from translator.errors import InputError
from translator.figures.decoding import beam_tree, candidates, token_confidence
from translator.figures.sampling import temperature_curves
from translator.figures.style import Theme
from translator.figures.training import noam_curves, smoothing_loss_curve, target_distribution, training_curves
from translator.registry import lesson
from translator.training.state import read_log
from translator.ui.lesson.station import Ask, Shown, View

TEMPERATURES = (0.3, 1.0, 2.0)
BEAMS = 4
PAPER = ((512, 4000), (512, 8000), (256, 4000))


def choice(ask: Ask) -> Shown:
    """The distribution of one step, and what three ways to choose make of it."""
    temperature, of_temperature = ask.turned("temperature")
    seed, of_seed = ask.turned("seed")
    trace, beam = ask.translate(), ask.translate(method="beam", beam=BEAMS)
    drawn = ask.translate(method="sample", temperature=temperature, seed=seed)
    unsure = 1 + int(np.argmax([step.entropy for step in trace.steps]))
    step, of_step = ask.turned("step", value=unsure, high=len(trace.tgt))
    at = trace.steps[step - 1]
    logits = stations.next_token_logits(ask.model, trace)[step - 1]
    vocabulary = ask.model.bundle.tgt
    ids = [candidate.token.id for candidate in at.candidates]
    probs = {t: stations.softmax(logits, t)[ids] for t in sorted({*TEMPERATURES, temperature})}
    names = [candidate.token.surface for candidate in at.candidates]
    views = (
        View("distribution", "softmax(logits)", logits.shape, partial(candidates, at)),
        View("temperature", "softmax(logits / T)", (len(probs), len(ids)), partial(temperature_curves, probs, names)),
        View("every step", "p, H", (2, len(trace.tgt)), partial(token_confidence, trace)),
        View(
            "beam search",
            "beams",
            (len(beam.steps), BEAMS),
            partial(beam_tree, beam.steps, lambda id_: vocabulary.token(id_).surface, winner=[t.id for t in beam.tgt]),
        ),
    )
    numbers = {
        "best": f"{np.exp(at.candidates[0].log_prob):.3f}",
        "entropy (nats)": f"{at.entropy:.2f}",
        "vocabulary": f"{len(logits):,}",
    }
    texts = {"Greedy": trace.translation, "Sampled": drawn.translation, "Beam of 4": beam.translation}
    return Shown(views, numbers, (of_step, of_temperature, of_seed), texts)


def training(ask: Ask) -> Shown:
    """Smoothed targets, what they punish, learning rates, and this checkpoint's own run."""
    turned = [ask.turned(each.name) for each in lesson.STATIONS["training"]]
    (smoothing, width, warmup), controls = zip(*turned, strict=True)
    curves = tuple(dict.fromkeys((*PAPER, (width, warmup))))
    smoothings = sorted({0.0, 0.1, 0.4, smoothing})
    trace = ask.translate()
    views = (
        View("smoothed target", "q", (3, 5), partial(target_distribution, smoothing=smoothing)),
        View("loss and confidence", "KL(q ‖ p)", (len(smoothings), 198), partial(smoothing_loss_curve, smoothings)),
        View("learning rate", "lr(n)", (len(curves), 20_000), partial(noam_curves, curves)),
        View("this model's run", "log.jsonl", (), partial(_run, ask)),
    )
    losses = -trace.log_probs
    floor = smoothing_floor(smoothing, len(ask.model.bundle.tgt))
    numbers = {
        "cross-entropy of this translation (nats a token)": f"{losses.mean():.3f}",
        "least cross-entropy with smoothed targets (nats a token)": f"{floor:.3f}",
    }
    return Shown(views, numbers, controls, {"Translation": trace.translation})


def smoothing_floor(smoothing: float, vocab: int) -> float:
    """The entropy in nats of a smoothed target over `vocab` ids: no model can do better."""
    share = smoothing / vocab
    right = 1 - smoothing + share
    rest = -(vocab - 1) * share * np.log(share) if share else 0.0
    return float(rest - right * np.log(right))


def _run(ask: Ask, *, theme: Theme) -> go.Figure:
    """The curves of the run that made this checkpoint.

    Raises:
        InputError: it came without a log.
    """
    folder = ask.model.bundle.folder
    path = None if folder is None else folder / "log.jsonl"
    if path is None or not path.is_file():
        raise InputError("this checkpoint has no training log (log.jsonl)")
    return training_curves(read_log(path), theme=theme)
