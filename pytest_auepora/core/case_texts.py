"""The texts of a case result: in memory, or in a file that they are read from again.

A run keeps every result to its end, and texts take most of the memory.  When a case is over, its texts are in the
journal of the run (or in a temporary file where there is none), and the result holds their place.  Those of a stored
run may be unpacked when they are read.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from tempfile import TemporaryFile, gettempdir
from typing import IO, Annotated, Any

from typing_extensions import TypedDict  # that of Python 3.10 and 3.11 says too little of itself for pydantic

from ..base.json import encode, loads
from ..base.records import Number, ReadAs, Record
from ..errors import NotWrittenError

_READ_SIZE = 64 * 1024  # bytes that are read at once


class _WithId(TypedDict):
    id: str


class Label(_WithId, total=False):
    """A relevant label of a case."""

    doc: str
    """The document that it is of, where its id is that of a chunk."""
    grade: int
    """How relevant, from 1 on."""
    match: str
    """How it is found among the hits."""
    quote: str
    """A passage that a hit has to hold."""
    ids: list[str]
    """Further ids that count as found."""
    span: list[int]
    """First and last character in the document."""
    name: str
    """How reports and ranks call it, where that is not its id."""


class Expected(TypedDict, total=False):
    """What a case expects."""

    expect: str
    """answer, refuse or clarify."""
    relevant: list[Label]
    """The relevant documents."""
    reference: str
    """A right answer."""
    references: list[str]
    """Several right answers."""
    must_contain: list[Any]
    """What the answer has to hold."""
    forbidden: list[Any]
    """What it may not hold."""
    forbidden_docs: list[str]
    """Documents that may not be returned."""
    chat_history: list[dict[str, str]]
    """The turns before the question."""


class _Hit(_WithId, total=False):
    doc: str
    """The document that it is of, where its id is that of a chunk."""
    score: float | None
    """The score of the retriever."""
    grade: int
    """How relevant it is by the labels; 0 for not at all."""
    text: str | None
    """Its text, or the beginning."""
    cut: bool
    """Whether that is the beginning alone."""
    span: list[int]
    """First and last character in the document."""


class Outputs(TypedDict, total=False):
    """What reports show of an answer."""

    answer: str | None
    """The answer."""
    retrieved: list[_Hit]
    """What was retrieved, the best first."""
    timings: dict[str, Number]
    """Seconds of each stage."""
    refused: bool
    """Whether the system says that it refused."""
    grounded: bool
    """Whether it says that its answer is grounded."""
    citations: list[int | str]
    """What the answer cites: places in the ranking, or ids."""
    usage: list[dict[str, Any]]
    """What each call of a model took: tokens, cost."""


for _shape in (_WithId, Label, Expected, _Hit, Outputs):
    setattr(_shape, "__pydantic_config__", {  # noqa: B010
        "strict": True, "allow_inf_nan": False, "extra": "allow", "use_attribute_docstrings": True,
    })  # fmt: skip  # keys that are not named are free


@dataclass(slots=True)
class CaseTexts(Record):
    """What a case asks, what it expects, and what reports show of the answer."""

    query: str = ""
    """What is asked."""
    expected: Annotated[dict[str, Any], ReadAs(Expected)] = field(default_factory=dict)
    """What the case expects."""
    outputs: Annotated[dict[str, Any], ReadAs(Outputs)] = field(default_factory=dict)
    """What is shown of the answer: answer, retrieved (id, score, grade, text; in rank order), timings in seconds."""

    def read(self) -> CaseTexts:
        """Return the texts, as `StoredTexts.read` does."""
        return self


class TextSource(ABC):
    """Where texts are read from again; the last ones are cached, since readers ask for each part."""

    _last: tuple[int, CaseTexts] = -1, CaseTexts()

    @abstractmethod
    def read_texts(self, start: int, length: int) -> CaseTexts:
        """Read those at a place."""

    def texts(self, start: int, length: int) -> CaseTexts:
        """Return those at a place."""
        if self._last[0] != start:
            self._last = start, self.read_texts(start, length)
        return self._last[1]


class StoredTexts:
    """The place of the texts of a result in a file: ``length`` bytes of JSON from ``start``.

    A copy, also one for another process, is the texts themselves.
    """

    __slots__ = ("file", "length", "start")

    def __init__(self, file: TextSource, start: int, length: int = 0) -> None:
        self.file, self.start, self.length = file, start, length

    def read(self) -> CaseTexts:
        """Return the texts; what is changed in them is not written back."""
        return self.file.texts(self.start, self.length)

    def __reduce__(self) -> tuple[Any, ...]:
        texts = self.read()
        return CaseTexts, (texts.query, texts.expected, texts.outputs)


class ResultFile(TextSource):
    """An append-only file, ``size`` bytes long, whose parts can be read again.  For one thread.

    *file* is open for reading and writing, and empty; by default a temporary one.
    """

    def __init__(self, file: IO[bytes] | None = None) -> None:
        # unbuffered, so that a full disk is told by the write
        self._file = TemporaryFile(buffering=0) if file is None else file  # noqa: SIM115 - it lives as long as this does
        self.close = weakref.finalize(self, self._file.close)
        self.size = 0
        self._read_ahead = 0, b""

    def append(self, data: bytes) -> None:
        """Write *data* at the end; raises OSError where the disk is full."""
        if self._file.write(data) != len(data):
            raise OSError("the disk is full")
        self.size += len(data)

    def store(self, texts: CaseTexts) -> StoredTexts:
        """Write *texts*, and return their place; raises `NotWrittenError` where the disk is full."""
        data = encode(texts)
        try:
            self.append(data)
        except OSError as exc:
            raise NotWrittenError(
                f"{gettempdir()}: texts of results cannot be kept there: {exc.strerror or exc}"
            ) from exc
        return StoredTexts(self, self.size - len(data), len(data))

    def read(self, start: int, length: int) -> bytes:
        """Return *length* bytes from *start*; reads ahead, because texts are mostly read in order."""
        offset, data = self._read_ahead
        if start < offset or start + length > offset + len(data):
            self._file.seek(start)
            offset, data = self._read_ahead = start, self._file.read(max(length, _READ_SIZE))
            self._file.seek(self.size)
        return data[start - offset : start - offset + length]

    def read_texts(self, start: int, length: int) -> CaseTexts:
        """Read the texts that were written at *start*."""
        return CaseTexts(**loads(self.read(start, length)))
