"""Growing a trained shallow model into a deeper one (Gong et al. 2019; Wu et al. 2024, LLaMA Pro)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from translator.errors import InputError
from translator.model import Transformer

_LEAVING = ("attention.out", "cross.out", "feed_forward.down")
"""What writes into the residual stream: a layer whose writers are zero changes nothing."""


def grow(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Fill `model` with the `weights` of a shallower model, so that it computes the very same function.

    The layers of each stack are spread evenly over the deeper one; in between stand copies whose writers
    are zero. They add nothing until training moves them, and copied queries and keys attend at once.

    Raises:
        InputError: the models differ in more than depth, or a stack of `model` is shallower.
    """
    own = model.state_dict()
    sources = {}
    for stack in ("encoder", "decoder"):
        few, many = _depth(weights, stack), _depth(own, stack)
        if not 0 < few <= many:
            raise InputError(f"the {stack} cannot grow from {few} layers to {many}")
        sources[stack] = [i * few // many for i in range(many)]
    grown = {}
    for name, value in own.items():
        stack, _, rest = name.partition(".")
        zero = False
        old = name
        if stack in sources:
            number, _, inner = rest.partition(".")
            index = int(number)
            source = sources[stack][index]
            old = f"{stack}.{source}.{inner}"
            zero = index > 0 and sources[stack][index - 1] == source and inner.rpartition(".")[0] in _LEAVING
        if old not in weights or weights[old].shape != value.shape:
            raise InputError(f"{old} of the shallower model does not fit {name} {list(value.shape)}")
        grown[name] = torch.zeros_like(value) if zero else weights[old]
    model.load_state_dict(grown)


def _depth(weights: Mapping[str, Tensor], stack: str) -> int:
    return len({name.split(".")[1] for name in weights if name.startswith(f"{stack}.")})
