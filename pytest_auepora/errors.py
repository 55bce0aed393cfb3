"""Every error that this package raises on purpose, and the words that several messages share."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_LONGEST_NAME = 200
"""Longer words are no slips of names; comparing them takes long."""


def did_you_mean(word: str, known: Iterable[str], *, most: int = 3) -> str:
    """Return ``" (did you mean 'x' or 'y'?)"`` for the nearest *known* words, or an empty string."""
    if len(word) > _LONGEST_NAME:
        return ""
    lowered = {k.lower(): k for k in known}
    near = difflib.get_close_matches(word.lower(), list(lowered), n=most, cutoff=0.6)
    if not near:
        return ""
    return f" (did you mean {' or '.join(repr(lowered[n]) for n in near)}?)"


def names_words(names: Sequence[T], most: int = 5, shown: Callable[[T], str] = str) -> str:
    """Return ``a, b and 2 more``, each name as *shown*."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + more


def message_of(error: BaseException) -> str:
    """Return what *error* says; where its own ``__str__`` fails, that it does, as a traceback says it."""
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def error_line(error: BaseException) -> str:
    """Return the class of *error* and the first line of what it says."""
    lines = message_of(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def shorten(text: str, longest: int) -> str:
    """Return *text*, cut if it is longer; secrets have to be masked before."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def without_case(text: str, case_id: str) -> str:
    """Return *text* as it would be said of any case: those that erred alike are to say so in equal words."""
    return text.replace(f" on {case_id!r}: ", ": ", 1)


class AueporaError(Exception):
    """Base of every error raised on purpose by this package."""


class AueporaWarning(UserWarning):
    """Something in a golden file is most likely not meant so, such as a threshold that cannot fail."""


class Problem(NamedTuple):
    """One complaint about one place of a file.  *line* and *col* are 1-based; 0 means the whole file."""

    path: str
    line: int
    col: int
    message: str

    @property
    def place(self) -> str:
        """``path:line:col``, or the path alone where the whole file is meant."""
        return f"{self.path}:{self.line}:{self.col}" if self.line else self.path

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class GoldenFileError(AueporaError):
    """A golden file is wrong.  ``problems`` lists every complaint found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class UnknownNameError(AueporaError, LookupError):
    """A name nobody registered; the message names near ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        shown = repr(name) if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]!r}…"
        super().__init__(f"unknown {kind} {shown}{did_you_mean(name, known)}")


class MetricError(AueporaError, ValueError):
    """A metric got an option it cannot work with (``k=0``, an unknown gain, …), or its own aggregate failed."""


class ThresholdError(AueporaError, ValueError):
    """A gate that cannot be read (``NaN``, ``"about 0.8"``) or that matches nothing."""


class BaselineError(AueporaError):
    """A baseline file that cannot be read or written."""


class NotWrittenError(AueporaError):
    """A file that cannot be written, or that another run has been writing for too long; the message names it."""


class HistoryError(AueporaError):
    """Stored runs that cannot be read or written; the message never holds a password."""


class UnknownRunError(HistoryError, LookupError):
    """No stored run is called that, or several are; the message names near ones."""


class NotComparableError(AueporaError):
    """Two runs that say nothing about each other; the message says what is in the way."""


ACCEPTED_SHAPES = "accepted: "
"""Begins the line of an error that lists the shapes of systems or answers that are read."""


class OutputShapeError(AueporaError, TypeError):
    """The RAG answered with something that is not an answer; the message shows what came and what is accepted."""


class SystemShapeError(AueporaError, TypeError):
    """What should be a RAG system is none; the message shows what came and what is accepted."""


class CorpusError(AueporaError):
    """What should be the chunks of a corpus is none, is empty, or cannot be read."""


class NotMeasuredError(AueporaError):
    """A score that is n/a or an error was used as a number."""


class NotRecordedError(AueporaError):
    """What is asked for is not in the recording of an old run; the message says what, and why not."""


class RecordedError(AueporaError):
    """What a system raised when its outputs were recorded."""


class CallTimeoutError(AueporaError, TimeoutError):
    """The RAG did not answer within the time allowed."""


class MissingExtraError(AueporaError, ImportError):
    """An optional dependency is not installed; the message holds the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra that is not installed: pip install 'pytest-auepora[{extra}]'")


class UnsendableError(AueporaError, TypeError):
    """Something that cannot be sent to another process; the message names it."""


class LostWorkError(AueporaError):
    """A worker process died, and its samples were not measured; the message names them."""
