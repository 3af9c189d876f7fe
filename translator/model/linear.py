"""Linear layers, and their weights laid out for fast products on a CPU.

A few rows are multiplied as fast as memory gives the weights. Those that were stored as halves are kept as halves,
exactly, and widened in the processor: half the bytes (FBGEMM). Others are multiplied by oneDNN, from blocks. All was
measured against what else PyTorch offers, see docs/performance.md. The decoder's steps over one source have layouts of
their own, among them bytes, see `translator.model.compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from importlib.util import find_spec
from typing import ClassVar, Protocol, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.config import Weights
from translator.errors import InputError

GROUP = 64
"""Inputs that share a scale where weights are bytes."""


class Product(Protocol):
    """Rows of a linear layer as they were when it was made, ready to multiply with."""

    BYTES: ClassVar[int]
    """Of all its layouts together, for each weight."""

    def __call__(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""


class Linear(nn.Linear):
    """`torch.nn.Linear`, of which some rows may be used alone; see `prepare` for what makes it fast."""

    precision: Weights | None = None

    def __init__(self, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__(inputs, outputs, bias)
        self._products: dict[tuple[int, int], tuple[int, Product]] = {}

    @property
    def _preparable(self) -> bool:
        return self.precision is not None and self.weight.is_cpu and self.weight.dtype == torch.float32

    @property
    def prepared(self) -> bool:
        """Whether weights laid out for the CPU are used here and now."""
        return self._preparable and torch.is_inference_mode_enabled()

    @property
    def laid_out(self) -> int:
        """Bytes of every layout that its weights may ever have, beside the weights themselves."""
        if not self._preparable:
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
        if self.prepared:
            return self.product(first, last)(x)
        if last - first == self.out_features:
            return F.linear(x, self.weight, self.bias)
        return F.linear(x, self.weight[first:last], None if self.bias is None else self.bias[first:last])

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

    def __getstate__(self) -> dict:
        """Copies and pickles lay out their own."""
        return {**self.__dict__, "_products": {}}


def version(parameter: Tensor | None) -> int:
    """How often it was changed; what was made in inference mode does not count."""
    return 0 if parameter is None or parameter.is_inference() else parameter._version


def _kind(weight: Tensor) -> type[HalfProduct] | type[FloatProduct]:
    """The fastest product; halves only where they are the very same weights."""
    return HalfProduct if has_half_products() and are_halves(weight) else FloatProduct


def are_halves(weight: Tensor) -> bool:
    """Whether 16 bits hold these very weights [...]."""
    return torch.equal(weight.half().float(), weight)


def _direct(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What an operator calls in the end: PyTorch's way there looks at every argument, which takes 8 microseconds."""
    return getattr(operator, "_op", operator)


class HalfProduct:
    """Float32 products with weights kept in 16 bits, which they must fit exactly."""

    BYTES: ClassVar = 2

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.packed = torch.ops.quantized.linear_prepack_fp16(weight, bias)
        self._product = _direct(torch.ops.quantized.linear_dynamic_fp16.default)

    def __call__(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""
        return self._product(x, self.packed)


class FloatProduct:
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


def in_whole_numbers(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Weights [N, K] rounded to whole numbers (int32) of some bits [N, K], and the scale [N, G] of G groups of inputs.

    A group is 64 inputs of an output, where these can be cut so. Rounding is to nearest, and 0 stays 0: no weight is
    off by more than half a step, and there are 2^(bits - 1) - 1 of them from 0 to the largest of its group.
    """
    largest, width = 2 ** (bits - 1) - 1, GROUP if weight.shape[1] % GROUP == 0 else weight.shape[1]
    groups = weight.view(len(weight), -1, width)
    scale = groups.abs().amax(2).clamp(min=1e-12) / largest
    steps = groups.to(torch.float64, copy=True).div_(scale[..., None])  # in place: an output layer may be large
    return steps.round_().clamp_(-largest, largest).to(torch.int32).view_as(weight), scale


def rounded(weight: Tensor) -> Tensor:
    """What bytes make of weights [N, K], as float32, to the nearest half."""
    whole, scale = in_whole_numbers(weight, 8)
    return (whole.float().view(*scale.shape, -1) * scale[..., None]).half().float().view_as(weight)


@cache
def has_half_products() -> bool:
    """Whether FBGEMM's products with halves are to be had in this build of PyTorch, and right."""
    weight, x = torch.eye(16), torch.ones(2, 16)
    try:
        return torch.equal(HalfProduct(weight, None)(x), x)
    except (AttributeError, NotImplementedError, RuntimeError):
        return False


@cache
def has_onednn() -> bool:
    """Whether oneDNN's products are to be had in this build of PyTorch, and right."""
    weight, x = torch.eye(16), torch.ones(2, 16)
    try:
        blocks = torch.ops.mkldnn._reorder_linear_weight(weight, 16)
        return torch.equal(torch.ops.mkldnn._linear_pointwise(x, blocks, None, "none", [], ""), x)
    except (AttributeError, NotImplementedError, RuntimeError):
        return False


def prepare(model: nn.Module, precision: Weights = "fp32") -> None:
    """Let every linear layer of a model on the CPU multiply by weights laid out for it, in inference mode.

    "int8" rounds the decoder's layers to bytes but for those that make queries, keys and values, and so the maps: three
    quarters of its weights. Each layout costs the memory of the weights once more, from when it is first used.
    Does nothing elsewhere.

    Raises:
        InputError: bytes are not to be had here.
    """
    if precision not in get_args(Weights):
        raise InputError(f"precision is {precision!r}; it must be one of {', '.join(get_args(Weights))}")
    named = {name: module for name, module in model.named_modules() if isinstance(module, Linear)}
    if precision == "int8" and not all(layer.weight.is_cpu for layer in named.values()):
        raise InputError("precision is 'int8', which is for the CPU; use 'fp32'")
    if precision == "int8" and find_spec("numba") is None:
        raise InputError("precision is 'int8', which needs one package more: pip install numba")
    for name, layer in named.items():
        in_decoder = name == "output" or name.startswith("decoder.")
        layer.precision = precision if in_decoder and not name.endswith(".qkv") else "fp32"
