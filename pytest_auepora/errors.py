"""Every error that this package raises on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .base.complaints import Problem, cut_lines

if TYPE_CHECKING:
    from typing_extensions import Self


def _made_again(kind: type[AueporaError], args: tuple[object, ...]) -> AueporaError:
    error = kind.__new__(kind)
    error.args = args  # which an OSError takes from its __init__ alone
    return error


class AueporaError(Exception):
    """Base of every error raised on purpose by this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it as it is: what it was made of may be more, or other, than its message."""
        return _made_again, (type(self), self.args), vars(self)

    def __str__(self) -> str:
        return cut_lines(super().__str__())


class AueporaWarning(UserWarning):
    """Something in a golden file is most likely not meant so, such as a threshold that cannot fail."""


class GoldenFileError(AueporaError):
    """A golden file is wrong.  ``problems`` lists every complaint found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class UnknownNameError(AueporaError, LookupError):
    """A name nobody registered; the message names near ones."""


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


class ShapeError(AueporaError, TypeError):
    """Something has a shape that is not read; ``accepted`` lists those that are, where the message does not."""

    def __init__(self, message: str, accepted: str = "") -> None:
        super().__init__(message)
        self.accepted = accepted

    @property
    def message(self) -> str:
        """What came, without what is accepted."""
        return super().__str__()

    def at(self, place: str) -> Self:
        """Return the same error, its message with *place* before it."""
        return type(self)(f"{place}: {self.message}", self.accepted)

    def __str__(self) -> str:
        return f"{self.message}\naccepted: {self.accepted}" if self.accepted else self.message


class OutputShapeError(ShapeError):
    """The RAG answered with something that is not an answer; the message shows what came and what is accepted."""


class SystemShapeError(ShapeError):
    """What should be a RAG system is none; the message shows what came and what is accepted."""


class NoGeneratorError(SystemShapeError):
    """The generator of *system* cannot be called apart; the message says *why*, and in its second line what to give."""

    def __init__(self, system: str, why: str) -> None:
        super().__init__(
            f"{system}: its generator cannot be called apart: {why}\n"
            "give (retriever, generator) in its place, a function with a parameter documents=None that retrieves only "
            "where none are given, or a chain, query engine or pipeline whose retriever is a part of its own"
        )


class NoRetrieverError(SystemShapeError):
    """The retriever of *system* cannot be called apart; the message says *why*, and in its second line what to give."""

    def __init__(self, system: str, why: str) -> None:
        super().__init__(
            f"reuse: generator: {system}: its retriever cannot be called apart: {why}\n"
            "give (retriever, generator) in its place, or a chain, query engine or pipeline whose retriever is a part "
            "of its own"
        )


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
