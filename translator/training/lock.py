"""A lock that allows one training run per folder."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from translator.checkpoints.shelf import MANIFEST
from translator.errors import InputError

LOCK = "run.lock"


class RunLock:
    """The right to train in a folder. The operating system takes it back when the process ends, however it ends.

    The file stays behind; that it is there says nothing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = FileLock(folder / LOCK, timeout=0)
        self._made = False

    def take(self) -> None:
        """Take it, and make the folder if there is none; a checkpoint, where no run may write, is left as it is.

        Raises:
            InputError: another process trains there, or no folder can be made.
        """
        if (self.folder / MANIFEST).exists():
            return
        try:
            self._made = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise InputError(
                f"{self.folder} is being trained in by another process; wait until that has ended, or name another"
                " folder (--out)"
            ) from error
        except OSError as error:
            raise InputError(f"nothing can be written to {self.folder}: {error}") from error

    def release(self) -> None:
        """Give it back; nothing happens where it is not held. A folder made for it alone is taken away."""
        self._lock.release()
        if self._made and self.folder.is_dir() and {path.name for path in self.folder.iterdir()} <= {LOCK}:
            (self.folder / LOCK).unlink(missing_ok=True)
            self.folder.rmdir()
