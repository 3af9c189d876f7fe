"""Lab: switch heads off, force and edit translations, and ask how far attention may be believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from translator.errors import InputError, TranslatorError
from translator.ui import explorer, session


def lab_tab(models: session.Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    explorer.lab_view(functions=server_functions(models))


def server_functions(models: session.Models) -> list[Callable[[dict], dict]]:
    """What the lab asks for: `lab_board`, `lab_switch` and `lab_ask`; each answers {"error": …} rather than fail.

    All run behind the page's gate, like a translation. A long run is a row of short requests, so that it
    shows how far it is and can be stopped between them.
    """

    def lab_board(request: dict) -> dict:
        return _run(request, lambda lab, *given: lab.board(*given[:2], str(request.get("kind")), given[2]))

    def lab_switch(request: dict) -> dict:
        return _run(request, lambda lab, *given: lab.switched(*given[:2], _mapping(request.get("gates")), given[2]))

    def lab_ask(request: dict) -> dict:
        asked = _mapping(request.get("options", {}))
        return _run(
            request, lambda lab, *given: lab.view(given[0], str(request.get("view")), given[1], asked, given[2])
        )

    def _run(request: dict, work: Callable[..., dict]) -> dict:
        from translator.ui import lab  # brings torch, which the page must not wait for

        text = session.checked_text(_mapping(request).get("text"))
        direction = request.get("direction", "")
        return models.gate.run(lambda stop: work(lab, models.get(direction), text, stop))

    return [_told(each) for each in (lab_board, lab_switch, lab_ask)]


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("the request must be names with values")
    return value


def _told(make: Callable[[dict], dict]) -> Callable[[dict], dict]:
    """`make`, with an error as an answer in words."""

    def answer(request: dict) -> dict:
        try:
            return make(_mapping(request))  # type: ignore[arg-type]
        except TranslatorError as error:
            return {"error": str(error)}

    answer.__name__ = make.__name__
    return answer
