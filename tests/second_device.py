"""A device called "second" that keeps its tensors in the CPU's memory and refuses what CUDA refuses.

Its tensors cannot be mixed with those of the CPU, nor be read by NumPy, so that code which forgets to move one fails
here as it would on a GPU. It is PyTorch's own way to write a device in Python; its arithmetic is the CPU's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration as backend

NAME = "second"
_aten = torch.ops.aten
_CROSSING = {_aten._to_copy, _aten.to, _aten.copy_}
"""What may read one device and write to another."""
_libraries: list[torch.library.Library] = []
"""What is registered lives as long as these."""


class SecondTensor(torch.Tensor):
    """A tensor of the second device; `inner` has its numbers."""

    inner: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: Tensor, requires_grad: bool = False) -> SecondTensor:
        with torch.inference_mode(False):  # PyTorch has no views of such tensors in inference mode
            return torch.Tensor._make_wrapper_subclass(
                cls, inner.size(), strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype,
                device=f"{NAME}:0", requires_grad=requires_grad,
            )  # fmt: skip

    def __init__(self, inner: Tensor, requires_grad: bool = False) -> None:
        self.inner = inner

    def tolist(self) -> Any:
        """As `Tensor.tolist`, which waits for a GPU but may be asked."""
        return self.inner.tolist()

    def __repr__(self) -> str:
        return f"{self.inner!r} on the second device"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """It is stored as a tensor of the CPU: there may be no second device where it is read."""
        return self.detach().inner.__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict[int, Any]) -> SecondTensor:
        copied = type(self)(self.detach().inner.clone()).requires_grad_(self.requires_grad)
        return memo.setdefault(id(self), copied)

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["inner"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: dict[str, Tensor], *_: Any) -> SecondTensor:
        return cls(inner["inner"])

    @classmethod
    def __torch_dispatch__(
        cls, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _run(op, args, kwargs or {})


def _run(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One of PyTorch's operators over what `inner` holds; its results are on the second device unless it says not."""
    if op.overloadpacket is _aten._has_compatible_shallow_copy_type:
        return isinstance(args[0], SecondTensor) == isinstance(args[1], SecondTensor)
    tensors = _tensors((args, kwargs))
    ours = {id(each.inner): each for each in tensors if isinstance(each, SecondTensor)}
    strangers = [each for each in tensors if not isinstance(each, SecondTensor) and each.dim()]
    if ours and strangers and op.overloadpacket not in _CROSSING:
        raise RuntimeError(f"{op}: expected all tensors to be on the same device, but found two, {NAME} and cpu")
    asked = kwargs.get("device")
    stays = asked is None or torch.device(asked).type == NAME
    if asked is not None and stays:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    found = op(*_mapped(_inner, args), **_mapped(_inner, kwargs))

    def outer(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if not stays:
            return value.clone() if id(value) in ours else value
        return ours[id(value)] if id(value) in ours else SecondTensor(value)

    return _mapped(outer, found)


def _tensors(value: Any) -> list[Tensor]:
    """The tensors of an operator's arguments, which are tuples, lists and dicts."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, tuple | list):
        return []
    return [tensor for each in value for tensor in _tensors(each)]


def _mapped(run: Callable[[Any], Any], value: Any) -> Any:
    """The same with `run` of each part in its place."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(_mapped(run, each) for each in value)
    if kind is dict:
        return {name: _mapped(run, each) for name, each in value.items()}
    return run(value)


def waits(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether CUDA would have to finish all that it was asked for before this operator gives its result."""
    tensors = [each for each in _tensors((args, kwargs)) if isinstance(each, SecondTensor)]
    leaves = "cpu" in str(kwargs.get("device")) or (op.overloadpacket is _aten.copy_ and args[0].is_cpu)
    by_mask = op.overloadpacket in (_aten.index, _aten.index_put_, _aten._index_put_impl_) and any(
        each is not None and each.dtype == torch.bool for each in args[1]
    )
    sizes = op.overloadpacket.__name__ in ("_local_scalar_dense", "item", "nonzero", "masked_select", "equal")
    return bool(tensors) and (leaves or by_mask or sizes)


def _inner(value: Any) -> Any:
    return value.inner if isinstance(value, SecondTensor) else value


def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    _inner(target).copy_(_inner(source))
    return target


class _Module(backend._DummyBackendModule):
    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


@cache
def second_device() -> torch.device:
    """The device, made known to PyTorch when it is first asked for."""
    backend._setup_privateuseone_for_python_backend(NAME, _Module())
    _libraries.append(torch.library.Library("_", "IMPL"))
    _libraries[-1].fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    _libraries.append(torch.library.Library("aten", "IMPL"))
    made: dict[str, Callable[..., Any]] = {
        "empty.memory_format": lambda *a, **k: _run(_aten.empty.memory_format, a, k),
        "empty_strided": lambda *a, **k: _run(_aten.empty_strided.default, a, k),
        "_copy_from": _copy_from,
    }
    for name, kernel in made.items():
        _libraries[-1].impl(name, kernel, "PrivateUse1")
    return torch.device(f"{NAME}:0")
