"""Which exceptions of a call are worth another attempt, and how long to wait before it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from .text import error_line, shorten

_LONGEST_REASON = 120
_MOST_CAUSES = 3


@dataclass(frozen=True)
class RetryPolicy:
    """Repeat a call whose exception the user named.

    The wait before attempt n + 1 is ``backoff * 2 ** (n - 1)`` seconds, or what the exception itself asks for
    (``retry_after`` in seconds, or a ``Retry-After`` header in seconds or as an HTTP date on it or on its
    ``response``), or else what its cause asks for; never more than ``max_wait``.  There is no jitter: equal failures
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
        for exception in self.exceptions:
            if not (isinstance(exception, type) and issubclass(exception, BaseException)) and not _is_name(exception):
                raise ValueError(f"retry on {exception!r}: expected an exception class or the name of one")
        if self.attempts < 1:
            raise ValueError(f"retry attempts must be at least 1, not {self.attempts}")
        if not (self.backoff >= 0 and self.max_wait >= 0):
            raise ValueError(f"retry waits must not be negative: backoff={self.backoff}, max_wait={self.max_wait}")

    def matches(self, error: BaseException) -> bool:
        """Whether *error* is of a named class, or a group of such alone.  Only an `Exception` is ever retried."""
        if not isinstance(error, Exception):
            return False
        is_named = any(
            isinstance(error, exception) if isinstance(exception, type) else _matches_name(type(error), exception)
            for exception in self.exceptions
        )
        members = group_members(error)
        return is_named or (bool(members) and all(map(self.matches, members)))

    def pause(self, error: BaseException, attempt: int) -> float | None:
        """Return the seconds to wait after *attempt* (1-based) failed, or None if *error* is final."""
        if attempt >= self.attempts or not self.matches(error):
            return None
        requested = _requested_wait(error)
        wait = self.backoff * 2.0 ** min(attempt - 1, 60) if requested is None else requested
        return min(max(wait, 0.0), self.max_wait)


def reason_of(error: BaseException) -> str:
    """Return the class and the first line of *error*, short enough for a report."""
    return shorten(error_line(error), _LONGEST_REASON)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and all(part.isidentifier() for part in value.split("."))


def _matches_name(error_class: type, name: str) -> bool:
    module, _, last = name.rpartition(".")
    return any(
        cls.__name__ == last and (not module or cls.__module__ == module or cls.__module__.startswith(module + "."))
        for cls in error_class.__mro__
    )


def group_members(error: BaseException) -> tuple[BaseException, ...]:
    """Return the errors of an exception group, as ``asyncio.TaskGroup`` raises; empty for any other error."""
    errors = _attribute(error, "exceptions")
    return errors if isinstance(errors, tuple) and all(isinstance(inner, BaseException) for inner in errors) else ()


def wait_from_headers(headers: Any) -> float | None:
    """Return the seconds to wait according to the *headers* of a reply; None where they say nothing readable."""
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
    """Return the attribute; None where there is none, or where a property raises."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _requested_wait(error: BaseException, causes: int = _MOST_CAUSES) -> float | None:
    """Return the seconds that the server asked for: of a group the longest, else from *error* or its cause."""
    if members := group_members(error):
        return max((wait for member in members if (wait := _requested_wait(member, causes)) is not None), default=None)
    wait = _seconds(_attribute(error, "retry_after"))
    for holder in (_attribute(error, "response"), error):
        if wait is None:
            wait = wait_from_headers(_attribute(holder, "headers"))
    if wait is None and error.__cause__ is not None and causes:  # frameworks wrap what their components raise
        return _requested_wait(error.__cause__, causes - 1)
    return wait


def _seconds(value: Any) -> float | None:
    if value is None or callable(value):
        return None
    try:
        seconds = float(value)
    except Exception:
        return _seconds_until(value) if isinstance(value, str) else None
    return seconds if seconds >= 0 else None  # NaN is not


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
