"""ZeroGPU: run on a Space's shared GPU with `spaces.GPU`; a no-op elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def here() -> bool:
    """Whether this is a ZeroGPU Space."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true") and find_spec("spaces") is not None


def marked(function: F) -> F:
    """`function` as `spaces.GPU` marks it where that package is; it has to be imported before PyTorch."""
    if find_spec("spaces") is None:
        return function
    import spaces

    found: F = spaces.GPU(function)
    return found
