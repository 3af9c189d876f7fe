"""Several processes behind one port: forked from one that holds the models, each address kept by one of them.

The parent accepts every connection and hands it, by its address, to a worker over a Unix socket (SCM_RIGHTS); bytes
never pass through it. Limits, turns and a page's streams belong to an address, so they hold as within one process. A
worker that dies is forked anew from the parent, which computes nothing and has no threads; what it ran is lost.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from translator.checkpoints.cost import free_memory
from translator.errors import InputError
from translator.ui.addresses import ADDRESSES, group

MOST = 64
"""Workers at most."""
EACH = 2**29
"""Bytes that a worker may come to need of its own: traces, unread answers, and what it computes with."""
BACKLOG = 1024
PATIENCE = 5.0
"""Seconds that workers have to end."""
READY = 120.0
"""Seconds that a worker has to serve its page."""
PAUSE = 1.0
"""Seconds from the start of a worker to the start of the one that takes its place, at least."""
_READY = b"r"
_ONE = b"c"

Work = Callable[["Channel"], NoReturn]
"""What a worker does, in a process of its own."""


def default_workers(models: int) -> int:
    """A worker for each processor that this process may use, as far as the free memory holds them beside the models.

    Args:
        models: bytes that the models may take.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if _forks() and not _proxied():
        free = free_memory()
        room = MOST if free is None else (free - models) // EACH
        return max(1, min(cores, room, MOST))
    return 1


def _forks() -> bool:
    """Whether this system can fork a process, and hand it connections."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds")


def _proxied() -> bool:
    """Whether visitors come through a proxy."""
    return bool(os.environ.get("FORWARDED_ALLOW_IPS", "").strip() or os.environ.get("SPACE_ID"))


def checked_workers(count: int) -> int:
    """`count`, if so many workers can run here.

    Raises:
        InputError: it is out of range, this system cannot fork, or every visitor would come from a proxy's address.
    """
    if not 1 <= count <= MOST:
        raise InputError(f"workers is {count}; it must be from 1 to {MOST}")
    if count == 1:
        return 1
    if not _forks():
        raise InputError(f"workers is {count}; on this system there can be one only, because it cannot fork")
    if _proxied():
        raise InputError(
            f"workers is {count}, but visitors come through a proxy, whose address would have one worker only; start a "
            "page for each and name them all to the proxy, as deploy/nginx.conf does"
        )
    return count


class Homes:
    """Which worker an address is kept by: at first the one that keeps the fewest, the least recent forgotten."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._known: OrderedDict[str, int] = OrderedDict()
        self._load: Counter[int] = Counter()

    def of(self, address: str) -> int:
        """The number of the worker."""
        home = self._known.pop(address, None)
        if home is None:
            home = min(range(self._workers), key=lambda each: self._load[each])
            self._load[home] += 1
        self._known[address] = home
        if len(self._known) > ADDRESSES:
            self._load[self._known.popitem(last=False)[1]] -= 1
        return home


class Channel:
    """A worker's end of its socket: it says that it is ready, and receives connections."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def ready(self) -> None:
        """Tell the parent that the page is served."""
        self._end.send(_READY)

    def each(self, take: Callable[[socket.socket], None]) -> None:
        """Give `take` every connection, until the parent is gone."""
        with suppress(OSError):
            while True:
                data, files, _, _ = socket.recv_fds(self._end, 1, 1)
                for file in files:
                    take(socket.socket(fileno=file))
                if not data:
                    return


@dataclass
class _Worker:
    pid: int
    end: socket.socket
    since: float
    ready: bool = False


class Workers:
    """`count` processes that serve what one listening socket accepts."""

    def __init__(self, listener: socket.socket, count: int, work: Work) -> None:
        """Have `work` done by `count` processes; `run` starts them.

        Args:
            listener: bound, not yet listening: it does once all workers are ready.
        """
        self._listener, self._work = listener, work
        self._homes = Homes(count)
        self._workers: list[_Worker | None] = [None] * count
        self._selector = selectors.DefaultSelector()
        self._stops = self._opened = False

    def run(self, opened: Callable[[], None]) -> int:
        """Start the workers, call `opened` when all are ready, and serve until SIGTERM, SIGINT or a failed start.

        Returns:
            The exit code: 0, or 2 if a worker could not start.
        """
        wake, woken = socket.socketpair()
        for end in (wake, woken):
            end.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # wakes the loop
        self._listener.setblocking(False)
        self._selector.register(wake, selectors.EVENT_READ)
        code = 0
        while not self._stops:
            if not self._tend():
                code = 2
                break
            if not self._opened and all(each and each.ready for each in self._workers):
                self._opened = True
                self._listener.listen(BACKLOG)
                self._selector.register(self._listener, selectors.EVENT_READ)
                opened()
            for key, _ in self._selector.select(0.5):
                self._heard(key.fileobj, wake)
        self._listener.close()
        self._end_all()
        return code

    def _stop(self, *_: object) -> None:
        self._stops = True

    def _heard(self, source: object, wake: socket.socket) -> None:
        if source is wake:
            with suppress(BlockingIOError):
                wake.recv(4096)
        elif source is self._listener:
            self._accept()
        else:
            worker = next(each for each in self._workers if each and each.end is source)
            with suppress(OSError):
                worker.ready = worker.end.recv(1) == _READY or worker.ready

    def _accept(self) -> None:
        """Take every connection that waits, and hand it on."""
        while True:
            try:
                connection, client = self._listener.accept()
            except OSError:  # none is left, or its client has gone, or there is no file for it
                return
            with connection:  # what was sent is the worker's; else it ends
                worker = self._workers[self._homes.of(group({"client": client}))]
                if worker is not None and worker.ready:
                    with suppress(OSError):  # dead, or so busy that a thousand wait
                        socket.send_fds(worker.end, [_ONE], [connection.fileno()])

    def _tend(self) -> bool:
        """Reap workers that ended and start others for them; whether all could start that ever did."""
        for number, worker in enumerate(self._workers):
            if worker is not None and not _ended(worker.pid):
                late = not worker.ready and time.monotonic() - worker.since > READY
                if late:
                    os.kill(worker.pid, signal.SIGKILL)
                continue
            if worker is not None:
                self._forget(number, worker)
                if not self._opened:
                    return False
                print("translator: a worker ended; another takes its place", file=sys.stderr, flush=True)
                time.sleep(max(0.0, worker.since + PAUSE - time.monotonic()))
            self._start(number)
        return True

    def _start(self, number: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        since = time.monotonic()
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._become(theirs)
        theirs.close()
        ours.setblocking(False)
        self._workers[number] = _Worker(pid, ours, since)
        self._selector.register(ours, selectors.EVENT_READ)

    def _become(self, end: socket.socket) -> NoReturn:
        """Be a worker: hold nothing of the parent's, do the work, and never return."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for name in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(name, signal.SIG_DFL)
            self._selector.close()
            self._listener.close()
            for worker in self._workers:
                if worker is not None:
                    worker.end.close()
            self._work(Channel(end))
        except BaseException as error:
            print(f"translator: a worker failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)

    def _forget(self, number: int, worker: _Worker) -> None:
        self._selector.unregister(worker.end)
        worker.end.close()
        self._workers[number] = None

    def _end_all(self) -> None:
        """End every worker: politely, and after `PATIENCE` at once."""
        alive = [each for each in self._workers if each is not None and not _ended(each.pid)]
        for worker in alive:
            os.kill(worker.pid, signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while alive and time.monotonic() < until:
            time.sleep(0.02)
            alive = [each for each in alive if not _ended(each.pid)]
        for worker in alive:
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)


def _ended(pid: int) -> bool:
    """Whether a child has ended; it is reaped with that."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket bound to `host` and `port`, not yet listening.

    Raises:
        OSError: the address cannot be bound.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    found = socket.socket(family, kind, protocol)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(address)
    return found


def only_thread() -> None:
    """Make sure that nothing else runs, since a fork copies one thread and whatever locks the others hold.

    Raises:
        RuntimeError: another thread of Python's runs.
    """
    others = [each.name for each in threading.enumerate() if each is not threading.current_thread()]
    if others:
        raise RuntimeError(f"a thread is running before the workers are forked: {others[0]}")
