"""Project files: errors name the line; writing is atomic and locked."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from ..errors import AueporaError, NotWrittenError

if TYPE_CHECKING:
    from portalocker import Lock


_TEMPORARY = ".auepora.tmp"  # the end of the names of temporary files
_LONGEST_PREFIX = 100
_DAY = 24 * 3600
_SWEPT: set[Path] = set()


def shown_path(path: Path, root: Path) -> str:
    """Return *path* for display: relative to *root* where it lies there."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def seen_path(path: str | Path) -> str:
    """Return *path* for a message: relative to the working directory where it lies there."""
    return shown_path(Path(path), Path.cwd())


def shipped_folder(name: str, source: str) -> Path:
    """Return the folder that the wheel carries as *name*; where no wheel is installed, *source* in the repository."""
    package = Path(__file__).resolve().parents[1]
    return package / name if (package / name).is_dir() else package.parent / source


def refuse_pipe(path: Path) -> None:
    """Raise OSError where *path* is a pipe or a device, which may keep a reader waiting for ever.

    Those under ``/dev`` are what a shell makes for ``<(command)``: somebody writes to them.
    """
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or path.is_relative_to("/dev")):
            raise OSError(errno.EINVAL, "it is no regular file")


def is_there(path: Path) -> bool:
    """Whether a file is at *path*, which a damaged file may name: one too long for any system is nowhere."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_text(path: Path, error: type[AueporaError] = AueporaError) -> str:
    """Return the text of the file at *path*; raises *error*, which names it, where it cannot be read."""
    try:
        refuse_pipe(path)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        raise error(f"{seen_path(path)}: cannot be read: not UTF-8: {exc.reason} at byte {exc.start}") from None
    except OSError as exc:
        raise error(f"{seen_path(path)}: cannot be read: {exc.strerror or exc}") from None


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of *text* that are not blank, each after its number."""
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def parse_json(text: str, path: Path, line: int = 1, error: type[AueporaError] = AueporaError) -> Any:
    """Return the value of *text*, which begins at *line* of the file at *path*; raises *error* where it is no JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        raise error(f"{seen_path(path)}:{line + exc.lineno - 1}:{exc.colno}: not JSON: {exc.msg}") from None
    except RecursionError:
        raise error(f"{seen_path(path)}:{line}: nests too deep") from None
    except ValueError as exc:  # a number of thousands of digits
        raise error(f"{seen_path(path)}:{line}: not JSON: {exc}") from None


class RepeatedKeyError(Exception):
    """A mapping in JSON has a key, the only argument, more than once."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping of *pairs*, as an ``object_pairs_hook`` of `json`; raises `RepeatedKeyError`."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return mapping


def refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, as a ``parse_constant`` of `json`; raises `ValueError`."""
    raise ValueError(f"{name} is no JSON number")


def read_json_lines(path: Path, error: type[AueporaError] = AueporaError) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file in JSON Lines, each after its place, ``path:line``; raises *error* as the others."""
    place = seen_path(path)
    for number, line in numbered_lines(read_text(path, error)):
        yield f"{place}:{number}", parse_json(line, path, number, error)


@contextmanager
def locked(path: Path, timeout: float = 60.0) -> Iterator[None]:
    """Hold the lock of *path* among all processes of this machine.  The operating system frees it on death.

    The lock is a file in the temporary directory, removed on release; one left by a killed process does no harm.
    Temporary files that a killed writer of *path* left are removed.

    Raises:
        NotWrittenError: another process has held it for *timeout* seconds, or it cannot be acquired.
    """
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:24]
    lock = Path(tempfile.gettempdir()) / f"auepora-{name}.lock"
    file_lock = _acquire_lock(lock, path, timeout)
    try:
        for leftover in path.resolve().parent.glob(f".{escape(path.resolve().name[:_LONGEST_PREFIX])}.*{_TEMPORARY}"):
            leftover.unlink(missing_ok=True)
        yield
    finally:
        if _is_at(lock, file_lock):
            with suppress(PermissionError):  # Windows keeps a file that is open
                lock.unlink()  # before release: the next holder then sees that its file is gone
        file_lock.release()


def _acquire_lock(lock: Path, path: Path, timeout: float) -> Lock:
    """Acquire the lock of *path*, and return it once its file is still the one at *lock*."""
    import portalocker

    deadline = monotonic() + timeout
    try:
        while True:
            file_lock = portalocker.Lock(lock, mode="a", timeout=max(0.0, deadline - monotonic()))
            file_lock.acquire()
            if _is_at(lock, file_lock):
                return file_lock
            file_lock.release()  # its last holder removed the file; another process may hold the new one
    except portalocker.exceptions.LockException:
        raise NotWrittenError(f"{seen_path(path)}: another run has been writing it for {timeout:g} s") from None
    except OSError as exc:
        raise NotWrittenError(f"{seen_path(path)}: its lock {lock} cannot be taken: {exc.strerror or exc}") from exc


def _is_at(path: Path, file_lock: Lock) -> bool:
    try:
        return file_lock.fh is not None and os.path.samestat(path.stat(), os.fstat(file_lock.fh.fileno()))
    except FileNotFoundError:
        return False


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write *data*, a text as UTF-8, so that readers see the old file or the new one, never a part, even after a crash.

    Whatever this package writes as a whole goes through here.  A symbolic link stays one: its target is written.  A
    special file, such as ``/dev/stdout``, is written as it is.

    Raises:
        NotWrittenError: the directory cannot be made or written.
    """
    content = data.encode() if isinstance(data, str) else data
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as special:
                special.write(content)
        else:
            _replace(path.resolve(), content)
    except OSError as exc:
        raise NotWrittenError(f"{seen_path(path)}: cannot be written: {exc.strerror or exc}") from exc


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent)
    handle, temp = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_LONGEST_PREFIX]}.", suffix=_TEMPORARY)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temp).chmod(path.stat().st_mode if path.exists() else 0o644)
        Path(temp).replace(path)
    finally:
        Path(temp).unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed writers left in *folder* more than a day ago; looks once a process."""
    if folder in _SWEPT:
        return
    _SWEPT.add(folder)
    with suppress(OSError):  # the folder is not there, or is somebody else's
        for leftover in folder.glob(f".*{_TEMPORARY}"):
            if time() - leftover.stat().st_mtime > _DAY:
                leftover.unlink(missing_ok=True)
