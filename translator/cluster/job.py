"""One command's work on a cluster: its model, its parts, and the results in the order of the input."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translator.cluster.parts import Parts
from translator.cluster.records import Corpus, Shard, cut, digest_of
from translator.cluster.run import LOCAL, Cluster, chosen_device, connected, work_through
from translator.cluster.work import Work
from translator.cluster.worker import Model
from translator.errors import InputError
from translator.rules import whole

if TYPE_CHECKING:
    from translator.pipeline import Translator

MOST = 2**20
"""The largest number that `--workers` and `--shard` may be."""


@dataclass(frozen=True)
class Done:
    """Work whose every part is whole."""

    parts: Parts
    shards: Sequence[Shard]

    def values(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Of each part the number of its first record, from 0, and its values, in the order of the input."""
        return ((shard.first, self.parts.values(shard)) for shard in self.shards)

    def print_lines(self) -> None:
        """Print the output in the order of the input."""
        for text in self.parts.outputs(self.shards):
            sys.stdout.write(text)

    def seconds(self) -> float:
        """The time that the busiest worker took; what was done in an earlier run counts as it was then."""
        taken: dict[str, float] = defaultdict(float)
        for _, values in self.values():
            taken[values["worker"]] += values["seconds"]
        return max(taken.values())


@dataclass(frozen=True)
class Job:
    """A connected cluster and the model that it works with. `engine` is the caller's own copy of it, on the CPU."""

    args: argparse.Namespace
    cluster: Cluster
    model: Model
    engine: Translator
    folder: Path

    def run(
        self,
        command: str,
        path: Path,
        work: Work,
        columns: tuple[str, ...],
        *,
        place: str = "",
        limit: int | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Done:
        """Do `work` on a file, in parts below `place` of the folder; what is there already is not done again.

        Raises:
            InputError: the file cannot be read or a record is refused; or the folder holds other work.
        """
        if limit is not None:
            whole("limit", limit, 1, 2**62)
        size = whole("shard", self.args.shard or work.size, 1, MOST)
        corpus = Corpus(str(path.resolve()), columns)
        shards = cut(corpus, size, limit=limit, whole=work.whole, check=work.check)
        if not shards:
            raise InputError(f"{path} holds no record; there is nothing to do")
        plan: dict[str, Any] = {
            "command": command,
            "checkpoint": self.model.sha256,
            "input": digest_of(shards),
            "columns": columns,
        }
        plan |= {"shard": size, "limit": limit, "settings": settings or {}}
        ending = ".parquet" if path.suffix == ".parquet" and self.args.parts and command == "translate" else ".txt"
        with Parts(self.folder / place, plan, ending=ending) as parts:
            bar = Bar(command)
            work_through(self.cluster, self.model, corpus, work, shards, parts, bar.tell)
        return Done(parts, shards)


class Bar:
    """Records done, on standard error: as they are where a person looks on, once a minute and at the end elsewhere."""

    def __init__(self, name: str) -> None:
        self.name, self.told = name, time.monotonic()

    def tell(self, done: int, total: int) -> None:
        """Tell it, if it is time to."""
        looked_at, now = sys.stderr.isatty(), time.monotonic()
        if looked_at or done == total or now - self.told > 60:
            self.told = now
            end = "" if looked_at and done < total else "\n"
            print(f"{chr(13) if looked_at else ''}{self.name}: {done} of {total}", end=end, file=sys.stderr, flush=True)


@contextmanager
def job(args: argparse.Namespace, folder: Path) -> Iterator[Job]:
    """Load the model, connect the cluster that `--ray` names, and give both.

    Raises:
        InputError: a number or the address is none.
        CheckpointError: the model cannot be loaded.
        TranslatorError: no cluster answers.
    """
    import torch

    from translator.pipeline import load

    for name in ("workers", "threads"):
        if getattr(args, name) is not None:
            whole(name, getattr(args, name), 1, MOST)
    if args.ray not in (LOCAL, "auto") and ":" not in args.ray:
        raise InputError(f"--ray is {args.ray!r:.80}; give HOST:PORT, auto, or nothing to start Ray here")
    cluster = Cluster(args.ray, args.workers, args.threads or 1, args.device)
    torch.set_num_threads(cluster.threads)
    engine = load(args.model, device="cpu", revision=getattr(args, "revision", None))
    name = os.path.abspath(args.model) if Path(args.model).is_dir() else args.model
    model = Model(name, getattr(args, "revision", None), engine.bundle.info.sha256, "cpu", cluster.threads)
    with connected(cluster):
        yield Job(args, cluster, replace(model, device=chosen_device(cluster)), engine, folder)
