"""Files that people keep: written by one run at a time, and whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ..errors import NotWrittenError

if TYPE_CHECKING:
    from portalocker import Lock


def shown_path(path: Path, root: Path) -> str:
    """Return *path* as people read it: relative to *root* where it lies there."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


@contextmanager
def locked(path: Path, timeout: float = 60.0) -> Iterator[None]:
    """Hold the lock of *path* among all processes of this machine.  The operating system frees it on death.

    It is a file in the temporary directory, which is removed with the lock; one that a killed process leaves behind
    is in nobody's way.  What a killed writer of *path* left beside it is removed.

    Raises:
        NotWrittenError: another one has held it for *timeout* seconds, or it cannot be taken.
    """
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:24]
    lock = Path(tempfile.gettempdir()) / f"auepora-{name}.lock"
    held = _acquired(lock, path, timeout)
    try:
        for left in path.resolve().parent.glob(f".{escape(path.resolve().name)}.*.tmp"):
            left.unlink(missing_ok=True)
        yield
    finally:
        if _is_at(lock, held):
            with suppress(PermissionError):  # Windows keeps a file that is open
                lock.unlink()  # before the lock is free: who gets it then sees that its file is gone
        held.release()


def _acquired(lock: Path, path: Path, timeout: float) -> Lock:
    """Take the lock of *path* at *lock*, where everybody else will look for it."""
    import portalocker

    until = monotonic() + timeout
    try:
        while True:
            held = portalocker.Lock(lock, mode="a", timeout=max(0.0, until - monotonic()))
            held.acquire()
            if _is_at(lock, held):
                return held
            held.release()  # of a file that its last holder removed: what is there now may be held by another
    except portalocker.exceptions.LockException:
        raise NotWrittenError(f"{path}: another run has been writing it for {timeout:g} s") from None
    except OSError as exc:
        raise NotWrittenError(f"{path}: its lock {lock} cannot be taken: {exc.strerror or exc}") from exc


def _is_at(path: Path, held: Lock) -> bool:
    try:
        return held.fh is not None and os.path.samestat(path.stat(), os.fstat(held.fh.fileno()))
    except FileNotFoundError:
        return False


def write_atomically(path: Path, text: str) -> None:
    """Write *text* to *path* so that a reader, or a crash, sees the old file or the new one, never a part.

    A symbolic link stays one: the file that it leads to is written.

    Raises:
        NotWrittenError: the directory cannot be made or written.
    """
    temp: str | None = None
    try:
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temp = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temp).chmod(path.stat().st_mode if path.exists() else 0o644)
        Path(temp).replace(path)
    except OSError as exc:
        raise NotWrittenError(f"{path}: cannot be written: {exc.strerror or exc}") from exc
    finally:
        if temp is not None:
            Path(temp).unlink(missing_ok=True)
