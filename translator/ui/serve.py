"""Build the page, put the guard in front, serve it, and shut down promptly."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import gradio as gr
from gradio import queueing, routes

from translator.errors import TranslatorError, visible
from translator.ui import connections, frontend
from translator.ui.exchange import Exchange
from translator.ui.forwarded import Trust
from translator.ui.handlers import endpoints_of, events_of, functions_of
from translator.ui.heaps import keep_few_heaps, wait_tidily
from translator.ui.limits import Doors
from translator.ui.middleware import Guard
from translator.ui.models import Models
from translator.ui.page import build, launch_settings
from translator.ui.quiet import bound_the_log
from translator.ui.tools import Tools, check_package
from translator.ui.workers import Channel, Workers, bound_socket, only_thread

log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
PATIENCE = 1.0
"""Seconds that the port waits for the models; what takes longer loads behind the page, which says so."""


class Server:
    """A page that is being served; `close` ends it within seconds, whoever still listens."""

    def __init__(self, models: Models, *, mcp: bool = False, host: str | None = None, **address: Any) -> None:
        """Serve `models`; with `mcp` the endpoints are tools of the Model Context Protocol too, at /gradio_api/mcp/.

        Args:
            host: where visitors' connections come in, if that is not at the `server_name` of `address`.
        Raises:
            InputError: `mcp` needs a package that is not there.
        """
        if mcp:
            check_package()
        self.page = build(models)
        self.page.queue(api_open=False)
        _let_rest(self.page._queue)
        self._models = models
        _keep_tracebacks_quiet()
        _trust_proxies()
        connections.raise_limit_of_files()
        connections.watch()
        self.page.launch(
            **launch_settings(models),
            **address,
            app_kwargs={
                "lifespan": _guarded(self.page, models, Trust.of(host or address.get("server_name")), mcp=mcp),
                **dict.fromkeys(("docs_url", "redoc_url", "openapi_url")),  # FastAPI's own
            },
            mcp_server=False,  # Gradio's own calls the page over the network, and asks a hub who it is
            prevent_thread_lock=True,
            quiet=True,
        )
        bound_the_log()
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
        self._models.desk.close()
        self._models.hub.close()
        guard = self.page.app.middleware_stack
        if isinstance(guard, Guard):
            guard.release()  # an open stream would be waited for
        self.page.close(verbose=False)


def serve(models: Models, *, mcp: bool = False, workers: int = 1, **address: Any) -> None:
    """Serve the page until SIGTERM or Ctrl-C, then end the process.

    The port opens with the models at hand, so that a first translation waits for nothing, unless they take long.

    Args:
        mcp: as in `Server`.
        workers: processes that share the port; with more than one the port waits for the models however long they take.
        address: `server_name` and `server_port`, as `gr.Blocks.launch` takes them.
    """
    keep_few_heaps()
    if workers > 1:
        _serve_by(workers, models, mcp=mcp, host=address["server_name"], port=address["server_port"])
    done = _told_to_end()
    import_module("translator.pipeline")
    models.warm().join(PATIENCE)
    try:
        server = Server(models, mcp=mcp, **address)
    except (TranslatorError, OSError) as error:
        _give_up(error)
    gc.freeze()
    gc.enable()
    print(f"The page is at {server.url}", flush=True)
    _stay(server, done)


def _serve_by(workers: int, models: Models, *, mcp: bool, host: str, port: int) -> NoReturn:
    """Load the models, fork `workers` that share their memory, and end as they do."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads would not outlive the fork
    import_module("translator.pipeline")
    connections.raise_limit_of_files()

    def work(channel: Channel) -> NoReturn:
        done = _told_to_end()
        server = Server(models, mcp=mcp, host=host, server_name=LOOPBACK, server_port=_free_port())
        gc.enable()

        def take() -> None:
            channel.each(lambda connection: connections.adopt(server.page.server, connection))
            done.set()  # the parent is gone

        threading.Thread(target=take, daemon=True).start()
        channel.ready()
        _stay(server, done)

    try:
        if mcp:
            check_package()
        listener = bound_socket(host, port)
        models.settle()
        only_thread()
    except (TranslatorError, OSError) as error:
        _give_up(error)
    gc.collect()
    gc.freeze()
    shown = f"http://{'localhost' if host == '0.0.0.0' else host}:{port}/"  # noqa: S104 # nosec B104 a comparison
    code = Workers(listener, workers, work).run(
        lambda: print(f"The page is at {shown}, with {workers} workers", flush=True)
    )
    sys.stdout.flush()
    os._exit(code)


def _told_to_end() -> threading.Event:
    """Set by SIGTERM and Ctrl-C."""
    done = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: done.set())
    return done


def _stay(server: Server, done: threading.Event) -> NoReturn:
    wait_tidily(done)
    server.close()
    sys.stdout.flush()
    os._exit(0)  # to take torch and gradio apart takes seconds, and nothing is left to be saved


def _give_up(error: Exception) -> NoReturn:
    print(f"translator: {visible(str(error))}", file=sys.stderr, flush=True)
    os._exit(2)  # threads of the models' still run, and an ordinary end would abort among them


def _free_port() -> int:
    """A port of loopback, at which Gradio looks for itself when it starts."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _guarded(page: gr.Blocks, models: Models, trust: Trust, *, mcp: bool) -> Any:
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
            app.middleware_stack,
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


def _trust_proxies(environ: Mapping[str, str] = os.environ) -> None:
    """X-Forwarded-For is believed only from $FORWARDED_ALLOW_IPS; inside a Space only its own proxy can call."""
    if "FORWARDED_ALLOW_IPS" not in environ:
        os.environ["FORWARDED_ALLOW_IPS"] = "*" if environ.get("SPACE_ID") else ""
