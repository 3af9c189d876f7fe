"""The actor that holds a model and does one shard at a time; `run` makes as many as there is room for."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from translator.cluster.records import Corpus, Records, Shard, open_records, read
from translator.cluster.work import Work
from translator.errors import InputError, TranslatorError

if TYPE_CHECKING:
    from translator.pipeline import Translator


@dataclass(frozen=True)
class Model:
    """What a worker loads: the name or folder of a checkpoint, whose weights must have this digest."""

    name: str
    revision: str | None
    sha256: str
    device: str
    threads: int


class Worker:
    """One actor. It never raises what a person caused: that comes back as a failure, in words."""

    def __init__(self, model: Model, corpus: Corpus, work: Work) -> None:
        self.model, self.corpus, self.work = model, corpus, work
        self.name = uuid4().hex  # of this process: an actor that is started anew is another

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Do each shard of a batch: columns of JSON in, columns of JSON out."""
        return {
            "part": [json.dumps(self.done(Shard(**json.loads(each))), ensure_ascii=False) for each in batch["shard"]]
        }

    def done(self, shard: Shard) -> dict[str, Any]:
        """The part that a shard came to, or the failure: its number, values and lines."""
        started, before = time.perf_counter(), time.process_time()
        try:
            rows = read(self.records, shard, self.corpus.path)
            part = self.work.part(self.translator, rows, shard.first)
        except (TranslatorError, OSError) as error:
            return {"number": shard.number, "failure": str(error)}
        told = {"worker": self.name, "seconds": time.perf_counter() - started, "cpu": time.process_time() - before}
        return {"number": shard.number, "values": {**part.values, **told}, "lines": part.lines}

    @cached_property
    def records(self) -> Records:
        """The file, opened once."""
        return open_records(self.corpus)

    @cached_property
    def translator(self) -> Translator:
        """The model, loaded once.

        Raises:
            InputError: it is another than the one that the work is for.
            CheckpointError: it cannot be loaded.
        """
        import torch

        from translator.pipeline import load

        torch.set_num_threads(self.model.threads)
        found = load(self.model.name, device=self.model.device, revision=self.model.revision)
        if found.bundle.info.sha256 != self.model.sha256:
            raise InputError(
                f"{self.model.name} has other weights on {os.uname().nodename}; give every machine the same checkpoint"
            )
        return found
