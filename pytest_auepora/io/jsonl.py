"""Data sets as JSON Lines, the plain form of the framework's specification: one `EvaluationSample` a line."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..core.dataset import EvaluationDataset, InMemoryDataset
from ..core.types import Document, EvaluationSample, Response
from ..errors import AueporaError, did_you_mean
from .golden.kinds import BAD, Field, FieldType, Free, ListOf, Record, Text
from .json_lines import load_lines
from .source import Source

__all__ = ["load_jsonl_dataset", "read_samples", "save_jsonl_dataset"]


class _AnyText(FieldType):
    """A text, blank or not."""

    expected = "text"

    def parse(self, value: Any) -> Any:
        return value if isinstance(value, str) else BAD


class _Built(FieldType):
    """A mapping read as an object of *cls*."""

    def __init__(self, cls: type[Any], record: Record) -> None:
        self.cls, self.record = cls, record
        self.expected = f"a mapping with {', '.join(record.fields)}"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, holder, key, source)
        said = self.record.read_or_bad(value, source)
        return BAD if said is BAD else self.cls(**said)


class _Maybe(FieldType):
    """The same, or null."""

    def __init__(self, kind: FieldType) -> None:
        self.kind = kind

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        return None if value is None else self.kind.read(value, holder, key, source)


class _Sample(Record):
    """A sample; keys nobody knows are left alone unless they look like a slip."""

    def _unknown(self, value: Any, name: Any, source: Source) -> str:
        if near := did_you_mean(name, self.fields):
            source.bad_key(value, name, f"unknown key {name!r}{near}")
        return near


_DOCUMENT = Record(
    "a document",
    Field("doc_id", Text(), "Its id.", required=True),
    Field("text", _AnyText(), "What it says."),
    Field("metadata", Free(), "Anything else."),
)
_ANSWER = Record(
    "an answer",
    Field("text", _AnyText(), "What it says.", required=True),
    Field("structured", _Maybe(Free()), "The same as data."),
    Field("metadata", Free(), "Anything else."),
)
_DOCUMENTS = _Maybe(ListOf(_Built(Document, _DOCUMENT)))
_SAMPLE = _Sample(
    "a sample",
    Field("sample_id", Text(), "Its id.", required=True),
    Field("query", _AnyText(), "The question.", required=True),
    Field("relevant_docs", _DOCUMENTS, "What should be found."),
    Field("candidate_docs", _DOCUMENTS, "What there was to choose from."),
    Field("reference_answer", _Maybe(_Built(Response, _ANSWER)), "The right answer."),
    Field("labels", Free(), "What robustness and assertion metrics read."),
    Field("metadata", Free(), "Anything else."),
)


def load_jsonl_dataset(path: str | Path, name: str | None = None) -> InMemoryDataset:
    """Read a data set: one JSON object a line with the attributes of `EvaluationSample`; blank lines are skipped.

    Args:
        path: the file.
        name: what the data set is called; the stem of the file by default.

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
    samples = []
    for value in load_lines(source):
        before = len(source.problems)
        said = _SAMPLE.read_mapping(value, source)
        if len(source.problems) == before:
            samples.append(EvaluationSample(**said))
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
        data = {key: value for key, value in asdict(sample).items() if value is not None}
        try:
            lines.append(json.dumps(data, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        except (TypeError, ValueError) as exc:
            raise AueporaError(f"sample {sample.sample_id!r} cannot be written as JSON: {exc}") from None
    Path(path).write_bytes(b"".join(lines))
