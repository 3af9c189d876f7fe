"""Import Gradio without what a served page has no use for, which is most of the time that it takes.

Gradio writes type stubs beside each of its components, for editors; and it imports the package of the Model Context
Protocol, where that is installed, for a server of its own (ours is `translator.ui.tools`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_STUBS, _WRITER = "gradio.component_meta", "create_or_modify_pyi"
_PROTOCOL = "mcp"


def import_gradio() -> None:
    """Import Gradio, so that whatever imports it afterwards finds it there."""
    with _without_protocol(), without_stubs():
        import gradio  # noqa: F401 - for those who come after


@contextmanager
def _without_protocol() -> Iterator[None]:
    if _PROTOCOL in sys.modules:
        yield
        return
    sys.modules[_PROTOCOL] = None  # type: ignore[assignment]  # must not be imported
    try:
        yield
    finally:
        del sys.modules[_PROTOCOL]


@contextmanager
def without_stubs() -> Iterator[None]:
    """Gradio writes no stubs if it is imported meanwhile."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds the one module that writes stubs, and has it loaded so that it writes none."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == _STUBS else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Unwriting(spec.loader)
        return spec


class _Unwriting(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if hasattr(module, _WRITER):
            setattr(module, _WRITER, lambda *_: None)
