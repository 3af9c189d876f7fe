"""Widening a trained model into one that computes the same function.

Sources: Chen, Goodfellow & Shlens 2016, "Net2Net"; Wang et al. 2023, "LEMON: Lossless model expansion", whose average
expansion goes through layer norms without loss.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.errors import InputError
from translator.model import Transformer

_WIDTHS = ("d_model", "d_ff", "encoder_heads", "decoder_heads")
_DEPTHS = ("encoder_layers", "decoder_layers")
_SAME = (*_DEPTHS, "embeddings", "scale_embeddings", "activation", "max_positions",
         "qkv_bias", "out_bias", "ff_bias", "output_bias", "norm_bias")  # fmt: skip


def wider(model: Transformer, narrow: Transformer) -> bool:
    """Whether `model` differs from `narrow` in what `widen` changes, but not in depth."""
    own, old = model.config, narrow.config
    same_depth = all(getattr(own, name) == getattr(old, name) for name in _DEPTHS)
    return same_depth and any(getattr(own, name) != getattr(old, name) for name in (*_WIDTHS, "positions"))


def widen(model: Transformer, narrow: Transformer) -> None:
    """Fill `model` with the weights of a narrower one, so that it computes the same function (but for `norm_eps`).

    The stream's new dimensions hold the mean of the old ones: a layer norm's mean stays, its deviation shrinks by a
    factor that its gain takes up, and they leave it as zeros. What reads them, and new units and heads, do so by random
    weights, which break the symmetry; nothing reads new units and heads yet. New heads look where old ones look.
    Positions must be learned: sinusoids of another width turn at other rates.

    Raises:
        InputError: the models differ in more than width and positions, are not pre-norm, or `model` is narrower.
    """
    _check(model.config, narrow.config)
    old, made = narrow.state_dict(), {}
    for name, value in model.state_dict().items():
        if name.endswith("_positions"):
            made[name] = _averaged(getattr(narrow, name), value.shape[1])
        else:
            made[name] = _filling(name, model.config, narrow.config)(old[name], value)
    model.load_state_dict(made)


def _check(own: ModelConfig, old: ModelConfig) -> None:
    for name in _WIDTHS:
        if getattr(own, name) < getattr(old, name):
            raise InputError(f"{name} cannot be widened from {getattr(old, name)} to {getattr(own, name)}")
    for name in _SAME:
        if getattr(own, name) != getattr(old, name):
            raise InputError(f"{name} is {getattr(own, name)!r} and was {getattr(old, name)!r}; widening keeps it")
    for side in (own, old):
        plain = side.norm == "pre" and side.norm_variant == "standard" and side.final_norm and not side.embedding_norm
        if not plain or side.decoder_d_ff is not None:
            raise InputError("only models that are pre-norm, with layers alike, can be widened")
    for heads in ("encoder_heads", "decoder_heads"):
        sizes = own.head_size(getattr(own, heads)), old.head_size(getattr(old, heads))
        if sizes[0] != sizes[1]:
            raise InputError(f"a head has {sizes[0]} dimensions and had {sizes[1]}; set {heads} or d_head")
    if own.positions != "learned" and own.d_model != old.d_model:
        raise InputError("positions must be 'learned' in a wider model: sinusoids of another width turn at other rates")
    if own.positions not in ("learned", old.positions):
        raise InputError(f"positions are {own.positions!r} and were {old.positions!r}; 'learned' can take them over")


def _filling(name: str, own: ModelConfig, old: ModelConfig) -> Callable[[Tensor, Tensor], Tensor]:
    """How the parameter `name` is made of the narrower model's and its own, which says the shape."""
    shrunk = (old.d_model / own.d_model) ** 0.5  # how much smaller the deviation over the stream is
    scaled = shrunk if own.scale_embeddings else 1.0  # what √d_model multiplies was made for a narrower one
    module, _, kind = name.rpartition(".")
    part = module.rpartition(".")[2]
    if "norm" in part:
        back = scaled if module == "decoder_norm" and own.embeddings != "separate" else 1.0  # the logits' scale
        return _gain(shrunk / back) if kind == "weight" else _shift(1 / back)
    if name == "output.bias":
        return lambda was, new: was
    if part in ("src_embedding", "tgt_embedding") or (part == "output" and own.embeddings != "separate"):
        return lambda was, new: _averaged(was, new.shape[1]) * scaled
    if part == "qkv":
        heads = old.encoder_heads if name.startswith("encoder") else old.decoder_heads
        return lambda was, new: _heads(was, new, heads, old.head_size(heads))
    if part in ("out", "down"):
        return _written if kind == "weight" else lambda was, new: _averaged(was, len(new))
    return _read


def _averaged(was: Tensor, width: int) -> Tensor:
    """`was` [..., D] with its mean over D in each new dimension."""
    mean = was.mean(-1, keepdim=True)
    return torch.cat([was, mean.expand(*was.shape[:-1], width - was.shape[-1])], -1)


def _gain(factor: float) -> Callable[[Tensor, Tensor], Tensor]:
    """A layer norm's gain, `factor` times as large; in new dimensions, where it meets zeros at first, the mean."""
    return lambda was, new: _averaged(was, len(new)) * factor


def _shift(factor: float) -> Callable[[Tensor, Tensor], Tensor]:
    """A layer norm's bias, `factor` times as large; 0 in new dimensions."""
    return lambda was, new: torch.cat([was * factor, was.new_zeros(len(new) - len(was))])


def _written(was: Tensor, new: Tensor) -> Tensor:
    """What writes into the stream, [D, units]: the mean into new dimensions, nothing from new units."""
    made = torch.zeros_like(new)
    made[:, : was.shape[1]] = _averaged(was.T, len(new)).T
    return made


def _read(was: Tensor, new: Tensor) -> Tensor:
    """What reads the stream, [units, D], or its bias [units]: by chance where units or dimensions are new."""
    if was.dim() == 1:
        return torch.cat([was, was.new_zeros(len(new) - len(was))])
    made = torch.randn_like(new) * was.std()
    made[: was.shape[0], : was.shape[1]] = was
    return made


def _heads(was: Tensor, new: Tensor, heads: int, size: int) -> Tensor:
    """Query, key and value, [3 · inner, D] or their bias: new heads have copied queries and keys, values by chance."""
    count = len(new) // (3 * size)
    parts = []
    for index, (part, wanted) in enumerate(zip(was.chunk(3), new.chunk(3), strict=True)):
        made = _read(part, wanted).unflatten(0, (count, size))
        if index < 2:
            made[heads:] = made[torch.arange(count - heads) % heads]
        parts.append(made.flatten(0, 1))
    return torch.cat(parts)
