"""Names of runs: short, unique, and in the order of time when sorted as text."""

from __future__ import annotations

import os
import threading
import time

__all__ = ["new_run_id"]

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # sorts like its values; no i, l, o, u to misread
_last = 0
_lock = threading.Lock()


def new_run_id() -> str:
    """Return ``YYMMDD-HHMMSS-xxyyy`` in UTC: *xx* is the millisecond, *yyy* is chance.

    Later ids of one process sort behind its earlier ones, also within a millisecond.
    """
    global _last  # noqa: PLW0603 - what makes ids of a process ascend
    with _lock:
        _last = now = max(time.time_ns() // 1_000_000, _last + 1)
    seconds, milliseconds = divmod(now, 1000)
    tail = _text(milliseconds, 2) + _text(int.from_bytes(os.urandom(2), "big"), 3)  # of which 15 bits are taken
    return f"{time.strftime('%y%m%d-%H%M%S', time.gmtime(seconds))}-{tail}"


def _text(value: int, length: int) -> str:
    return "".join(_DIGITS[value >> 5 * i & 31] for i in reversed(range(length)))
