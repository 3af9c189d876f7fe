"""What an engine could not do because its device's memory ran out, done once more from the start on the CPU."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

import torch

from translator.decode import finish
from translator.engine import Engine, best
from translator.model import Transformer

_log = logging.getLogger(__name__)
R = TypeVar("R")
S = TypeVar("S")


class Spare:
    """An engine on the CPU for the model of another engine, made when it is first needed."""

    def __init__(self, engine: Engine) -> None:
        self._of = engine
        self._made: Engine | None = None
        self._lock = threading.Lock()

    def engine(self, name: str) -> Engine:
        """The engine, whose use is logged with the `name` of the checkpoint."""
        _log.warning("%s: the memory of %s ran out; once more on the CPU", name, self._of.device)
        if self._of.device.type == "cuda":
            torch.cuda.empty_cache()
        with self._lock:
            if self._made is None:
                model = Transformer(self._of.model.config)
                model.load_state_dict(self._of.model.state_dict())
                for buffer, table in self._of.model.named_buffers():  # sinusoids are no weights, but may be altered
                    model.get_buffer(buffer).copy_(table)
                self._made = best(model.eval().requires_grad_(False))
            return self._made


def retried(
    work: Callable[[Engine], Generator[S, None, R]], engine: Engine, spare: Callable[[], Engine]
) -> Generator[S, None, R]:
    """Work by `engine`; if its device's memory runs out, once more from the start by what `spare` gives."""
    try:
        return (yield from work(engine))
    except torch.OutOfMemoryError:
        pass  # only once this block is left does Python free what the failed work held
    return (yield from work(spare()))


def retry(work: Callable[[Engine], R], engine: Engine, spare: Callable[[], Engine]) -> R:
    """`work(engine)`, or by what `spare` gives: see `retried`."""

    def at_once(engine: Engine) -> Generator[None, None, R]:
        yield from ()
        return work(engine)

    return finish(retried(at_once, engine, spare))
