"""`serve --ray`: the page on Ray Serve, started here or on a cluster that is joined, until it is told to end."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from contextlib import redirect_stdout
from typing import Any

from translator.cluster.run import LOCAL, Cluster, connected
from translator.ui.assembly import trust_proxies
from translator.ui.fleet.plan import Plan

NAME = "attention-explorer"
"""The application's name in the cluster."""


def serve_on_ray(address: str, args: dict[str, Any], *, port: int) -> None:
    """Serve the page by up to `args["replicas"]` replicas until SIGTERM or Ctrl-C.

    Args:
        address: "local" to start Ray here, else the address of a cluster.
        args: of `Plan`.
        port: where Serve's proxies listen, at `args["host"]`.
    Raises:
        InputError, CheckpointError: as `Plan`.
        TranslatorError: Ray cannot be started or joined, or the replicas do not start.
    """
    plan = Plan.of(args)  # whatever is wrong is said before Ray is started
    trust_proxies()  # before Ray starts: the proxies' process inherits it
    done = threading.Event()
    with connected(Cluster(address, workers=plan.replicas)):
        try:
            from ray import serve
        except ModuleNotFoundError as error:  # of the packages that only Ray Serve needs
            raise ModuleNotFoundError(str(error), name="ray") from error
        from translator.ui.fleet.replica import SILENT, application

        where = "HeadOnly" if address == LOCAL else "EveryNode"
        logging.getLogger("ray.serve").setLevel(logging.WARNING)
        with redirect_stdout(sys.stderr):
            serve.start(where, http_options={"host": plan.host, "port": port}, logging_config=SILENT)
        try:
            serve.run(application(args), name=NAME, route_prefix="/")
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: done.set())
            print(f"The page is at http://{plan.host}:{port}/, with up to {plan.replicas} replicas", flush=True)
            done.wait()
        finally:
            serve.delete(NAME)  # what runs ends first; a Ray that was started here ends after it
