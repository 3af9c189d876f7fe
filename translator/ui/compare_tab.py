"""The Compare tab: two sentences, models or decoding settings side by side."""

from __future__ import annotations

from typing import Any

import gradio as gr

from translator.errors import TranslatorError
from translator.ui import explorer, session
from translator.ui.message import answer
from translator.ui.models import Models
from translator.ui.translate_tab import METHODS, direction_name, ready_function

WHEN = "Sentences, directions and decoding take effect at the next press of Compare both."


def compare_tab(models: Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    with gr.Row(elem_id="compare-ask"):
        sides = [_side(name, models) for name in ("a", "b")]
        button = gr.Button("Compare both", variant="primary", elem_id="compare-run")
    gr.Markdown(WHEN, elem_classes="settings-note", elem_id="compare-note")
    view = explorer.compare_view(functions=[ready_function(models)])

    def run(*values: Any) -> str | None:
        half = len(values) // 2
        payloads = {}
        for seed, (name, side) in enumerate((("a", values[:half]), ("b", values[half:]))):
            try:
                payloads[name] = _payload(models, seed, *side)
            except TranslatorError as error:
                return answer({"error": str(error), "side": name})
        return answer(payloads)

    button.click(
        run,
        [*sides[0], *sides[1]],
        view,
        js="(...v) => window.AttentionExplorer.compared(...v)",
        trigger_mode="always_last",  # what was changed meanwhile is compared, too
        show_progress="hidden",
        api_visibility="private",
        preprocess=False,
    )


def _side(name: str, models: Models) -> list[gr.components.Component]:
    """One sentence with its direction and its decoding."""
    with gr.Column(elem_classes="compare-side"):
        text = gr.Textbox(
            lines=1, max_lines=3, elem_id=f"compare-{name}", label=f"Sentence {name.upper()}", container=False
        )
        with gr.Row():
            direction = gr.Radio(
                [(direction_name(each), each) for each in models.names],
                value=next(iter(models.names)),
                label="Direction",
                show_label=False,
                container=False,
                elem_id=f"compare-direction-{name}",
                elem_classes="segments",
            )
            method = gr.Radio(
                METHODS,
                value="automatic",
                label="Decoding",
                show_label=False,
                container=False,
                elem_id=f"compare-method-{name}",
                elem_classes="segments",
            )
    return [text, direction, method]


def _payload(models: Models, seed: int, text: Any, direction: Any, method: Any) -> dict[str, Any]:
    settings = {} if method == "automatic" else {"method": method}
    if method == "sample":  # two samples of one sentence are two
        settings["seed"] = seed
    trace = session.trace_of(models, text, direction, settings)
    return {**models.ask(direction, lambda model: session.payload_of(model, trace)), "direction": direction}
