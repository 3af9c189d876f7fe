"""Linear layers whose weights are laid out for fast products on a CPU.

A few rows are multiplied as fast as memory gives the weights. Those that were stored as float16 are kept as float16,
exactly, and widened in the processor: half the bytes (FBGEMM). Others are multiplied by oneDNN, from blocks. All was
measured against what else PyTorch offers, see docs/engine.md. The decoder's steps over one source have layouts of
their own, among them int8, see `translator.engine.cpu.compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.config import Weights
from translator.engine.cpu.formats import fits_float16, rounded
from translator.model import Linear


class Product(Protocol):
    """Rows of a linear layer as they were when it was made, ready to multiply with."""

    BYTES: ClassVar[int]
    """Of all its layouts together, for each weight."""

    def __call__(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""


class PackedLinear(Linear):
    """A linear layer that multiplies by weights laid out for the CPU, in inference mode; elsewhere as any other.

    Each layout costs the memory of the weights once more, from when it is first used.
    """

    precision: Weights
    _products: dict[tuple[int, int], tuple[int, Product]]

    @classmethod
    def of(cls, layer: Linear, precision: Weights = "fp32") -> PackedLinear:
        """A layer with the parameters of another one, which it shares."""
        made = cls.__new__(cls)
        made.__dict__.update(layer.__dict__, _parameters=dict(layer._parameters), precision=precision, _products={})
        return made

    @property
    def _packable(self) -> bool:
        return self.weight.is_cpu and self.weight.dtype == torch.float32

    @property
    def packed_nbytes(self) -> int:
        """Bytes of every layout that its weights may ever have, beside the weights themselves."""
        if not self._packable:
            return 0
        return _kind(self._multiplied(self.weight.detach())).BYTES * self.weight.numel()

    def _multiplied(self, weight: Tensor) -> Tensor:
        """Some rows [N, K] of the weights as products take them."""
        return rounded(weight) if self.precision == "int8" else weight

    def forward(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N], as `torch.nn.Linear`."""
        return self.rows(x, 0, self.out_features)

    def rows(self, x: Tensor, first: int, last: int) -> Tensor:
        """What output rows `first` up to `last` give for x [..., K]: [..., last - first]."""
        if self._packable and torch.is_inference_mode_enabled():
            return self.product(first, last)(x)
        return super().rows(x, first, last)

    def product(self, first: int, last: int) -> Product:
        """Rows `first` up to `last`, laid out when they are first asked for, and again if a weight has changed."""
        now = version(self.weight) + version(self.bias)
        made_at, product = self._products.get((first, last), (-1, None))
        if product is None or made_at != now:
            bias = None if self.bias is None else self.bias[first:last].detach()
            weight = self._multiplied(self.weight[first:last].detach())
            product = _kind(weight)(weight, bias)
            self._products[first, last] = now, product
        return product

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles lay out their own."""
        return {**self.__dict__, "_products": {}}


def pack(model: nn.Module, precision: Weights = "fp32") -> None:
    """Replace every linear layer below `model` by a `PackedLinear` with the same parameters, in place.

    "int8" rounds the decoder's layers to bytes but for those that make queries, keys and values, and so the maps: three
    quarters of its weights.
    """
    for name, layer in list(model.named_modules()):
        if name and isinstance(layer, Linear):
            in_decoder = name == "output" or name.startswith("decoder.")
            model.set_submodule(
                name, PackedLinear.of(layer, precision if in_decoder and not name.endswith(".qkv") else "fp32")
            )


def version(parameter: Tensor | None) -> int:
    """How often it was changed; what was made in inference mode does not count."""
    return 0 if parameter is None or parameter.is_inference() else parameter._version


def _kind(weight: Tensor) -> type[Float16Product] | type[Float32Product]:
    """The fastest product; float16 only where it holds the very same weights."""
    return Float16Product if has_fbgemm() and fits_float16(weight) else Float32Product


def _direct(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What an operator calls in the end: PyTorch's way there looks at every argument, which takes 8 microseconds."""
    return getattr(operator, "_op", operator)


class Float16Product:
    """Float32 products with weights kept in 16 bits, which they must fit exactly."""

    BYTES: ClassVar = 2

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.packed = torch.ops.quantized.linear_prepack_fp16(weight, bias)
        self._product = _direct(torch.ops.quantized.linear_dynamic_fp16.default)

    def __call__(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""
        return self._product(x, self.packed)


class Float32Product:
    """Float32, in blocks that are made when they are first needed."""

    BYTES: ClassVar = 4

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight, self.bias = weight, bias

    @cached_property
    def blocks(self) -> Tensor:
        """The matrix [N, K] as oneDNN wants it for a batch of a few rows, which serves any other batch as well."""
        return torch.ops.mkldnn._reorder_linear_weight(self.weight, 16)

    def __call__(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""
        if has_onednn():
            return torch.ops.mkldnn._linear_pointwise(x, self.blocks, self.bias, "none", [], "")
        return F.linear(x, self.weight, self.bias)


@cache
def has_fbgemm() -> bool:
    """Whether FBGEMM's products with float16 are in this build of PyTorch, and correct."""
    weight, x = torch.eye(16), torch.ones(2, 16)
    try:
        return torch.equal(Float16Product(weight, None)(x), x)
    except (AttributeError, NotImplementedError, RuntimeError):
        return False


@cache
def has_onednn() -> bool:
    """Whether oneDNN's products are in this build of PyTorch, and correct."""
    weight, x = torch.eye(16), torch.ones(2, 16)
    try:
        blocks = torch.ops.mkldnn._reorder_linear_weight(weight, 16)
        return torch.equal(torch.ops.mkldnn._linear_pointwise(x, blocks, None, "none", [], ""), x)
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
