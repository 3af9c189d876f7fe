"""Checkpoints: a folder of verified files, or the same folder on the Hugging Face hub, as a `Bundle`.

What is named here is imported when it is first used, so that the command line's help needs no PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from translator.checkpoints.bundle import Bundle
    from translator.checkpoints.manifest import seal
    from translator.checkpoints.save import save_bundle
    from translator.checkpoints.store import load_bundle

__all__ = ["Bundle", "load_bundle", "save_bundle", "seal"]

_HOME = {"Bundle": "bundle", "load_bundle": "store", "save_bundle": "save", "seal": "manifest"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
