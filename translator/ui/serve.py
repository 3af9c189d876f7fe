"""Build the page, put the guard in front, serve it, and shut down promptly."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
from importlib import import_module
from typing import Any, NoReturn

from translator.errors import TranslatorError, visible
from translator.ui import connections
from translator.ui.assembly import NO_DOCUMENTS, guard_of, guarded, prepared, trust_proxies
from translator.ui.forwarded import Trust
from translator.ui.heaps import keep_few_heaps, wait_tidily
from translator.ui.models import Models
from translator.ui.page import launch_settings
from translator.ui.quiet import bound_the_log
from translator.ui.tools import check_package
from translator.ui.workers import Channel, Workers, bound_socket, only_thread

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
        self.page = prepared(models)
        self._models = models
        trust_proxies()
        connections.raise_limit_of_files()
        connections.watch()
        self.page.launch(
            **launch_settings(models),
            **address,
            app_kwargs={
                "lifespan": guarded(self.page, models, Trust.of(host or address.get("server_name")), mcp=mcp),
                **NO_DOCUMENTS,
            },
            mcp_server=False,  # Gradio's own calls the page over the network, and asks a hub who it is
            prevent_thread_lock=True,
            quiet=True,
        )
        bound_the_log()
        try:
            self._guard = guard_of(self.page)
        except RuntimeError:
            self.page.close(verbose=False)
            raise

    @property
    def url(self) -> str:
        """Where the page is."""
        return str(self.page.local_url)

    def close(self) -> None:
        """Stop every translation and close every connection."""
        self._models.gate.close()
        self._models.desk.close()
        self._models.hub.close()
        self._guard.release()  # an open stream would be waited for
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
