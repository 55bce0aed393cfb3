"""Running tasks in worker processes: a task is unpickled once in every worker, batches as they come."""

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
_task_bytes: dict[str, bytes] = {}


@dataclass(frozen=True, slots=True)
class PickledTask:
    """A pickled task, and the key under which workers cache it."""

    key: str
    task: bytes

    @classmethod
    def of(cls, task: Any, parts: Mapping[str, Any]) -> PickledTask:
        """Pickle *task*; raises `UnsendableError` naming the part at fault."""
        packed = pack_named(task, parts)
        return cls(sha256(packed).hexdigest(), packed)

    def pack_batch(self, batch: Sequence[Any], name_of: Callable[[Any], str]) -> bytes:
        """Pickle a batch; raises `UnsendableError` naming the item at fault."""
        try:
            return pack(batch)
        except Exception:
            return pack_named(batch, {f"sample {name_of(item)!r}": item for item in batch})

    def unpack(self, answer: bytes) -> Any:
        """Return the result of the task, or raise its exception."""
        result, error = pickle.loads(answer)
        if error is not None:
            raise error
        return result


def run_packed(key: str, task: bytes | None, batch: bytes, turn: str = "") -> bytes:  # noqa: ARG001 - see turn
    """Run a pickled batch in a worker; the return value is for `PickledTask.unpack`.

    Args:
        key: of the task.
        task: the pickled task, or None where `worker_pool` has installed it.
        batch: the pickled batch.
        turn: unique for each call: Dask reuses the result of an earlier call with equal arguments, even a worker's
            death.
    """
    try:
        return pack((_task(key, task)(pickle.loads(batch)), None))
    except Exception as exc:
        return pack((None, sendable(exc)))


def _task(key: str, task: bytes | None) -> Callable[[Any], Any]:
    if (cached := _tasks.get(key)) is not None:
        return cached
    try:
        loaded: Callable[[Any], Any] = pickle.loads(_task_bytes[key] if task is None else task)
    except Exception as exc:
        raise UnsendableError(f"a worker cannot read the work: {type(exc).__name__}: {exc}") from None
    _tasks[key] = loaded
    while len(_tasks) > _KEEP:
        _tasks.popitem(last=False)
    return loaded


def worker_pool(jobs: int, task: PickledTask) -> ProcessPoolExecutor:
    """Return a pool of *jobs* processes that have *task*; spawned, so that no thread of this process is copied."""
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_install, initargs=(task.key, task.task)
    )


def end_now(pool: Executor) -> None:
    """Terminate the processes of *pool*, a `worker_pool`, in the middle of their work."""
    for process in (getattr(pool, "_processes", None) or {}).values():  # `terminate_workers` is of Python 3.14
        process.terminate()


def _install(key: str, task: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to answer
    Thread(target=_end_with_owner, daemon=True).start()
    _task_bytes[key] = task


def _end_with_owner() -> None:
    """End this worker when its owner process is gone."""
    if (owner := parent_process()) is not None:
        owner.join()
        os._exit(1)


def pack(value: Any) -> bytes:
    """Return *value* pickled; definitions of ``__main__`` or a function go by value where cloudpickle is installed.

    Raises:
        Exception: the exception of the pickling.
    """
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        if (by_value := _cloudpickle()) is None:
            raise
        packed: bytes = by_value.dumps(value)
        return packed
    if b"__main__" in data and (by_value := _cloudpickle()) is not None:
        data = by_value.dumps(value)  # the workers' __main__ is another
    return data


def _cloudpickle() -> Any:
    try:
        import cloudpickle
    except ImportError:
        return None
    return cloudpickle


def pack_named(value: Any, parts: Mapping[str, Any]) -> bytes:
    """Return *value* pickled; *parts* are its parts by name.

    Raises:
        UnsendableError: naming the part at fault.
    """
    try:
        return pack(value)
    except Exception as exc:
        name, error = next(_unsendable_parts(parts), ("the work", exc))
        raise UnsendableError(
            f"{name} cannot be sent to another process: {type(error).__name__}: {error}; define what it is made of at "
            "the top level of a module, or use one process or threads"
        ) from error


def _unsendable_parts(parts: Mapping[str, Any]) -> Any:
    for name, part in parts.items():
        try:
            pack(part)
        except Exception as exc:
            yield name, exc


def sendable(error: Exception) -> Exception:
    """Return *error*, or an `AueporaError` with its message where it does not survive pickling."""
    try:
        copy = pickle.loads(pack(error))
    except Exception:
        copy = None
    return error if type(copy) is type(error) else AueporaError(f"{type(error).__name__}: {error}")
