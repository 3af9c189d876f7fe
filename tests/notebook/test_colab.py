"""In Colab the custom widget manager is enabled once, and each output says where it is; the module is a stand-in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from anywidget import _util

import translator
from translator.trace import Trace

ADDRESS = "https://example.org/manager"


@pytest.fixture
def enabled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Colab's module was asked for."""
    asked: list[str] = []
    module: Any = ModuleType("google.colab.output")
    module.enable_custom_widget_manager = lambda: asked.append("enabled")
    module._widgets = SimpleNamespace(_installed_url=ADDRESS)
    monkeypatch.setitem(sys.modules, "google.colab.output", module)
    _util.enable_custom_widget_manager_once.cache_clear()
    return asked


def test_two_widgets_enable_the_manager_once_and_name_it(make_trace: Callable[..., Trace], enabled: list[str]) -> None:
    first, second = (make_trace(seed) for seed in range(2))
    for widget in (translator.explore(first), translator.compare(first, second)):
        data, metadata = widget._repr_mimebundle_()
        view = "application/vnd.jupyter.widget-view+json"
        assert view in data and "image/svg+xml" in data
        assert metadata[view] == {"colab": {"custom_widget_manager": {"url": ADDRESS}}}
    assert enabled == ["enabled"]
