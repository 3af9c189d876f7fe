"""Decoding over ids: search for a hypothesis with every map that it read by, or replay a given one."""

from translator.decode.batch import search_batch, search_encoded
from translator.decode.copying import SourceSpans, Spelling, source_spans
from translator.decode.names import Names, source_names
from translator.decode.replay import Replay, encode, recorded, replay
from translator.decode.search import search
from translator.decode.steps import Hypothesis, IdStep, Stop, check_target, finish

__all__ = [
    "Hypothesis",
    "IdStep",
    "Names",
    "Replay",
    "SourceSpans",
    "Spelling",
    "Stop",
    "check_target",
    "encode",
    "finish",
    "recorded",
    "replay",
    "search",
    "search_batch",
    "search_encoded",
    "source_names",
    "source_spans",
]
