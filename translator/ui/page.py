"""The page: header, tabs and shared state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from translator.ui import explorer, frontend
from translator.ui.about_tab import about_tab
from translator.ui.api import api
from translator.ui.compare_tab import compare_tab
from translator.ui.lab_tab import lab_tab
from translator.ui.lesson_tab import lesson_tab
from translator.ui.models import Models
from translator.ui.positions_tab import positions_tab
from translator.ui.translate_tab import SETTINGS, direction_radio, translate_tab

TITLE = "Attention Explorer"
TAGLINE = "What a translation model looks at"


def build(models: Models, *, examples: Path = frontend.EXAMPLES) -> gr.Blocks:
    """Assemble the page. A further tab is one more `with _tab(...)` line."""
    gr.set_static_paths([frontend.PLOTLY_JS, examples])
    page: gr.Blocks
    with gr.Blocks(title=TITLE, fill_width=True, analytics_enabled=False) as page:
        with gr.Row(elem_id="top"):
            gr.Markdown(f"# {TITLE}\n\n{TAGLINE}", elem_id="page-title")
            direction = direction_radio(tuple(models.names))
            explorer.chrome()
        with gr.Tabs(elem_id="tabs"):
            with _tab("explorer"):
                tab = translate_tab(models, direction, examples=examples)
            with _tab("compare"):
                compare_tab(models)
            with _tab("positions"):
                positions_tab(models)
            with _tab("lab"):
                lab_tab(models)
            with _tab("lesson"):
                lesson_tab(models)
            with _tab("about"):
                about_tab(models)
        api(models)
        opened = page.load(
            None, tab.inputs, tab.inputs, js="(...v) => window.AttentionExplorer.opened(...v)", api_visibility="private"
        )
        opened.then(None, None, None, js="() => window.AttentionExplorer.go()", api_visibility="private")
    return page


def _tab(name: str) -> gr.Tab:
    """A tab that tells the styles when it is shown (in some the direction at the top means nothing)."""
    tab = gr.Tab(name.capitalize(), id=f"{name}-tab", elem_id=f"{name}-tab")  # its button needs an id to point to
    tab.select(None, None, None, js=f"() => {{ document.body.dataset.tab = '{name}'; }}", api_visibility="private")
    return tab


def launch_settings(models: Models, *, examples: Path = frontend.EXAMPLES) -> dict[str, Any]:
    """What `launch` needs besides an address; theme and head belong to it in Gradio 6."""
    return {
        "theme": gr.themes.Base(font="sans-serif", font_mono="monospace"),  # our styles name fonts; its own are fetched
        "head": frontend.head(SETTINGS, tuple(models.names), examples, hub=tuple(models.hub.listed)),
        "footer_links": [],
        "ssr_mode": False,
        "run_history": False,
        "show_error": False,
        "enable_monitoring": False,
        "max_file_size": "1kb",
        "state_session_capacity": 200,
        "max_threads": 16,
        "strict_cors": True,
    }
