"""Data sets as JSON Lines, the plain form of the framework's specification: one `EvaluationSample` a line."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..base.files import write_atomically
from ..core.dataset import EvaluationDataset, InMemoryDataset
from ..core.types import Document, EvaluationSample, Response
from ..errors import AueporaError
from .golden.kinds import BAD, Field, FieldType, Free, ListOf, Record, Text
from .golden.turns import ChatHistory
from .json_lines import load_lines
from .source import KeyPath, Source


class _AnyText(FieldType):
    """A text, blank or not."""

    expected = "text"

    def parse(self, value: Any) -> Any:
        return value if isinstance(value, str) else BAD


class _Nullable(FieldType):
    """A value of another type, or null."""

    def __init__(self, field_type: FieldType) -> None:
        self.field_type = field_type

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        return None if value is None else self.field_type.read(value, path, source)


class _Object(Record):
    """A mapping read as an object of *cls*."""

    def __init__(self, cls: type[Any], title: str, *fields: Field) -> None:
        super().__init__(title, *fields)
        self.cls = cls
        self.expected = f"a mapping with {', '.join(self.fields)}"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        values = self.read_record(self, value, path, source)
        return BAD if values is BAD else self.cls(**values)


class _Sample(_Object):
    """A sample; unknown keys are ignored unless they look like a typo."""

    def _report_unknown_key(self, path: KeyPath, source: Source) -> list[str]:
        return super()._report_unknown_key(path, source) if self.meant(path[-1], self.fields) else []


_METADATA = Field("metadata", Free(), "Anything else.")
_DOCUMENT = _Object(
    Document,
    "a document",
    Field("doc_id", Text(), "Its id.", required=True),
    Field("text", _AnyText(), "What it says."),
    _METADATA,
)
_ANSWER = _Object(
    Response,
    "an answer",
    Field("text", _AnyText(), "What it says.", required=True),
    Field("structured", _Nullable(Free()), "The same as data."),
    _METADATA,
)
_DOCUMENTS = _Nullable(ListOf(_DOCUMENT))
_SAMPLE = _Sample(
    EvaluationSample,
    "a sample",
    Field("sample_id", Text(), "Its id.", required=True),
    Field("query", _AnyText(), "The question.", required=True),
    Field("relevant_docs", _DOCUMENTS, "What should be found."),
    Field("candidate_docs", _DOCUMENTS, "What there was to choose from."),
    Field("reference_answer", _Nullable(_ANSWER), "The right answer."),
    Field("labels", Free(), "What robustness and assertion metrics read."),
    _METADATA,
    Field("chat_history", ChatHistory(), "What was said before the query, oldest first."),
)


def load_jsonl_dataset(path: str | Path, name: str | None = None) -> InMemoryDataset:
    """Read a data set: one JSON object a line with the attributes of `EvaluationSample`; blank lines are skipped.

    It is called *name*, by default the stem of the file.

    Raises:
        GoldenFileError: all that is wrong with the file, each complaint with its line and column.
    """
    path = Path(path)
    source = Source.load(path, instead="or read it bit by bit with open_dataset")
    return InMemoryDataset(name if name is not None else path.stem, read_samples(source))


def read_samples(source: Source) -> list[EvaluationSample]:
    """Read the lines of *source* as samples.

    Raises:
        GoldenFileError: as `load_jsonl_dataset`.
    """
    samples = [_SAMPLE.read(value, (line,), source) for line, value in load_lines(source).items()]
    if source.problems:
        raise source.error()
    return samples


def save_jsonl_dataset(dataset: EvaluationDataset, path: str | Path) -> None:
    """Write *dataset* so that `load_jsonl_dataset` gives equal samples.

    Raises:
        AueporaError: a sample holds something that is no JSON; nothing is written then.
    """
    lines = []
    for sample in dataset:
        filled = {key: value for key, value in asdict(sample).items() if value is not None}
        lines.append(f"{as_json(sample.sample_id, filled)}\n")
    write_atomically(Path(path), "".join(lines))


def as_json(sample_id: str, value: Any) -> str:
    """Return *value*, a sample or a part of it, as JSON; raises `AueporaError` where it is none."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()  # half a character is no text
    except (TypeError, ValueError) as exc:
        raise AueporaError(f"sample {sample_id!r} cannot be written as JSON: {exc}") from None
    return text
