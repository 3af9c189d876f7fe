"""The Lab tab: six questions about heads, words and the trustworthiness of attention."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from translator.trace import Trace
from translator.ui import explorer, session
from translator.ui.asked import Asked, mapping, marked, text, told
from translator.ui.gate import Stop
from translator.ui.models import Models

if TYPE_CHECKING:
    from translator.pipeline import Translator


def lab_tab(models: Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    explorer.lab_view(functions=server_functions(models))


def server_functions(models: Models) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """What the lab asks for: `lab_board`, `lab_switch`, `lab_ask`; each answers {"error": …} rather than fail.

    Each may have a "run", a name of its page's own making, by which `lab_stop` stops it and `lab_progress` says how
    far it is, {"done": …, "all": …}, where it knows.

    All run behind the page's gate, like a translation. A long run is a row of short requests, so that it
    shows how far it is and can be stopped between them; all of them read one translation, kept for a while by its
    "id". What runs a model brings torch, which the page must not wait for.
    """

    def lab_board(request: Asked) -> dict[str, Any]:
        from translator.ui import lab

        kind = str(request.get("kind"))
        return _run(request, lambda model, trace, stop: lab.board(model, trace, kind, stop))

    def lab_switch(request: Asked) -> dict[str, Any]:
        from translator.ui import lab

        gates = mapping(request.get("gates"))
        return _run(request, lambda model, trace, stop: lab.switched(model, trace, gates, stop))

    def lab_ask(request: Asked) -> dict[str, Any]:
        from translator.ui import lab_views

        asked, name = mapping(request.get("options", {})), str(request.get("view"))
        return _run(request, lambda model, trace, stop: lab_views.view(model, name, trace, asked, stop))

    def lab_stop(request: Asked) -> dict[str, Any]:
        models.gate.stop(text(request, "run"))
        return {}

    def lab_progress(request: Asked) -> dict[str, Any]:
        found = models.gate.progress(text(request, "run"))
        return {} if found is None else {"done": found[0], "all": found[1]}

    def _run(request: Asked, work: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        typed, direction = session.checked_text(request.get("text")), request.get("direction", "")

        def worked(stop: Stop) -> dict[str, Any]:
            model = models.get(direction)
            trace, id_ = _told(models, model, typed, request, stop)
            return {**work(model, trace, stop), "id": id_, "translation": trace.translation}

        return models.gate.run(worked, name=text(request, "run") or None)

    quick = (marked(each, where="at once") for each in (lab_stop, lab_progress))
    return [told(each) for each in (lab_board, lab_switch, lab_ask, *quick)]


def _told(models: Models, model: Translator, text: str, request: Asked, stop: Stop) -> tuple[Trace, object]:
    """The trace that all questions are about, and the id that it is kept under.

    It is the greedy translation of `text`, or the one whose ids the request names as its "target".
    """
    target, id_ = request.get("target"), request.get("id")
    key = (model.bundle.info.sha256, *model.languages, text, json.dumps(target) if target else "lab")
    kept = models.store.get(id_, key)
    if kept is not None:
        return kept, id_
    trace = model.force(text, target) if target else model.translate(text, method="greedy", stop=stop)
    return trace, models.store.put(key, trace)
