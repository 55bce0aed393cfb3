"""The other side of a process boundary: a task is unpacked once in every worker, batches as they come."""

from __future__ import annotations

import os
import pickle
import signal
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from ..errors import AueporaError, UnsendableError

_KEEP = 4
_tasks: OrderedDict[str, Callable[[Any], Any]] = OrderedDict()
_installed: dict[str, bytes] = {}


@dataclass(frozen=True, slots=True)
class PickledTask:
    """A task pickled, and the key under which workers keep it."""

    key: str
    task: bytes

    @classmethod
    def of(cls, task: Any, parts: Mapping[str, Any]) -> PickledTask:
        """Pickle *task*; raises `UnsendableError` with the name of the part to blame."""
        packed = pack_named(task, parts)
        return cls(sha256(packed).hexdigest(), packed)

    def pack_batch(self, batch: Sequence[Any], name_of: Callable[[Any], str]) -> bytes:
        """Pickle a batch; raises `UnsendableError` with the name of the item to blame."""
        try:
            return pack(batch)
        except Exception:
            return pack_named(batch, {f"sample {name_of(item)!r}": item for item in batch})

    def unpack(self, answer: bytes) -> Any:
        """Return what the task made, or raise what it raised."""
        made, error = pickle.loads(answer)
        if error is not None:
            raise error
        return made


def run_packed(key: str, task: bytes | None, batch: bytes, turn: str = "") -> bytes:  # noqa: ARG001 - see turn
    """Do a packed batch in a worker; the answer is for `PickledTask.unpack`.

    Args:
        key: of the task.
        task: the task pickled, or None where `worker_pool` has brought it.
        batch: the batch pickled.
        turn: another one each time: Dask takes a call with the arguments of an earlier one for the same, and gives what
            came of that, the death of its worker as well.
    """
    try:
        return pack((_task(key, task)(pickle.loads(batch)), None))
    except Exception as exc:
        return pack((None, sendable(exc)))


def _task(key: str, task: bytes | None) -> Callable[[Any], Any]:
    if (known := _tasks.get(key)) is not None:
        return known
    try:
        made: Callable[[Any], Any] = pickle.loads(_installed[key] if task is None else task)
    except Exception as exc:
        raise UnsendableError(f"a worker cannot read the work: {type(exc).__name__}: {exc}") from None
    _tasks[key] = made
    while len(_tasks) > _KEEP:
        _tasks.popitem(last=False)
    return made


def worker_pool(jobs: int, task: PickledTask) -> ProcessPoolExecutor:
    """Return *jobs* fresh processes that know *task*; they start anew, so that no thread of this one is copied."""
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_install, initargs=(task.key, task.task)
    )


def end_now(pool: Executor) -> None:
    """End the processes of *pool*, which `worker_pool` made, in the middle of what they do: it may never end."""
    for process in (getattr(pool, "_processes", None) or {}).values():  # `terminate_workers` is of Python 3.14
        process.terminate()


def _install(key: str, task: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to answer
    Thread(target=_end_with_owner, daemon=True).start()
    _installed[key] = task


def _end_with_owner() -> None:
    """End this worker when its owner is gone: killed, or interrupted before it knew that it had started the worker."""
    if (owner := parent_process()) is not None:
        owner.join()
        os._exit(1)


def pack(value: Any) -> bytes:
    """Return *value* pickled; what ``__main__`` or a function defines goes by value where cloudpickle is installed.

    Raises:
        Exception: whatever the pickling raised.
    """
    try:
        made = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        if (by_value := _cloudpickle()) is None:
            raise
        packed: bytes = by_value.dumps(value)
        return packed
    if b"__main__" in made and (by_value := _cloudpickle()) is not None:
        made = by_value.dumps(value)  # the workers' __main__ is another
    return made


def _cloudpickle() -> Any:
    try:
        import cloudpickle
    except ImportError:
        return None
    return cloudpickle


def pack_named(value: Any, parts: Mapping[str, Any]) -> bytes:
    """Return *value* pickled; *parts* are its parts by what to call them.

    Raises:
        UnsendableError: naming the part to blame.
    """
    try:
        return pack(value)
    except Exception as exc:
        name, why = next(_unsendable(parts), ("the work", exc))
        raise UnsendableError(
            f"{name} cannot be sent to another process: {type(why).__name__}: {why}; define what it is made of at the "
            "top level of a module, or use one process or threads"
        ) from why


def _unsendable(parts: Mapping[str, Any]) -> Any:
    for name, part in parts.items():
        try:
            pack(part)
        except Exception as exc:
            yield name, exc


def sendable(error: Exception) -> Exception:
    """Return *error*, or an `AueporaError` that says the same where it would not survive the journey."""
    try:
        again = pickle.loads(pack(error))
    except Exception:
        again = None
    return error if type(again) is type(error) else AueporaError(f"{type(error).__name__}: {error}")
