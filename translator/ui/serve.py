"""Build the page, put the guard before it, serve it, and end at once when told to."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import queueing, routes
from gradio.utils import get_function_params

from translator.errors import InputError
from translator.ui import frontend
from translator.ui.heaps import keep_few_heaps, wait_tidily
from translator.ui.limits import Doors
from translator.ui.middleware import Guard, Readers
from translator.ui.models import Models
from translator.ui.page import build, launch_settings

log = logging.getLogger(__name__)
QUEUE = 32
PATIENCE = 1.0
"""Seconds that the port waits for the models; what takes longer loads behind the page, which says so."""
LOOK = 0.1
"""Seconds after which it is looked whether an event has begun."""


class Server:
    """A page that is being served; `close` ends it within seconds, whoever still listens."""

    def __init__(self, models: Models, *, mcp: bool = False, **address: Any) -> None:
        """Serve `models`; with `mcp` the endpoints are tools of the Model Context Protocol too, at /gradio_api/mcp/.

        Raises:
            InputError: `mcp` needs a package that is not there.
        """
        _check_mcp(mcp)
        _keep_no_statistics()
        self.page = build(models)
        self.page.queue(max_size=QUEUE, api_open=False)
        _free_what_never_began(self.page._queue)
        self._models = models
        _keep_tracebacks_quiet()
        _trust_proxies()
        self.page.launch(
            **launch_settings(models),
            **address,
            app_kwargs={
                "lifespan": _guarded(replace(doors(self.page), rpc=mcp), models.readers),
                **dict.fromkeys(("docs_url", "redoc_url", "openapi_url")),  # FastAPI's own
            },
            mcp_server=mcp,  # said either way: Gradio would ask an environment variable of its own
            prevent_thread_lock=True,
            quiet=True,
        )
        if not isinstance(self.page.app.middleware_stack, Guard):
            self.close()
            raise RuntimeError("the guard does not stand before the page; this version of gradio is not supported")

    @property
    def url(self) -> str:
        """Where the page is."""
        return str(self.page.local_url)

    def close(self) -> None:
        """Stop every translation and close every connection."""
        self._models.gate.close()
        guard = self.page.app.middleware_stack
        if isinstance(guard, Guard):
            guard.release()  # an open stream would be waited for
        self.page.close(verbose=False)


def serve(models: Models, *, mcp: bool = False, **address: Any) -> None:
    """Serve the page until SIGTERM or Ctrl-C, then end the process.

    The port opens with the models at hand, so that a first translation waits for nothing, unless they take long.

    Args:
        mcp: as in `Server`.
        address: `server_name` and `server_port`, as `gr.Blocks.launch` takes them.
    """
    keep_few_heaps()
    done = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: done.set())
    import_module("translator.pipeline")
    models.warm().join(PATIENCE)
    server = Server(models, mcp=mcp, **address)
    gc.freeze()
    gc.enable()
    print(f"The page is at {server.url}", flush=True)
    wait_tidily(done)
    server.close()
    sys.stdout.flush()
    os._exit(0)  # to take torch and gradio apart takes seconds, and nothing is left to be saved


def doors(page: gr.Blocks) -> Doors:
    """What of `page` may be called from outside: all else is refused before Gradio sees it."""
    events = {i: fn for i, fn in page.fns.items() if fn.fn is not None and fn.queue}
    functions = frozenset(
        (id_, name)
        for id_, block in page.blocks.items()
        for name, value in vars(block).items()
        if getattr(value, "_is_server_fn", False)
    )
    return Doors(
        events={i: len(fn.inputs) for i, fn in events.items()},
        functions=functions,
        endpoints={
            str(fn.api_name): {name: not has_default for name, has_default, *_ in get_function_params(fn.fn)}
            for fn in events.values()
            if fn.fn is not None and fn.api_name and fn.api_visibility == "public"
        },
    )


def _check_mcp(wanted: bool) -> None:
    if wanted and find_spec("mcp") is None:
        raise InputError("the Model Context Protocol needs one package more: pip install 'mcp>=1.21,<2'")


def _guarded(known: Doors, readers: Readers) -> Any:
    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        # Gradio adds its own middleware, open CORS among it, outside of any that it is given: stand before all.
        app.middleware_stack = Guard(app.middleware_stack, known, readers=readers, page_headers=frontend.PAGE_HEADERS)
        yield

    return lifespan


def _free_what_never_began(queue: queueing.Queue) -> None:
    """Gradio frees an event's slot where the event ends; one that is cancelled before its task begins has no end.

    A storm of Stop does that sooner or later, and once for each slot the page would answer nobody any more.
    """
    process = queue.process_events

    def watched(events: list[Any], *rest: Any) -> Coroutine[Any, Any, None]:
        begun = False

        async def run() -> None:
            nonlocal begun
            begun = True
            await process(events, *rest)

        def look() -> None:
            if inspect.getcoroutinestate(running) == inspect.CORO_CREATED:
                loop.call_later(LOOK, look)
            elif not begun:
                for event in events:
                    event.alive = False  # then it does nothing but free what it holds
                task = loop.create_task(process(events, *rest))
                queue._asyncio_tasks.add(task)
                task.add_done_callback(queue._asyncio_tasks.discard)

        running, loop = run(), asyncio.get_running_loop()
        loop.call_later(LOOK, look)
        return running

    queue.process_events = watched  # type: ignore[assignment,method-assign]


def _keep_no_statistics() -> None:
    """Gradio makes a table of the last 10,000 events after every one; nobody may read it here, and it takes time."""
    os.environ["GRADIO_ANALYTICS_MAX_EVENTS"] = "1"
    os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"] = str(2**31)


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


def _trust_proxies(environ: Mapping[str, str] = os.environ) -> None:
    """X-Forwarded-For is believed only from $FORWARDED_ALLOW_IPS; inside a Space only its own proxy can call."""
    if "FORWARDED_ALLOW_IPS" not in environ:
        os.environ["FORWARDED_ALLOW_IPS"] = "*" if environ.get("SPACE_ID") else ""
