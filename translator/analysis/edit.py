"""A produced token replaced by another, and decoding resumed from there."""

from __future__ import annotations

from dataclasses import asdict

from translator.analysis.passes import layer_of, pair_of
from translator.errors import InputError
from translator.pipeline import Translator
from translator.settings import Settings, Unpack
from translator.text import is_blank
from translator.trace import Trace


def runner_up(trace: Trace, step: int) -> int:
    """The likeliest token at a step (from 0) that was not produced there: its id."""
    best, second = trace.steps[step].candidates[:2]
    return second.token.id if best.token.id == trace.tgt[step].id else best.token.id


def continue_from(
    translator: Translator, trace: Trace, step: int, choice: int | str, **settings: Unpack[Settings]
) -> Trace:
    """Keep the tokens before `step`, put `choice` there, and decode on as the trace was decoded.

    Picking the token that greedy search chose gives the rest again. A beam search, which must now begin with the
    prefix, may go on differently, and so does sampling, whose draws begin anew.

    Args:
        step: counted from 0.
        choice: the id of a token (a candidate of that step, say), or a text, which may be several tokens.
        settings: over those of the trace.
    Raises:
        InputError: there is no such step, the choice is blank or no token, or the target would become too long.
    """
    pair_of(translator, trace)
    step = layer_of(len(trace.tgt), step, "step")
    if isinstance(choice, str):
        if is_blank(choice):
            raise InputError("the other token is blank; type a word, or pick a candidate")
        ids = translator.bundle.tgt.ids(choice)
    else:
        ids = [choice]
    prefix = [*(token.id for token in trace.tgt[:step]), *ids]
    return translator.translate(trace.source, **{**asdict(trace.settings), **settings}, prefix=prefix)
