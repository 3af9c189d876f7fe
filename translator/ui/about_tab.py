"""About: what this is, where its models and its ideas come from."""

from __future__ import annotations

import gradio as gr

from translator.ui import session


def about_tab(models: session.Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    gr.Markdown("", elem_id="about")
