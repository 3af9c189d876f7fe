"""The lesson's stations that have something to turn: each field with choices, range and default."""

from __future__ import annotations

from dataclasses import replace

from translator.registry import decoding
from translator.registry.field import Field

LAYOUTS = ("interleaved", "concatenated", "learned")


def _count(name: str, low: int, high: int | None, value: int, says: str) -> Field:
    return Field(name, name, "number", low=low, high=high, value=value, whole=True, says=says)


def _real(name: str, low: float, high: float, step: float, value: float, says: str) -> Field:
    return Field(name, name, "range", low=low, high=high, step=step, value=value, says=says)


_LAYER = _count("layer", 1, None, 1, "of the model")
_HEAD = _count("head", 1, None, 1, "of the layer")
_PLACE = (_LAYER, _HEAD)

STATIONS: dict[str, tuple[Field, ...]] = {
    "positions": (Field("layout", "layout", "choice", LAYOUTS, value=LAYOUTS[0], says="of the table's columns"),),
    "projections": _PLACE,
    "scores": (
        *_PLACE,
        Field("divide by", "divide by", "choice", ("root", "one"), value="root", says="the root of d_head, or 1"),
    ),
    "masks": _PLACE,
    "heads": _PLACE,
    "residual": (_LAYER,),
    "feed-forward": (_LAYER,),
    "cross": tuple(replace(each, value=None, says=f"{each.says}; at first the sharpest head's") for each in _PLACE),
    "choice": (
        Field(
            "step", "step", "range", low=1, step=1, whole=True, says="of the translation; at first the least certain"
        ),
        _real("temperature", 0.1, 3, 0.1, decoding.DEFAULTS["temperature"], "of sampling"),
        _count("seed", 0, decoding.SEED, 0, "of sampling"),
    ),
    "training": (
        _real("smoothing", 0, 0.5, 0.05, 0.1, "label smoothing: the target's probability shared by all ids"),
        _count("d_model", 16, 4096, 256, "of the model whose learning rate is drawn"),
        _count("warmup", 1, 20_000, 2000, "steps in which its learning rate rises"),
    ),
}


def field(station: str, name: str) -> Field:
    """A field of a station.

    Raises:
        KeyError: there is none.
    """
    return {each.name: each for each in STATIONS[station]}[name]
