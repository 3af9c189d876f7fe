"""The Explorer tab: text input, settings and the explorer."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from translator.registry.decoding import AUTOMATIC, CONTROLLED, Control, Setting, setting
from translator.ui import explorer, frontend, session
from translator.ui.asked import Asked, marked, told, whole_numbers
from translator.ui.foreign import foreign
from translator.ui.gate import pause
from translator.ui.hub_answers import hub_functions
from translator.ui.live.here import files_here
from translator.ui.message import answer, run_number
from translator.ui.models import Models
from translator.ui.offline import offline_page

METHODS = [(str(name), str(name)) for name in (AUTOMATIC, *setting("method").choices)]
"""How to decode; "automatic" is what the checkpoint says it is decoded best with."""
SETTINGS = ("method", *(each.name for each, _ in CONTROLLED))
DIRECTION_NAMES = {"en-zh": "English → 中文", "de-en": "Deutsch → English"}


@dataclass(frozen=True)
class TranslateTab:
    """What the page needs of this tab: the fields that a link fills, and the button that runs them."""

    inputs: list[gr.components.Component]


def direction_name(name: str) -> str:
    """What a direction, or any other checkpoint, is called on the page."""
    pair = re.fullmatch("([a-z]{2,3})-([a-z]{2,3})", name)
    return DIRECTION_NAMES.get(name, " → ".join(pair.groups()) if pair else name)


def direction_radio(directions: tuple[str, ...]) -> gr.Radio:
    """The checkpoints to choose from as segments; it stands in the page's header."""
    choices = [(direction_name(name), name) for name in directions]
    return gr.Radio(
        choices, value=directions[0], elem_id="direction", label="Direction", show_label=False, container=False
    )


def translate_tab(models: Models, direction: gr.Radio, *, examples: Path = frontend.EXAMPLES) -> TranslateTab:
    """Build the tab inside the present `gr.Blocks`."""
    first = next((each for each in frontend.examples() if each["direction"] == direction.value), None)
    with gr.Row(elem_id="ask"):
        text = gr.Textbox(
            first["text"] if first else "", lines=1, max_lines=3, elem_id="source-text", label="Sentence to translate",
            show_label=False, container=False, placeholder="",
        )  # fmt: skip
        button = gr.Button("Translate", variant="primary", elem_id="translate")
        stop = gr.Button("Stop", elem_id="stop")
        output = gr.Textbox(
            elem_id="translation", label="Translation", show_label=False, container=False, interactive=False,
            buttons=[], lines=1, max_lines=3,
        )  # fmt: skip
        copy = gr.Button("Copy", elem_id="copy")
    settings = _settings()
    message = {"kind": "empty", "text": EMPTY}
    if first and (examples / f"{first['id']}.json").is_file():
        message = {"kind": "example", "id": first["id"]}
    view = explorer.explorer(message, functions=[*server_functions(models), *hub_functions(models.hub)])
    inputs = [text, direction, *settings]
    run = _runner(models)
    options: dict[str, Any] = {
        "outputs": view,  # which writes the translation too: what Gradio has queued would come after a stop
        "show_progress": "hidden",
        "api_visibility": "private",
        "preprocess": False,  # every value is judged by `session`, whose refusals the page can read
    }
    run_number = gr.Number(visible=False)  # of the page's own count: by it the page knows the answers that it waits for
    running = button.click(
        run, [run_number, *inputs], js="(...v) => window.AttentionExplorer.asked(...v)", trigger_mode="multiple",
        **options,
    )  # fmt: skip
    copy.click(
        None, output, None, js="text => window.AttentionExplorer.copy(text)", queue=False, api_visibility="private"
    )
    stop.click(None, None, None, cancels=running, queue=False, api_visibility="private")
    return TranslateTab(inputs)


EMPTY = (
    "Type a sentence and press Translate: its translation, every decoding step and every attention weight appear here."
)


def _settings() -> list[gr.components.Component]:
    """The folded decoding controls, in the order of SETTINGS."""
    with gr.Row(elem_id="settings"):
        label = setting("method").label
        method = gr.Radio(METHODS, value=AUTOMATIC, label=label, elem_id="method", elem_classes="segments")
        return [method, *(_control(each, control) for each, control in CONTROLLED)]


def _control(each: Setting, control: Control) -> gr.components.Component:
    """How a setting is asked for, as the registry says."""
    look: dict[str, Any] = {"label": each.label, "elem_classes": f"for-{each.method}" if each.method else None}
    look["elem_id"] = f"setting-{each.name}"
    if control.kind == "text":  # an empty gr.Number would send 0
        return gr.Textbox(control.value, **look)
    if control.kind == "number":
        return gr.Number(control.value, precision=0, minimum=control.low, **look)
    return gr.Slider(control.low, control.high, control.value, step=control.step, **look)


def settings_of(values: tuple[Any, ...]) -> dict[str, Any]:
    """The controls' values as decoding settings; what is automatic, or not used by the method, is the checkpoint's."""
    method, *others = values
    settings = {} if method == AUTOMATIC else {"method": method}
    for (each, control), given in zip(CONTROLLED, others, strict=True):
        value = _decimal(given) if control.kind == "text" else given
        if value is not None and value != control.blank and each.method in (None, method):
            settings[each.name] = value
    return settings


def _decimal(value: Any) -> Any:
    """A number that was typed, with a point or a comma; None if nothing was; what is none is for others to refuse."""
    if not isinstance(value, str):
        return value
    try:
        return float(value.replace(",", ".")) if value.strip() else None
    except ValueError:
        return value


def _runner(models: Models) -> Callable[..., Generator[str | None, None, str | None]]:
    """The steps of a translation as they come, and then its answer."""

    def run(
        request: gr.Request, number: Any, text: str, direction: str, *values: Any
    ) -> Generator[str | None, None, str | None]:
        asked = session.translate_stream(models, text, direction, settings_of(values), session=request.session_hash)
        own = {"run": run_number(number)}
        for message in asked:
            if message["kind"] != "step":
                return answer({**message, **own})
            yield answer({**message, **own})
        return None

    return marked(run, tells_place=True)


def server_functions(models: Models) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """What the page asks for besides a translation; each answers {"error": …} rather than fail."""

    def trace(request: Asked) -> Any:
        asked = request.get("text"), request.get("direction", ""), request.get("settings", {})
        return session.trace_of(models, *asked, id_=request.get("id"), prefix=whole_numbers(request, "prefix"))

    def inspect(request: Asked) -> dict[str, Any]:
        text = session.checked_text(request.get("text"))
        return models.ask(
            request.get("direction", ""),
            lambda model: {
                **session.health(model, text),
                "split": session.split(model, text),
                **foreign([*models.names], model.languages[0], text),
            },
        )

    def exact(request: Asked) -> dict[str, Any]:
        found, direction = trace(request), request["direction"]
        payload = models.ask(direction, lambda model: session.payload_of(model, found, "f32"))
        return {**payload, "direction": direction, "prefix": whole_numbers(request, "prefix")}

    def resume(request: Asked) -> dict[str, Any]:
        """The translation that begins with the ids "prefix"."""
        found, prefix = trace(request), whole_numbers(request, "prefix")
        payload = models.ask(request["direction"], lambda model: session.payload_of(model, found))
        own = {"id": session.keep(models, found, prefix), "direction": request["direction"], "prefix": prefix}
        return {**payload, **own}

    def npz(request: Asked) -> dict[str, Any]:
        return _file(trace(request).to_bytes(pause=pause), "application/octet-stream")

    def offline(request: Asked) -> dict[str, Any]:
        return _file(offline_page(exact(request)).encode(), "text/html")

    def left_out(request: Asked) -> dict[str, Any]:
        from translator.ui import marks

        found, direction = trace(request), request["direction"]
        return models.gate.run(lambda stop: marks.marks(models.get(direction), found, stop))

    def alti(request: Asked) -> dict[str, Any]:
        from translator.ui import marks

        found, direction = trace(request), request["direction"]
        return models.gate.run(lambda stop: marks.contributions(models.get(direction), found, stop))

    def local(request: Asked) -> dict[str, Any]:
        direction = request.get("direction", "")
        return models.ask(direction, lambda model: files_here(models.published, direction, model, [*models.names]))

    asked = (marked(inspect, where="desk"), exact, resume, npz, offline, left_out, alti, local)
    return [ready_function(models), *map(told, asked)]


def ready_function(models: Models) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Whether a direction's model is there, and the languages of one that has many."""

    def ready(request: Asked) -> dict[str, Any]:
        direction = request.get("direction", "")
        languages = models.languages(direction)
        return {"state": models.state(direction), **({"languages": languages} if languages else {})}

    return told(marked(ready, where="at once"))


def _file(data: bytes, kind: str) -> dict[str, str]:
    return {"base64": base64.b64encode(data).decode("ascii"), "type": kind}
