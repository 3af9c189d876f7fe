"""Linear layers, and their weights laid out for fast products on a CPU.

Decoding one sentence reads every weight of the decoder for every token: it is as fast as memory gives them. Weights
that were stored as halves are kept as halves, exactly, and widened in the processor: half the bytes (FBGEMM). Of
others one row is multiplied fastest by OpenBLAS, through NumPy, which reads a transposed matrix at the memory's own
speed; a few rows and many by oneDNN, from blocks. Eight-bit weights are a quarter of the bytes. All was measured
against what else PyTorch offers, see docs/performance.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, cached_property
from typing import ClassVar, Protocol, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.config import Weights
from translator.errors import InputError


class Product(Protocol):
    """Rows of a linear layer as they were when it was made, ready to multiply with."""

    BYTES: ClassVar[int]
    """Of all its layouts together, for each weight."""

    def one(self, x: np.ndarray) -> np.ndarray:
        """x [1, K] to [1, N]."""

    def many(self, x: Tensor) -> Tensor:
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
        return _kind(self.weight.detach(), self.precision or "fp32").BYTES * self.weight.numel()

    def forward(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N], as `torch.nn.Linear`."""
        return self.rows(x, 0, self.out_features)

    def rows(self, x: Tensor, first: int, last: int) -> Tensor:
        """What output rows `first` up to `last` give for x [..., K]: [..., last - first]."""
        if self.prepared:
            return self.product(first, last).many(x)
        if last - first == self.out_features:
            return F.linear(x, self.weight, self.bias)
        return F.linear(x, self.weight[first:last], None if self.bias is None else self.bias[first:last])

    def product(self, first: int, last: int) -> Product:
        """Rows `first` up to `last`, laid out when they are first asked for, and again if a weight has changed."""
        version = _version(self.weight) + _version(self.bias)
        made_at, product = self._products.get((first, last), (-1, None))
        if product is None or made_at != version:
            bias = None if self.bias is None else self.bias[first:last].detach()
            product = _lay_out(self.weight[first:last].detach(), bias, self.precision or "fp32")
            self._products[first, last] = version, product
        return product

    def __getstate__(self) -> dict:
        """Copies and pickles lay out their own."""
        return {**self.__dict__, "_products": {}}


def _version(parameter: Tensor | None) -> int:
    """How often it was changed; what was made in inference mode does not count."""
    return 0 if parameter is None or parameter.is_inference() else parameter._version


def _lay_out(weight: Tensor, bias: Tensor | None, precision: Weights) -> Product:
    return _kind(weight, precision)(weight, bias)


def _kind(weight: Tensor, precision: Weights) -> type[HalfProduct] | type[FloatProduct] | type[Int8Product]:
    """The fastest product of `precision`; halves only where they are the very same weights."""
    if precision == "int8":
        return Int8Product
    return HalfProduct if has_half_products() and torch.equal(weight.half().float(), weight) else FloatProduct


def _direct(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What an operator calls in the end: PyTorch's way there looks at every argument, which takes 8 microseconds."""
    return getattr(operator, "_op", operator)


class HalfProduct:
    """Float32 products with weights kept in 16 bits, which they must fit exactly."""

    BYTES: ClassVar = 2

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.packed = torch.ops.quantized.linear_prepack_fp16(weight, bias)
        self._product = _direct(torch.ops.quantized.linear_dynamic_fp16.default)

    def one(self, x: np.ndarray) -> np.ndarray:
        """x [1, K] to [1, N]."""
        return self.many(torch.from_numpy(x)).numpy()

    def many(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""
        return self._product(x, self.packed)


class FloatProduct:
    """Float32, in two layouts, each made when it is first needed."""

    BYTES: ClassVar = 4 + 4

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight, self.bias = weight, bias

    @cached_property
    def columns(self) -> np.ndarray:
        """The matrix [K, N]."""
        return np.ascontiguousarray(self.weight.numpy().T)

    @cached_property
    def blocks(self) -> Tensor:
        """The matrix [N, K] as oneDNN wants it for a batch of a few rows, which serves any other batch as well."""
        return torch.ops.mkldnn._reorder_linear_weight(self.weight, 16)

    @cached_property
    def shift(self) -> np.ndarray | None:
        """The bias [N]."""
        return None if self.bias is None else self.bias.numpy()

    def one(self, x: np.ndarray) -> np.ndarray:
        """x [1, K] to [1, N]."""
        out = np.dot(x, self.columns)
        if self.shift is not None:
            out += self.shift
        return out

    def many(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""
        if has_onednn():
            return torch.ops.mkldnn._linear_pointwise(x, self.blocks, self.bias, "none", [], "")
        return F.linear(x, self.weight, self.bias)


class Int8Product:
    """Eight-bit weights with a scale for each row; inputs are quantised as they come, by one scale for all of them."""

    BYTES: ClassVar = 1

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        scales = weight.abs().amax(1).clamp(min=1e-12).double() / 127
        zeros = torch.zeros(len(scales), dtype=torch.long)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # deprecated, but nothing else does a row in one call
            quantised = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(quantised, bias)
        self._product = _direct(torch.ops.quantized.linear_dynamic.default)

    def one(self, x: np.ndarray) -> np.ndarray:
        """x [1, K] to [1, N]."""
        return self.many(torch.from_numpy(x)).numpy()

    def many(self, x: Tensor) -> Tensor:
        """x [..., K] to [..., N]."""
        return self._product(x, self.packed, not has_vnni())


@cache
def has_vnni() -> bool:
    """Whether the processor adds up products of eight bits without overflow; others get inputs of seven bits."""
    return bool(getattr(torch.cpu, "_is_vnni_supported", lambda: False)())


@cache
def has_half_products() -> bool:
    """Whether FBGEMM's products with halves are to be had in this build of PyTorch, and right."""
    weight, x = torch.eye(16), torch.ones(2, 16)
    try:
        return torch.equal(HalfProduct(weight, None).many(x), x)
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

    Each layout costs the memory of the weights once more, from when it is first used. Does nothing elsewhere.

    Raises:
        InputError: eight-bit products are not to be had here.
    """
    if precision not in get_args(Weights):
        raise InputError(f"precision is {precision!r}; it must be one of {', '.join(get_args(Weights))}")
    named = {name: module for name, module in model.named_modules() if isinstance(module, Linear)}
    here = "x86" in torch.backends.quantized.supported_engines and all(layer.weight.is_cpu for layer in named.values())
    if precision == "int8" and not here:
        raise InputError("precision is 'int8', which this device or build of PyTorch lacks; use 'fp32'")
    for name, layer in named.items():  # queries and keys in eight bits would put twice the error into the maps
        layer.precision = "fp32" if name.endswith("qkv") else precision


def memory(model: nn.Module) -> int:
    """Bytes that a model holds once it has been used in every way: its weights, each once, and all their layouts."""
    own = sum(each.numel() * each.element_size() for each in (*model.parameters(), *model.buffers()))
    return own + sum(layer.laid_out for layer in model.modules() if isinstance(layer, Linear))
