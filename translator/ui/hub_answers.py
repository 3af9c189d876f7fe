"""What the page asks of the hub's list: to see it, to have a model fetched, and to stop that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from translator.errors import InputError
from translator.ui.asked import Asked, marked, text, told
from translator.ui.hub import Hub


def hub_functions(hub: Hub) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """`hub_list`, `hub_fetch` and `hub_stop`, which answer at once; none where nothing may be fetched.

    A request has the model's "name", which must be on the list, and the "page" that asks, a name of its own making.
    """
    if not hub.listed:
        return []

    def hub_list(request: Asked) -> dict[str, Any]:
        return hub.told(looks=request.get("looks") is True)

    def hub_fetch(request: Asked) -> dict[str, Any]:
        hub.begin(request.get("name"), _page(request))
        return hub.told()

    def hub_stop(request: Asked) -> dict[str, Any]:
        hub.stop(request.get("name"), _page(request))
        return hub.told()

    return [told(marked(each, where="at once")) for each in (hub_list, hub_fetch, hub_stop)]


def _page(request: Asked) -> str:
    page = text(request, "page")
    if not 1 <= len(page) <= 64:
        raise InputError("page must be a name of 1 to 64 characters")
    return page
