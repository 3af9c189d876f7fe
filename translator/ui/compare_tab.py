"""Compare: two sentences, or two decodings, side by side."""

from __future__ import annotations

import gradio as gr

from translator.ui import session


def compare_tab(models: session.Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    gr.Markdown("", elem_id="compare")
