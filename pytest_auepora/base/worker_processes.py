"""Running tasks in worker processes: a task is unpickled once in every worker, batches as they come."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from ..errors import AueporaError, UnsendableError

_installed_task = b""


def run_packed(task: bytes | None, batch: bytes, turn: str = "") -> bytes:  # noqa: ARG001 - see turn
    """Run a pickled batch in a worker, by *task* or the one that is installed; the return value is for `unpack`.

    *turn* is unique: Dask reuses the result of an earlier call with equal arguments, even a worker's death.
    """
    try:
        return pack((_load_task(_installed_task if task is None else task)(pickle.loads(batch)), None))
    except Exception as exc:
        return pack((None, _sendable(exc)))


def unpack(answer: bytes) -> Any:
    """Return the result of the task, or raise its exception."""
    result, error = pickle.loads(answer)
    if error is not None:
        raise error
    return result


@lru_cache(maxsize=4)
def _load_task(pickled: bytes) -> Callable[[Any], Any]:
    try:
        task: Callable[[Any], Any] = pickle.loads(pickled)
    except Exception as exc:
        raise UnsendableError(f"a worker cannot read the work: {type(exc).__name__}: {exc}") from None
    return task


def worker_pool(jobs: int, task: bytes) -> ProcessPoolExecutor:
    """Return a pool of *jobs* processes that have *task*; spawned, so that no thread of this process is copied."""
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_install, initargs=(task,))


def end_now(pool: Executor) -> None:
    """Terminate the processes of *pool*, a `worker_pool`, in the middle of their work."""
    for process in (getattr(pool, "_processes", None) or {}).values():  # `terminate_workers` is of Python 3.14
        process.terminate()


def _install(task: bytes) -> None:
    global _installed_task  # noqa: PLW0603 - an initializer has no other way to hand something to the work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to answer
    Thread(target=_end_with_owner, daemon=True).start()
    _installed_task = task


def _end_with_owner() -> None:
    """End this worker when its owner process is gone."""
    if (owner := parent_process()) is not None:
        owner.join()
        os._exit(1)


def pack(value: Any) -> bytes:
    """Return *value* pickled; definitions of ``__main__`` or a function go by value where cloudpickle is installed."""
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in data or find_spec("cloudpickle") is None:
            return data
    except Exception:
        if find_spec("cloudpickle") is None:
            raise
    import cloudpickle  # the workers' __main__ is another

    packed: bytes = cloudpickle.dumps(value)
    return packed


def pack_named(value: Any, parts: Callable[[], Mapping[str, Any]]) -> bytes:
    """Return *value* pickled; raises `UnsendableError`, with the name of the part at fault, one of *parts*."""
    try:
        return pack(value)
    except Exception as exc:
        name, error = next(_unsendable(parts()), ("the work", exc))
        raise UnsendableError(
            f"{name} cannot be sent to another process: {type(error).__name__}: {error}; define what it is made of at "
            "the top level of a module, or use one process or threads"
        ) from error


def _unsendable(parts: Mapping[str, Any]) -> Iterator[tuple[str, Exception]]:
    for name, part in parts.items():
        try:
            pack(part)
        except Exception as exc:
            yield name, exc


def _sendable(error: Exception) -> Exception:
    """Return *error*, or an `AueporaError` with its message where it does not survive pickling."""
    with suppress(Exception):
        there = pickle.loads(pack(error))
        if (type(there), str(there)) == (type(error), str(error)):
            return error
    return AueporaError(f"{type(error).__name__}: {error}")
