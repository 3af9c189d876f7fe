"""Work on a Ray cluster: one that is started here and listens on loopback alone, or one that is joined."""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from typing import Any

from translator.cluster.parts import Parts
from translator.cluster.records import Corpus, Shard
from translator.cluster.work import Work
from translator.cluster.worker import Model, Worker
from translator.errors import InputError, TranslatorError

LOCAL = "local"
WINDOW = 2048
"""Shards that are given to Ray at once: it keeps a block of memory for each."""
IN_FLIGHT = 2
"""Shards that an actor has or waits for: with one it would idle between two, with more a lost one loses more."""
STARTS = 3
SHORT = 32
"""Characters of a temporary folder's path from which on Ray's sockets do not fit."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # it would report to its makers
    "RAY_enable_metrics_collection": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Cluster:
    """Where the work runs. `workers`: how many actors (None: as many as there is room for), of `threads` each."""

    address: str = LOCAL
    workers: int | None = None
    threads: int = 1
    device: str = "auto"


@contextmanager
def connected(cluster: Cluster) -> Iterator[None]:
    """Start Ray here, or join the cluster at an address; left again at the end.

    A cluster that is started here listens on loopback alone, asks for a secret that only this process and its workers
    know, has no dashboard, and keeps its files in a folder that goes with it.

    Raises:
        TranslatorError: no cluster answers there, none can be started, or Ray gave up what it did.
    """
    local = cluster.address == LOCAL
    for name, value in {**QUIET, **(_closed() if local else {})}.items():
        os.environ.setdefault(name, value)  # read when Ray is first imported
    import ray

    folder = _folder() if local else None
    options: dict[str, Any] = {"address": cluster.address, "log_to_driver": False, "logging_level": logging.ERROR}
    if local:
        cores = max(os.cpu_count() or 1, (cluster.workers or 1) * cluster.threads)
        options |= {"num_cpus": cores, "include_dashboard": False, "_temp_dir": folder}
    with redirect_stdout(sys.stderr):  # Ray prints what it notices, such as a lost machine, some of it as it ends
        try:
            _begin(options)
            for name in ("ray.data", "ray.data._internal"):
                logging.getLogger(name).setLevel(logging.ERROR)
            yield
        except ray.exceptions.RayError as error:
            raise TranslatorError(f"Ray gave up: {str(error).strip():.1000}") from error
        finally:
            ray.shutdown()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def _folder() -> str:
    """A new folder whose path is short enough for the sockets that Ray makes in it: they may have 107 bytes."""
    usual = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="ray", dir=usual if len(usual) < SHORT else "/tmp")  # noqa: S108 # nosec B108


def _begin(options: dict[str, Any]) -> None:
    """`ray.init`; a start is tried again, since Ray gives a machine 30 seconds, which a busy one may exceed.

    Raises:
        TranslatorError: it failed.
    """
    import ray

    local = options["address"] == LOCAL
    for left in reversed(range(STARTS if local else 1)):
        try:
            ray.init(**options)
            return
        except Exception as error:  # a bare one of Ray's among them
            ray.shutdown()
            if not left:
                what = "Ray cannot be started" if local else f"no Ray cluster answers at {options['address']}"
                raise TranslatorError(f"{what}: {str(error).strip():.1000}") from error


def _closed() -> dict[str, str]:
    """What keeps strangers out: the first is Ray's word for "listen on loopback", on any system."""
    secret = secrets.token_hex(32)
    return {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secret}


def work_through(
    cluster: Cluster, model: Model, corpus: Corpus, work: Work, shards: Sequence[Shard], parts: Parts, tell: Progress
) -> None:
    """Do every shard whose part is not whole, and write its part; Ray must be connected.

    What a lost machine had begun is done again elsewhere. Parts come in any order, and each is written once.

    Args:
        tell: is told how many records are done, and how many there are.
    Raises:
        InputError: a worker could not do its work; the message is the worker's.
    """
    todo = [shard for shard in shards if not parts.whole(shard)]
    total = sum(shard.rows for shard in shards)
    done = total - sum(shard.rows for shard in todo)
    tell(done, total)
    for first in range(0, len(todo), WINDOW):
        window = todo[first : first + WINDOW]
        waiting = {shard.number: shard for shard in window}
        for part in _parts(cluster, model, corpus, work, window):
            shard = waiting.pop(part["number"], None)
            if shard is None:
                continue  # done twice, since a machine was lost: the same work, whose part is there
            if "failure" in part:
                raise InputError(part["failure"])
            parts.write(shard, part["values"], part["lines"])
            done += shard.rows
            tell(done, total)
        if waiting:
            raise InputError(f"{len(waiting)} shards came to nothing, shard {min(waiting)} among them; run it again")


def _parts(
    cluster: Cluster, model: Model, corpus: Corpus, work: Work, shards: Sequence[Shard]
) -> Iterator[dict[str, Any]]:
    """What the actors make of the shards, as it comes: one block for each shard, one call for each block."""
    import ray
    from ray.data import ActorPoolStrategy, DataContext

    cpus, gpus = _resource("CPU"), _resource("GPU")
    on_gpu = model.device == "cuda"
    room = int(gpus) if on_gpu else int(cpus // cluster.threads)
    count = min(len(shards), cluster.workers or max(1, room))
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    rows = [{"shard": json.dumps(asdict(shard))} for shard in shards]
    found = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        Worker,
        batch_size=1,
        fn_constructor_args=(model, corpus, work),
        compute=ActorPoolStrategy(
            min_size=1, max_size=count, initial_size=count, max_tasks_in_flight_per_actor=IN_FLIGHT
        ),
        num_cpus=cluster.threads,
        num_gpus=1 if on_gpu else 0,
    )
    for row in found.iter_rows():
        yield json.loads(row["part"])


def _resource(name: str) -> float:
    """How much of a resource, such as "CPU", the machines of the cluster have."""
    import ray

    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return resources.get(name, 0.0)


def chosen_device(cluster: Cluster) -> str:
    """Where the actors' models run: on GPUs where the cluster has some, or as was asked; Ray must be connected.

    Raises:
        InputError: a GPU is asked for, and the cluster has none; or a device that there is not.
    """
    gpus = _resource("GPU")
    if cluster.device not in ("auto", "cpu", "cuda"):
        raise InputError(f"device is {cluster.device!r:.40}; with --ray it must be auto, cpu or cuda")
    if cluster.device == "cuda" and not gpus:
        raise InputError("device is 'cuda', but no machine of the Ray cluster has a GPU")
    return "cuda" if gpus and cluster.device != "cpu" else "cpu"
