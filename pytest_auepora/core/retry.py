"""Which exceptions of a call are worth another attempt, and how long to wait before it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ..errors import message_of

_LONGEST_REASON = 120
_MOST_CAUSES = 3


@dataclass(frozen=True)
class RetryPolicy:
    """Repeat a call whose exception the user named.

    The wait before attempt n + 1 is ``backoff * 2 ** (n - 1)`` seconds, or what the exception itself asks for
    (``retry_after`` in seconds, or a ``Retry-After`` header in seconds or as an HTTP date on it or on its
    ``response``), or else what it was raised from; never more than ``max_wait``.  There is no jitter: equal failures
    give equal waits.

    Attributes:
        exceptions: classes, or names of classes: ``"RateLimitError"`` matches wherever the class lives,
            ``"openai.RateLimitError"`` only inside that package.  Subclasses match as well.
        attempts: how often a call is tried in all, at least 1.
        backoff: seconds.
        max_wait: seconds.

    Raises:
        ValueError: a number out of range, or *exceptions* that name nothing.
    """

    exceptions: tuple[type[BaseException] | str, ...]
    attempts: int = 3
    backoff: float = 0.5
    max_wait: float = 30.0

    def __post_init__(self) -> None:
        if isinstance(self.exceptions, (str, type)):
            object.__setattr__(self, "exceptions", (self.exceptions,))
        for wanted in self.exceptions:
            if not (isinstance(wanted, type) and issubclass(wanted, BaseException)) and not _is_name(wanted):
                raise ValueError(f"retry on {wanted!r}: expected an exception class or the name of one")
        if self.attempts < 1:
            raise ValueError(f"retry attempts must be at least 1, not {self.attempts}")
        if not (self.backoff >= 0 and self.max_wait >= 0):
            raise ValueError(f"retry waits must not be negative: backoff={self.backoff}, max_wait={self.max_wait}")

    def matches(self, error: BaseException) -> bool:
        """Whether *error* is of a named class, or a group of such alone.  Only an `Exception` is ever retried."""
        if not isinstance(error, Exception):
            return False
        inner = _inside(error)
        return self._names(error) or (bool(inner) and all(map(self.matches, inner)))

    def _names(self, error: Exception) -> bool:
        return any(
            isinstance(error, wanted) if isinstance(wanted, type) else _is_called(type(error), wanted)
            for wanted in self.exceptions
        )

    def pause(self, error: BaseException, attempt: int) -> float | None:
        """Return the seconds to wait after *attempt* (1-based) failed, or None if *error* is final."""
        if attempt >= self.attempts or not self.matches(error):
            return None
        asked = _asked(error)
        wait = self.backoff * 2.0 ** min(attempt - 1, 60) if asked is None else asked
        return min(max(wait, 0.0), self.max_wait)


def reason_of(error: BaseException) -> str:
    """Return the class and the first line of *error*, short enough for a report."""
    lines = message_of(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


def _is_name(value: object) -> bool:
    return isinstance(value, str) and all(part.isidentifier() for part in value.split("."))


def _is_called(kind: type, name: str) -> bool:
    home, _, last = name.rpartition(".")
    return any(
        cls.__name__ == last and (not home or cls.__module__ == home or cls.__module__.startswith(home + "."))
        for cls in kind.__mro__
    )


def _inside(error: BaseException) -> tuple[BaseException, ...]:
    """Return the errors of a group, as ``asyncio.TaskGroup`` raises; none of any other."""
    inner = _attribute(error, "exceptions")
    return inner if isinstance(inner, tuple) and all(isinstance(one, BaseException) for one in inner) else ()


def asked_by_headers(headers: Any) -> float | None:
    """Return the seconds that the *headers* of a reply ask to wait, None where they do not, or cannot be read."""
    if not hasattr(headers, "items"):
        return None
    try:
        lowered = {str(k).lower(): v for k, v in headers.items()}
    except Exception:
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (value := _seconds(lowered.get(name))) is not None:
            return value * unit
    return None


def _attribute(holder: Any, name: str) -> Any:
    """Return the attribute; None where there is none, or where a property raises: no reason to fail otherwise."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _asked(error: BaseException, causes: int = _MOST_CAUSES) -> float | None:
    """Return what the server asked for, in seconds; of a group the longest, else what the cause of *error* says."""
    if inner := _inside(error):
        return max((asked for one in inner if (asked := _asked(one, causes)) is not None), default=None)
    found = _seconds(_attribute(error, "retry_after"))
    for holder in (_attribute(error, "response"), error):
        if found is None:
            found = asked_by_headers(_attribute(holder, "headers"))
    if found is None and error.__cause__ is not None and causes:  # frameworks wrap what their components raise
        return _asked(error.__cause__, causes - 1)
    return found


def _seconds(value: Any) -> float | None:
    if value is None or callable(value):
        return None
    try:
        seconds = float(value)
    except Exception:
        return _until(value) if isinstance(value, str) else None
    return seconds if seconds >= 0 else None  # NaN is not


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
