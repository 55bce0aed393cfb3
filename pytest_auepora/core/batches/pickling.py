"""What goes to another process: pickled once, and an error that names what cannot go."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import AueporaError, UnsendableError

__all__ = ["pack", "pack_named", "pack_samples", "sendable"]


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


def pack_samples(batch: Sequence[Any], name_of: Any) -> bytes:
    """Return a batch pickled; ``name_of(item)`` is what an error calls one of its items.

    Raises:
        UnsendableError: naming the first item to blame.
    """
    try:
        return pack(batch)
    except Exception:
        return pack_named(batch, {f"sample {name_of(item)!r}": item for item in batch})


def sendable(error: Exception) -> Exception:
    """Return *error*, or an `AueporaError` that says the same where it would not survive the journey."""
    try:
        again = pickle.loads(pack(error))
    except Exception:
        again = None
    return error if type(again) is type(error) else AueporaError(f"{type(error).__name__}: {error}")
