"""Start the page from the command line, checking arguments before heavy imports."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Sequence
from typing import Any

from translator.checkpoints.shelf import offered
from translator.errors import InputError
from translator.ui.lean import import_gradio
from translator.ui.shortlist import LOOPBACK, allowed
from translator.ui.workers import checked_workers, default_workers

HOST, PORT = "127.0.0.1", 7860
_HOST, _PORT = "GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT"


def start(
    named: Sequence[str] = (),
    *,
    transformers: Sequence[str] = (),
    memory: float | None = None,
    host: str | None = None,
    port: int | None = None,
    mcp: bool = False,
    workers: int | None = None,
    ray: str | None = None,
) -> None:
    """Build the page and serve it until it is told to end, with which the process ends.

    The models load behind the page, which says so where one is missing.

    Args:
        named: checkpoints to offer first: folders, names, or hub ids (owner/name@revision). None: $TRANSLATOR_MODELS.
        transformers: folders or hub ids of seq2seq models that `transformers` loads, offered before them.
        memory: GiB that models may take. None: $TRANSLATOR_MEMORY, or 2; if one is given, no larger model is loaded.
        host: address to listen on. None: $GRADIO_SERVER_NAME, or loopback.
        port: port to listen on. None: $GRADIO_SERVER_PORT, or 7860.
        mcp: whether the endpoints are tools of the Model Context Protocol too; so does $TRANSLATOR_MCP=1.
        workers: processes that share the port and the weights' memory. None: one for each core, where memory allows;
            one in all where visitors are of one address or fetch models, as on loopback, and where a GPU computes.
        ray: serve on Ray Serve, by up to `workers` replicas: "local" to start Ray here, or a cluster's address.
    Raises:
        InputError: the memory is no number of GiB, so many workers cannot run here, the address cannot be listened on,
            `mcp` does not go with `ray`, or $TRANSLATOR_HUB names a model that is not on the list.
        CheckpointError: something named is no checkpoint that a page may load.
        ModuleNotFoundError: a package of the extra `page` is missing.
    """
    gc.disable()  # until the page is up: among modules that all stay it took a quarter of the start
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # two requests at once beat one on two threads
    host, port = free_address(host or os.environ.get(_HOST) or HOST, port if port is not None else _asked_port())
    os.environ[_HOST], os.environ[_PORT] = host, str(port)  # Gradio reads them when it is imported
    if ray is not None:
        gc.enable()
        args = {"checkpoints": named or os.environ.get("TRANSLATOR_MODELS", "").split(), "transformers": transformers}
        _start_on_ray(ray, {**args, "memory": memory, "host": host}, port=port, mcp=mcp, replicas=workers)
        return
    room = room_of(memory)
    if workers is not None:
        workers = checked_workers(workers)
    elif alone(host):
        workers = 1
    import_gradio()
    from translator.ui.hub import Hub
    from translator.ui.models import DIRECTIONS, MEMORY, Models
    from translator.ui.serve import serve

    checkpoints = offered(named or os.environ.get("TRANSLATOR_MODELS", "").split(), DIRECTIONS, transformers)
    listed = [each for each in allowed(host, workers=workers) if each.name not in checkpoints]
    models = Models(checkpoints, memory=room or MEMORY, largest=room, hub=Hub(listed))
    if workers is None:
        workers = checked_workers(default_workers(models.memory))
    serve(
        models, workers=workers, mcp=mcp or os.environ.get("TRANSLATOR_MCP") == "1", server_name=host, server_port=port
    )


def _start_on_ray(address: str, args: dict[str, Any], *, port: int, mcp: bool, replicas: int | None) -> None:
    """`start` on Ray Serve; without a number as many replicas as there are cores here."""
    from translator.ui.fleet.run import serve_on_ray

    if mcp:
        raise InputError("--mcp does not go with --ray: a client's calls would come to several replicas")
    serve_on_ray(address, {**args, "replicas": (os.cpu_count() or 1) if replicas is None else replicas}, port=port)


def alone(host: str) -> bool:
    """Whether one process is to serve a page at `host` if no number is given.

    Raises:
        InputError: as `allowed`.
    """
    if host in LOOPBACK or allowed(host):  # all visitors come from one address, or may have models fetched
        return True
    from translator.checkpoints.store import choose_device  # brings torch, which a page of one process loads later

    return choose_device("auto").type != "cpu"


def room_of(memory: float | None) -> int | None:
    """Bytes that models may take, if somebody says so: `memory` in GiB, or $TRANSLATOR_MEMORY.

    Raises:
        InputError: it is no number of GiB.
    """
    said = os.environ.get("TRANSLATOR_MEMORY") if memory is None else memory
    if said in (None, ""):
        return None
    try:
        room = float(said)
    except ValueError:
        room = 0.0
    if not 0.01 <= room <= 10_000:
        raise InputError(f"the memory for models is {str(said)[:40]!r}; it must be GiB, such as 2 or 0.5")
    return int(room * 2**30)


def free_address(host: str, port: int) -> tuple[str, int]:
    """`host` and `port`, if a server can listen there at this moment.

    Raises:
        InputError: the port is no port or taken, or the host is not this machine's.
    """
    if not 1 <= port <= 65535:
        raise InputError(f"port is {port}; it must be from 1 to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name == "posix":  # as a server asks for it: a port whose last server has just gone is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"the page cannot listen on {host}, port {port}: {error}; name a free one: --host, --port"
        ) from error
    return host, port


def _asked_port() -> int:
    said = os.environ.get(_PORT) or str(PORT)
    if not said.isascii() or not said.isdigit():
        raise InputError(f"{_PORT} is {said!r:.40}; it must be a port, such as {PORT}")
    return int(said)
