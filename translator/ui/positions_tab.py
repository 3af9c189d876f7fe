"""Positions: the encodings as a table, as curves and as similarities."""

from __future__ import annotations

import gradio as gr

from translator.ui import session


def positions_tab(models: session.Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    gr.Markdown("", elem_id="positions")
