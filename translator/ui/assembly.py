"""The page with the guard in front, as the ASGI application that a server of ours or another's runs."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio import queueing, routes

from translator.ui import frontend
from translator.ui.exchange import Exchange
from translator.ui.forwarded import Trust
from translator.ui.handlers import endpoints_of, events_of, functions_of
from translator.ui.limits import Doors
from translator.ui.middleware import Guard
from translator.ui.models import Models
from translator.ui.page import build, launch_settings
from translator.ui.tools import Tools

log = logging.getLogger(__name__)
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]
_MOUNTED = ("theme", "head", "footer_links", "ssr_mode", "run_history", "show_error", "enable_monitoring")
"""What of `launch_settings` Gradio takes where it runs no server of its own; the rest bounds calls, which it gets none
of."""
NO_DOCUMENTS: dict[str, Any] = dict.fromkeys(("docs_url", "redoc_url", "openapi_url"))
"""FastAPI's own pages, which are not served."""


def prepared(models: Models) -> gr.Blocks:
    """The page of `models`, whose queue rests since every call is the exchange's."""
    page = build(models)
    page.queue(api_open=False)
    _let_rest(page._queue)
    _keep_tracebacks_quiet()
    return page


def guarded(page: gr.Blocks, models: Models, trust: Trust, *, mcp: bool = False) -> Lifespan:
    """The lifespan of Gradio's application for `page` that puts the guard before all of it.

    Args:
        mcp: whether the Model Context Protocol is spoken.
    """
    events, endpoints, functions = events_of(page), endpoints_of(page), functions_of(page)
    doors = Doors(
        events={number: handler.fields for number, handler in events.items()},
        functions=functions.keys(),
        rpc=mcp,
        endpoints={name: handler.fields for name, handler in endpoints.items()},
    )

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        exchange = Exchange(models.gate, models.desk, models.readers)
        tools = Tools(exchange, endpoints) if mcp else None
        # Gradio adds its own middleware, open CORS among it, outside of any that it is given: stand before all.
        app.middleware_stack = Guard(
            app.middleware_stack
            or app.build_middleware_stack(),  # made by the first call, which a lifespan may precede
            doors,
            exchange,
            handlers=dict([*events.items(), *endpoints.items()]),
            functions=functions,
            tools=tools,
            page_headers=frontend.PAGE_HEADERS,
            trust=trust,
            published=models.published,
            packed={"/gradio_api/file=" + frontend.PLOTLY_JS.as_posix(): frontend.PLOTLY_PACKED},
        )
        async with tools.run() if tools else nullcontext():
            yield

    return lifespan


def mounted(models: Models, trust: Trust) -> FastAPI:
    """The page as an application that somebody else's server runs, its lifespan included."""
    page, settings = prepared(models), launch_settings(models)
    outer = FastAPI(**NO_DOCUMENTS)
    given = {name: settings[name] for name in _MOUNTED}
    inner = {"lifespan": guarded(page, models, trust), **NO_DOCUMENTS}
    gr.mount_gradio_app(outer, page, "/", app_kwargs=inner, **given)
    return outer


def guard_of(page: gr.Blocks) -> Guard:
    """The guard that stands before a running page.

    Raises:
        RuntimeError: there is none, since this version of Gradio is another than those known.
    """
    guard = page.app.middleware_stack
    if not isinstance(guard, Guard):
        raise RuntimeError("the guard does not stand before the page; this version of gradio is not supported")
    return guard


def trust_proxies(environ: Mapping[str, str] = os.environ) -> None:
    """X-Forwarded-For is believed only from $FORWARDED_ALLOW_IPS; inside a Space only its own proxy can call."""
    if "FORWARDED_ALLOW_IPS" not in environ:
        os.environ["FORWARDED_ALLOW_IPS"] = "*" if environ.get("SPACE_ID") else ""


def _let_rest(queue: queueing.Queue) -> None:
    """Gradio's queue looks a thousand times a second whether it has work; every call is the exchange's here."""
    queue.sleep_when_free = queue.progress_update_sleep_when_free = 3600


def _keep_tracebacks_quiet() -> None:
    """Gradio prints the traceback of every failed event, and in it what was typed; the log gets kind and place."""

    def log_kind() -> None:
        error, place = sys.exc_info()[1], sys.exc_info()[2]
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else "?"
        log.error("an event failed: %s at %s", type(error).__name__, where)

    for module in (queueing, routes):
        module.traceback = SimpleNamespace(print_exc=log_kind)  # type: ignore[attr-defined]
