"""How the compiled engine stores a model's weights: which layers belong together, and in how many bytes a weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from translator.engine.cpu.formats import GROUP, fits_float16
from translator.engine.cpu.linear import PackedLinear
from translator.model import Linear, Transformer

Rows = tuple[Linear, int, int]
"""A linear layer, and from which of its rows up to which."""


def nbytes(model: Transformer) -> int:
    """Bytes of all weights in the formats in which machine code reads them."""
    kinds = (*of_encoder(model).values(), *of_decoder(model).values())
    return sum(
        bytes_per_weight(kind) * layer.in_features * (last - first) for kind in kinds for layer, first, last in kind
    )


def _rows(layers: Iterable[Linear], first: int = 0, last: int | None = None) -> list[Rows]:
    return [(layer, first, last or layer.out_features) for layer in layers]


def of_encoder(model: Transformer) -> dict[str, list[Rows]]:
    """What reading a source multiplies with: of each kind the rows of every layer."""
    return {
        "qkv": _rows(layer.attention.qkv for layer in model.encoder),
        "out": _rows(layer.attention.out for layer in model.encoder),
        "up": _rows(layer.feed_forward.up for layer in model.encoder),
        "down": _rows(layer.feed_forward.down for layer in model.encoder),
    }


def of_step(model: Transformer) -> dict[str, list[Rows]]:
    """What a step multiplies with."""
    cross = [layer.cross for layer in model.decoder]
    return {
        "qkv": _rows(layer.attention.qkv for layer in model.decoder),
        "out": _rows(layer.attention.out for layer in model.decoder),
        "query": _rows((each.qkv for each in cross), last=cross[0].inner),
        "cross_out": _rows(each.out for each in cross),
        "up": _rows(layer.feed_forward.up for layer in model.decoder),
        "down": _rows(layer.feed_forward.down for layer in model.decoder),
        "output": _rows([model.output]),
    }


def of_decoder(model: Transformer) -> dict[str, list[Rows]]:
    """What a step multiplies with, and what makes the keys and values of a source, once."""
    cross = [layer.cross for layer in model.decoder]
    return {**of_step(model), "key_value": _rows((each.qkv for each in cross), first=cross[0].inner)}


def bytes_per_weight(kind: Sequence[Rows]) -> int:
    """How many bytes the kernel reads of each of these weights.

    One where int8 is wanted, two where float16 holds them exactly, else three: whole numbers of 24 bits, a scale to 64
    of them, are off by no more than float32's own rounding of the largest of these. Four where they cannot be cut so.
    """
    first = kind[0][0]
    if isinstance(first, PackedLinear) and first.precision == "int8":
        return 1
    if all(fits_float16(layer.weight.detach()) for layer, _, _ in kind):
        return 2
    return 3 if first.in_features % GROUP == 0 else 4
