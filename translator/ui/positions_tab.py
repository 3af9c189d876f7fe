"""The Positions tab: sinusoidal, learned or a checkpoint's own encodings as table, curves and similarities."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError, TranslatorError
from translator.figures import positions
from translator.registry.field import CHARACTERS, Field, for_form
from translator.registry.positions import CURVES, CURVES_AT_MOST, DIMENSIONS, FIELDS, LAYOUT, POSITIONS, SAYS, TABLE
from translator.ui import explorer
from translator.ui.models import Models

if TYPE_CHECKING:
    from translator.pipeline import Translator


def positions_tab(models: Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    sources = [("sinusoidal", "sinusoidal"), *((f"the table of {name}", name) for name in models.names)]
    with gr.Column(elem_id="positions", elem_classes="tab-body"):
        gr.Markdown(SAYS)
        with gr.Row(elem_classes="controls"):
            source = gr.Radio(
                sources, value=TABLE.value, label=TABLE.label, elem_classes="segments", elem_id="position-table"
            )
            layout = gr.Radio(
                [(str(each), str(each)) for each in LAYOUT.choices],
                value=LAYOUT.value,
                label=LAYOUT.label,
                elem_classes="segments",
                elem_id="position-layout",
            )
        with gr.Row(elem_classes="controls"):
            length, depth = _slider(POSITIONS, "position-length"), _slider(DIMENSIONS, "position-depth")
            chosen = gr.Textbox(str(CURVES.value), label=CURVES.label, elem_id="position-curves", max_lines=1)
            gr.Markdown("What is changed here takes effect at once.", elem_classes="settings-note")
            link = gr.Button("Copy link", elem_id="position-link")
        first = _draw(models, *(each.value for each in FIELDS))
        with gr.Row(elem_classes="figures"):
            with gr.Column():
                gr.Markdown("## The table")
                heatmap = explorer.plotly_view(first[0], elem_id="position-heatmap")
            with gr.Column():
                gr.Markdown("## Chosen dimensions along the positions")
                curves = explorer.plotly_view(first[1], elem_id="position-lines")
            with gr.Column():
                gr.Markdown("## Similarity of positions, PE(p)·PE(q)")
                similarity = explorer.plotly_view(first[2], elem_id="position-similarity")
    inputs, outputs = [source, layout, length, depth, chosen], [heatmap, curves, similarity]

    js = "(...v) => window.AttentionExplorer.positionsLink(...v)"
    link.click(None, inputs, None, js=js, queue=False, api_visibility="private")

    def draw(*values: Any) -> list[str]:
        try:
            return models.gate.run(lambda stop: _draw(models, *values))
        except TranslatorError as error:
            return [explorer.refuse(str(error))] * 3

    events = [source.change, layout.change, length.change, depth.change, chosen.submit, chosen.blur]
    for event in events:
        event(
            draw,
            inputs,
            outputs,
            show_progress="hidden",
            api_visibility="private",
            preprocess=False,
            trigger_mode="always_last",
        )


def _slider(each: Field, place: str) -> gr.Slider:
    form = for_form(each)
    return gr.Slider(form["low"], form["high"], form["value"], step=form["step"], label=each.label, elem_id=place)


def _draw(models: Models, source: Any, layout: Any, length: Any, depth: Any, chosen: Any) -> list[str]:
    """The three figures of the table that was asked for."""
    rows, columns = _size(POSITIONS, length), _size(DIMENSIONS, depth)
    if source == TABLE.value:
        table = positions.sinusoidal(rows, columns + columns % 2, layout=layout)
    else:
        table = own_table(models, source)[:rows, :columns]
    try:
        curves = explorer.show(positions.positional_curves, table, _dimensions(chosen, table.shape[1]))
    except InputError as error:  # no other figure hangs on which curves were chosen
        curves = explorer.refuse(str(error))
    return [
        _heatmap(positions.positional_heatmap, table),
        curves,
        _heatmap(positions.similarity_matrix, table),
    ]


def _heatmap(draw: Callable[..., go.Figure], table: np.ndarray) -> str:
    """A heat map whose numbers travel in 32 bits, half of what they are: all of the page waits for its first ones."""

    def single(**options: Any) -> go.Figure:
        fig = draw(table, **options)
        return fig.update_traces(z=np.asarray(fig.data[0].z, dtype=np.float32))

    return explorer.show(single)


def own_table(models: Models, direction: str) -> np.ndarray:
    """What a checkpoint adds to the embeddings of its source tokens, [positions, d_model]."""

    def table(model: Translator) -> np.ndarray:
        return np.asarray(model.bundle.model.src_positions.detach().cpu())

    return models.ask(direction, table)


def _size(each: Field, value: Any) -> int:
    try:
        return int(each.read({each.name: value}))
    except InputError as error:
        raise InputError(f"the number of {error}") from None


def _dimensions(text: Any, width: int) -> list[int]:
    """The dimensions named in a text such as "5, 6, 10-12", counted from 0."""
    if not isinstance(text, str) or len(text) > CHARACTERS:
        raise InputError("name the dimensions of the curves like this: 5, 6, 10-12")
    found: list[int] = []
    for part in filter(None, re.split(r"[\s,;，、]+", text)):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        if match is None:
            raise InputError(f"{part[:20]!r} is no dimension; write them like this: 5, 6, 10-12")
        low, high = sorted((int(match[1]), int(match[2] or match[1])))
        found += range(low, high + 1)
    if not 1 <= len(found) <= CURVES_AT_MOST:
        raise InputError(f"{len(found)} curves were requested; only 1 to {CURVES_AT_MOST} can be told apart")
    if max(found) >= width:
        raise InputError(
            f"dimension {max(found)} is beyond the last one, {width - 1}; choose a smaller one or more dimensions"
        )
    return found
