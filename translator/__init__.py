"""Translation with our own Transformer, exposing every decoding step and every attention weight.

    import translator
    trace = translator.load("de-en").translate("Ich renne in den Park.")

What is named here is imported when it is first used, so that `import translator` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from translator.adapted import adapt
    from translator.config import DecodeConfig
    from translator.errors import BusyError, CancelledError, CheckpointError, InputError, TranslatorError
    from translator.pipeline import Translator, load
    from translator.trace import Step, Token, Trace

__version__ = "0.5.0"
__all__ = [
    "BusyError",
    "CancelledError",
    "CheckpointError",
    "DecodeConfig",
    "InputError",
    "Step",
    "Token",
    "Trace",
    "Translator",
    "TranslatorError",
    "__version__",
    "adapt",
    "compare",
    "explore",
    "head_view",
    "load",
    "model_view",
]

_HOME = {
    "translator.adapted": ("adapt",),
    "translator.config": ("DecodeConfig",),
    "translator.errors": ("BusyError", "CancelledError", "CheckpointError", "InputError", "TranslatorError"),
    "translator.notebook": ("compare", "explore", "head_view", "model_view"),
    "translator.pipeline": ("Translator", "load"),
    "translator.trace": ("Step", "Token", "Trace"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOME.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
