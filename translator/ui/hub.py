"""Models of the short list, fetched from the hub when a visitor chooses them: one at a time, whole or not at all."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess  # nosec B404 - runs this package's own module
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from translator.checkpoints import fetch
from translator.checkpoints.shelf import MANIFEST
from translator.errors import BusyError, CheckpointError, InputError
from translator.files import write_whole
from translator.ui.reach import Reach
from translator.ui.shortlist import Listed

log = logging.getLogger(__name__)
PINS = "commits.json"
LONGEST = 3 * 3600.0
"""Seconds that a fetch may take."""
SPARE = 64 * 2**20
"""Bytes that may come beyond twice the listed size."""
LOOK = 0.2
"""Seconds between two looks at a fetch."""
WAITERS = 1000
"""Pages that may wait for one fetch."""
_STAGE = ".fetching-"
_OFF = ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_IMPLICIT_TOKEN")  # blocks of a cache of its own; the operator's name


def fetched_folder() -> Path:
    """Where fetched models lie: beside the hub's own cache, $HF_HOME or ~/.cache/huggingface."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    home = os.environ.get("HF_HOME") or os.path.join(cache, "huggingface")
    return Path(home) / "attention-explorer"


@dataclass(eq=False)
class Fetch:
    """One fetch under way, and the pages that want it."""

    wanted: set[str] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    done: int = 0


class Hub:
    """The models that may be fetched, what becomes of them, and where they lie."""

    def __init__(
        self, listed: Sequence[Listed] = (), *, folder: Path | None = None, endpoint: str | None = None
    ) -> None:
        """Offer `listed`; `endpoint` is the hub's address, None: the library's own."""
        self.listed = {each.name: each for each in listed}
        self.folder = folder or fetched_folder()
        self._endpoint = endpoint
        self._running: dict[str, Fetch] = {}
        self._refused: dict[str, str] = {}
        self._reach = Reach(endpoint)
        self._lock = threading.Lock()

    def is_here(self, name: str) -> bool:
        """Whether a model of the list was fetched whole."""
        return (self.place(self.listed[name]) / MANIFEST).is_file()

    def place(self, model: Listed) -> Path:
        """Where a model lies once it is here."""
        return self.folder / model.id.replace("/", "--")

    def commit(self, model: Listed) -> str | None:
        """The commit that was recorded when the model was first fetched."""
        try:
            pins = json.loads((self.folder / PINS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return pins.get(model.id) if isinstance(pins, dict) else None

    def told(self, *, looks: bool = True) -> dict[str, Any]:
        """The list as the page shows it, and whether the hub can be reached; None: not known yet.

        Only for one who `looks` at the list is the hub asked.
        """
        return {
            "reached": self._reach.found(next(iter(self.listed.values())).id if looks else None),
            "models": [self._told(each) for each in self.listed.values()],
        }

    def begin(self, name: object, who: str) -> None:
        """Fetch a model for the page `who`; with others that want the same, in one fetch.

        Raises:
            InputError: it is not on the list.
            BusyError: another one is being fetched, or too many wait for it.
        """
        model = self._named(name)
        with self._lock:
            running = self._running.get(model.name)
            if running is None and self._running:
                raise BusyError(f"{next(iter(self._running))} is being fetched; choose another model after that")
            if running is not None and len(running.wanted) >= WAITERS:
                raise BusyError("too many pages wait for this model; try again later")
            if running is not None and not running.stopped.is_set():
                running.wanted.add(who)
                return
            if running is not None:
                raise BusyError(f"{model.name} is being stopped; try again in a moment")
            if self.is_here(model.name):
                return
            self._refused.pop(model.name, None)
            self._running[model.name] = job = Fetch({who})
        threading.Thread(target=self._fetch, args=(model, job), daemon=True).start()

    def stop(self, name: object, who: str) -> None:
        """The page `who` wants it no more; the fetch ends when no page does.

        Raises:
            InputError: it is not on the list.
        """
        model = self._named(name)
        with self._lock:
            running = self._running.get(model.name)
            if running is None:
                return
            running.wanted.discard(who)
            if not running.wanted:
                running.stopped.set()

    def close(self) -> None:
        """Stop every fetch, and wait until nothing of it is left."""
        for job in list(self._running.values()):
            job.stopped.set()
        until = time.monotonic() + 5
        while self._running and time.monotonic() < until:
            time.sleep(LOOK / 4)

    def _named(self, name: object) -> Listed:
        model = self.listed.get(name) if isinstance(name, str) else None
        if model is None:
            raise InputError(
                f"{str(name)[:40]!r} is not on the list of models; it has {', '.join(self.listed) or 'none'}"
            )
        return model

    def _told(self, model: Listed) -> dict[str, Any]:
        running = self._running.get(model.name)
        state = "fetching" if running else "here" if self.is_here(model.name) else ""
        return {
            "name": model.name,
            "id": model.id,
            "size": model.size,
            "licence": model.licence,
            "languages": model.languages,
            "state": state,
            "done": running.done if running else 0,
            "error": self._refused.get(model.name, ""),
        }

    def _fetch(self, model: Listed, job: Fetch) -> None:
        """Fetch beside its place, and move it there when it is whole; whatever happens, nothing else is left."""
        stage = self.folder / f"{_STAGE}{model.name}-{os.getpid()}"
        error = ""
        try:
            self._clear()
            stage.mkdir(parents=True)
            if shutil.disk_usage(stage).free < 3 * model.size:
                raise CheckpointError(f"the disk has no room for it: {3 * model.size / 1e9:.1f} GB are needed")
            self._watch(model, job, stage)
        except CheckpointError as refused:
            error = str(refused)
        except OSError as failed:
            error = f"it cannot be stored: {failed}"
        finally:
            shutil.rmtree(stage, ignore_errors=True)
            with self._lock:
                if error:
                    self._refused[model.name] = error
                    log.warning("%s was not fetched: %s", model.id, error)
                self._running.pop(model.name, None)

    def _watch(self, model: Listed, job: Fetch, stage: Path) -> None:
        """Run the fetch until it ends, is stopped, or takes more than it may."""
        pinned = self.commit(model)
        command = [sys.executable, "-m", fetch.__name__, model.id, pinned or "main", str(stage)]
        process = subprocess.Popen(  # noqa: S603  # nosec B603 - an id of our own list
            command, env=self._environment(stage), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + LONGEST
        try:
            while process.poll() is None:
                job.done = _bytes(stage / fetch.HUB)
                if job.stopped.wait(LOOK):
                    return
                if job.done > 2 * model.size + SPARE:
                    raise CheckpointError("more data came than the list says; it was discarded")
                if time.monotonic() > until:
                    raise CheckpointError("it took longer than three hours; try again on a faster line")
        finally:
            process.kill()
            process.wait()
        commit = _said(stage)
        if pinned is None:
            pins = {each.id: self.commit(each) for each in self.listed.values()}
            pins = {id_: found for id_, found in {**pins, model.id: commit}.items() if found}
            write_whole(self.folder / PINS, json.dumps(pins, indent=1))
        with suppress(OSError):  # another server has put it there meanwhile
            os.replace(stage / fetch.called(model.id, commit), self.place(model))
        if not self.is_here(model.name):
            raise CheckpointError(f"{self.place(model)} holds something else; move it away")

    def _environment(self, stage: Path) -> dict[str, str]:
        own = {"HF_HUB_CACHE": str(stage / fetch.HUB), **dict.fromkeys(_OFF, "1")}
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        there = {"HF_ENDPOINT": self._endpoint} if self._endpoint else {}
        return {**os.environ, **own, **there, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}

    def _clear(self) -> None:
        """Remove what a server that was killed has left of a fetch."""
        for stage in self.folder.glob(f"{_STAGE}*"):
            number = stage.name.rpartition("-")[2]
            if number.isdigit() and not _runs(int(number)):
                shutil.rmtree(stage, ignore_errors=True)


def _said(stage: Path) -> str:
    """The commit that the fetch has written down.

    Raises:
        CheckpointError: it says why there is none, or died.
    """
    try:
        said = json.loads((stage / fetch.SAID).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError("the download ended without a message; the machine may have too little memory") from error
    if "commit" not in said:
        raise CheckpointError(str(said.get("error", ""))[:500])
    return str(said["commit"])


def _bytes(folder: Path) -> int:
    """Bytes of the files in a folder, which change meanwhile; links are not followed."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
