"""The checkpoints behind the page: offered by name, loaded on demand, evicted least recently used first."""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from translator.checkpoints.shelf import TRANSFORMERS, offered, pinned
from translator.errors import CancelledError, CheckpointError, InputError, TranslatorError
from translator.trace import LiveStep, Trace
from translator.ui import zero
from translator.ui.direction import Direction
from translator.ui.gate import Gate, Stop
from translator.ui.hub import Hub
from translator.ui.live.published import Published
from translator.ui.readers import Readers
from translator.ui.shortlist import Listed
from translator.ui.store import TraceStore

if TYPE_CHECKING:
    from translator.pipeline import Translator
    from translator.text import Encoding

log = logging.getLogger(__name__)
R = TypeVar("R")
DIRECTIONS = ("de-en", "en-zh")
"""What the page offers even where the checkpoint is missing, and then says so. The first opens where the browser's
language is on neither side, and for English, which is on both."""
MEMORY = 2 * 2**30
"""Bytes that the models held may come to, their weights as laid out for the processor included; a
request that still translates with one that was let go keeps it until it is done."""
FORGIVEN = 60.0
"""Seconds for which a checkpoint that could not be loaded is not tried again: a hub may be out of reach for a while."""


class Models:
    """Checkpoints by the names that the page shows; each is loaded once, and again after it was let go.

    `gate` lets few requests run them at once, `desk` those that take milliseconds; `store` keeps recent traces for
    exports; `readers` knows which sessions listen; `published` has what browsers compute with themselves.
    """

    def __init__(
        self,
        names: Mapping[str, str | Path] | None = None,
        *,
        device: str = "auto",
        memory: int = MEMORY,
        largest: int | None = None,
        hub: Hub | None = None,
    ) -> None:
        """Offer `names` (shown name → what `load` takes, a hub id with its "@revision"), or all that are there.

        Args:
            memory: bytes that models may take (`Translator.memory`); one model is held however large it is.
            largest: bytes that one model may take; None: any number.
            hub: models that are offered too, once a visitor has had them fetched.
        """
        self.gate, self.store, self.readers = Gate(), TraceStore(), Readers()
        self.desk = Gate(workers=1)
        self.published = Published()
        self.hub = hub or Hub()
        own: dict[str, str | Path | Listed] = dict(names or offered(shipped=DIRECTIONS))
        self.names = {**own, **{name: each for name, each in self.hub.listed.items() if name not in own}}
        self.device = "cpu" if zero.here() else device  # there only what is marked may touch a GPU
        self.memory, self.largest = memory, largest
        self._marked = zero.marked(self._decoded)
        self._loaded: OrderedDict[str, Translator] = OrderedDict()  # the least recently used first
        self._failed: dict[str, tuple[TranslatorError, float]] = {}  # why, and until when
        self._compiles = False
        self._lock = threading.Lock()
        self._locks = {name: threading.Lock() for name in self.names}

    @property
    def held(self) -> dict[str, int]:
        """Bytes of the models that are held now, by name, the least recently used first."""
        with self._lock:
            return {name: model.memory for name, model in self._loaded.items()}

    def warm(self) -> threading.Thread:
        """Start loading behind the page's back, up to half of the memory, and try each model once.

        A first translation lays out the weights and, for Chinese, reads a dictionary: half a second. From now on what
        is loaded is compiled as well, beside all else.
        """
        self._compiles = True

        def load() -> None:
            for name, what in self.names.items():
                if isinstance(what, Listed):
                    continue  # it may take more room than all others, and it was not chosen yet
                if sum(self.held.values()) <= self.memory / 2:
                    try:
                        self._try(name)
                    except Exception:  # a defect that one checkpoint meets must not keep the others waiting
                        log.exception("%s could not be warmed", name)

        thread = threading.Thread(target=load, daemon=True)
        thread.start()
        return thread

    def settle(self) -> None:
        """`warm` to its end, machine code included, so that no thread runs and this process may be forked.

        Raises:
            InputError: a model is on a GPU, which no two processes can share so.
        """
        self.warm().join()
        for name, model in self._loaded.items():
            if model.device.type != "cpu":
                raise InputError(f"{name} is on {model.device}, which workers cannot share; serve it with one worker")
            model.compile(wait=True)

    def _try(self, name: str) -> None:
        found = self._load(name)
        if not isinstance(found, TranslatorError):
            with suppress(TranslatorError):  # an odd vocabulary may lack every word of it
                found.translate("Hello", max_length=2)

    def get(self, direction: str) -> Translator:
        """The model of a direction; waits while it loads, so it is asked for in a worker (or see `ask`).

        Raises:
            InputError: there is no such direction, or the checkpoint does not know its languages.
            CheckpointError: its checkpoint cannot be used.
        """
        asked = self._asked(direction)
        found = self._load(asked.name)
        if isinstance(found, TranslatorError):
            raise CheckpointError(f"{asked.name} is not available here: {found}") from found
        return asked.of(found)

    def state(self, direction: object) -> str:
        """What becomes of it, at once: "ready", "loading", "" if it was not asked for yet, or why it is refused."""
        try:
            asked = self._asked(direction)
            failure = self._failure(asked.name)
            if failure is not None:
                return f"{asked.name} is not available here: {failure}"
            model = self._loaded.get(asked.name)
            if model is not None:
                asked.of(model)
        except (InputError, CheckpointError) as error:
            return str(error)
        return "ready" if model is not None else "loading" if self._locks[asked.name].locked() else ""

    def languages(self, direction: object) -> dict[str, Any] | None:
        """The codes that a checkpoint translates from and to, "src" and "tgt", and its "own"; None: it has one pair.

        None too while it is not held; what is asked of a page without a server waits for nothing.
        """
        held = self._loaded.get(Direction.read(direction).name) if isinstance(direction, str) else None
        if held is None:
            return None
        src, tgt = held.bundle.languages
        return {"src": src, "tgt": tgt, "own": held.languages} if len(src) > 1 or len(tgt) > 1 else None

    def ask(self, direction: str, work: Callable[[Translator], R]) -> R:
        """`work(model)`, which must be quick: at once where the model is held, else in a worker, which loads it.

        So never more are loaded at once than there are workers. The errors are those of `get` and of `Gate.run`.
        """
        asked = self._asked(direction)
        with self._lock:
            model = self._loaded.get(asked.name)
            if model is not None:
                self._loaded.move_to_end(asked.name)
        return work(asked.of(model)) if model is not None else self.gate.run(lambda stop: work(self.get(direction)))

    def _asked(self, direction: object) -> Direction:
        """A direction of one of `names`.

        Raises:
            InputError: it is none.
            CheckpointError: its model is one of the hub's that was not chosen yet.
        """
        asked = Direction.read(direction) if isinstance(direction, str) else None
        if asked is None or asked.name not in self.names:
            raise InputError(f"there is no direction {str(direction)[:20]!r}; there are {', '.join(self.names)}")
        listed = isinstance(self.names[asked.name], Listed) and asked.name not in self._loaded
        if listed and not self.hub.is_here(asked.name):
            raise CheckpointError(f"{asked.name} was not fetched yet; choose it under More models")
        return asked

    def steps(
        self,
        direction: str,
        text: str,
        settings: dict[str, Any],
        stop: Stop,
        encoding: Encoding | None = None,
        every: float = 0.0,
    ) -> Generator[LiveStep, None, Trace]:
        """`Translator.stream` of a direction's model; on a ZeroGPU Space on its GPU. The errors are those of both.

        Raises:
            CancelledError: `stop` said so.
        """
        model = self.get(direction)
        if not zero.here():
            return (yield from model.stream(text, stop=stop, encoding=encoding, every=every, **settings))
        for found in self._marked(direction, text, {**settings, "every": every}):
            if isinstance(found, Trace):
                return found
            if stop():
                break
            yield found
        raise CancelledError("decoding was stopped")

    def _decoded(self, direction: str, text: str, settings: dict[str, Any]) -> Iterator[LiveStep | Trace]:
        """Every step, then the trace: runs in a process that was forked when the models were on the CPU."""
        asked = self._asked(direction)
        model = asked.of(self._loaded[asked.name])  # no lock: another thread may have held it at the fork
        on_gpu = replace(model.bundle, model=copy.deepcopy(model.bundle.model).to("cuda"))
        yield (yield from type(model)(on_gpu).stream(text, **settings))

    def _failure(self, name: str) -> TranslatorError | None:
        """Why `name` could not be loaded, for as long as that is remembered."""
        error, until = self._failed.get(name, (None, 0.0))
        return error if time.monotonic() < until else None

    def _load(self, name: str) -> Translator | TranslatorError:
        with self._locks[name]:
            failure = self._failure(name)
            if failure is not None:
                return failure
            with self._lock:
                if name in self._loaded:
                    self._loaded.move_to_end(name)
                    return self._loaded[name]
            try:
                model = self._read(self.names[name])
                self._admit(name, model)
            except TranslatorError as error:
                log.warning("%s is not available: %s", name, error)
                self._failed[name] = error, time.monotonic() + FORGIVEN
                return error
            self._keep(name, model)
            if self._compiles:
                model.compile()
            return model

    def _read(self, what: str | Path | Listed) -> Translator:
        """A checkpoint of ours or of a known layout; after "transformers:" whatever `transformers` loads."""
        if isinstance(what, Listed):
            what = self.hub.place(what)
        if isinstance(what, str) and what.startswith(TRANSFORMERS):
            from translator.adapted import load_adapted

            name, revision = pinned(what.removeprefix(TRANSFORMERS))
            return load_adapted(str(name), device=self.device, revision=revision)
        from translator.pipeline import load  # brings torch, which a page without a server must not wait for

        found, revision = pinned(what)
        return load(found, device=self.device, revision=revision)

    def _admit(self, name: str, model: Translator) -> None:
        """Refuse a model that is larger than any may be here."""
        if self.largest is not None and model.memory > self.largest:
            raise CheckpointError(
                f"{name} takes {model.memory / 2**30:.1f} GiB; models may take {self.largest / 2**30:.1f} GiB here. "
                "Start the page with more: --memory, or TRANSLATOR_MEMORY"
            )

    def _keep(self, name: str, model: Translator) -> None:
        """Hold `model`, and let the least recently used go that there is no more room for."""
        with self._lock:
            self._loaded[name] = model
            held = sum(each.memory for each in self._loaded.values())
            while held > self.memory and len(self._loaded) > 1:
                gone, oldest = self._loaded.popitem(last=False)
                held -= oldest.memory
                log.info("let %s go to make room for %s", gone, name)
