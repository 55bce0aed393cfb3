"""Golden files and data sets as JSON Lines.

A *golden file* has the keys of the YAML form: its first line may hold those of the file, every other line is one
case.  A *data set* (`load_jsonl_dataset`) is the plain form of the framework's specification: one
`EvaluationSample` a line, without gates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..core.dataset import EvaluationDataset, InMemoryDataset
from ..core.types import Document, EvaluationSample, Response
from ..errors import AueporaError, did_you_mean
from ..metrics.registry import Registry
from .golden.containers import Field, ListOf, Record, table
from .golden.fields import HEADER
from .golden.kinds import BAD, Free, Kind, Text
from .golden.model import GoldenSuite
from .golden.suite import build_suite
from .json_lines import load_lines
from .line_blocks import Block, line_blocks
from .source import MAX_BYTES, Source

__all__ = ["load_golden_jsonl", "load_jsonl_dataset", "read_samples", "save_jsonl_dataset"]


def load_golden_jsonl(path: Path, registry: Registry, *, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read a golden file, some lines at a time; see `golden.load_golden`.

    The first line is about the whole file if it has neither ``id`` nor ``query``.
    """
    blocks = line_blocks(path, max_bytes, "have it scored by `auepora score`, or give load_golden a higher max_bytes")
    source = _first(path, blocks)
    cases = list(load_lines(source))
    raw: dict[str, Any] = {}
    if cases and not {"id", "query"} & cases[0].keys():
        raw = cases.pop(0)
    said = HEADER.read_mapping(raw, source)
    return build_suite(source, registry, path=path, raw=raw, said=said, cases=_cases(source, cases, blocks, bool(raw)))


def _first(path: Path, blocks: Iterable[Block]) -> Block:
    """Return the first block with more than blank lines, after all that are blank: places in it are the file's."""
    blank = ""
    for block in blocks:
        if not block.text.isspace():
            return Block(str(path), blank + block.text)
        blank += block.text
    return Block(str(path), "")


def _cases(source: Block, cases: list[Any], blocks: Iterable[Block], headed: bool) -> Iterator[tuple[Block, list[Any]]]:
    """Yield the cases of each block of a file, *source* being its first."""
    yield source, cases
    some = bool(cases)
    for block in blocks:
        with block:
            yield block, (more := list(load_lines(block)))
            some = some or bool(more)
    if not some and not source.problems:
        what = "there are no cases; a golden file without any would pass whatever happens" if headed else "is empty"
        source.complain(0, 0, what)


class _AnyText(Kind):
    """A text, blank or not."""

    expected = "text"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        return value if isinstance(value, str) else self.refuse(value, holder, key, source)


class _Built(Kind):
    """A mapping read as an object of *cls*; null where *optional*."""

    def __init__(self, cls: type[Any], record: Record, *, optional: bool = False) -> None:
        self.cls, self.record, self.optional = cls, record, optional
        self.expected = f"a mapping with {', '.join(record.fields)}"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if value is None and self.optional:
            return None
        if not isinstance(value, dict):
            return self.refuse(value, holder, key, source)
        said = self.record.read_sound(value, source)
        return BAD if said is BAD else self.cls(**said)


class _Maybe(Kind):
    """The same, or null."""

    def __init__(self, kind: Kind) -> None:
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
    table(
        Field("doc_id", Text(), "Its id.", required=True),
        Field("text", _AnyText(), "What it says."),
        Field("metadata", Free(), "Anything else."),
    ),
)
_ANSWER = Record(
    "an answer",
    table(
        Field("text", _AnyText(), "What it says.", required=True),
        Field("structured", _Maybe(Free()), "The same as data."),
        Field("metadata", Free(), "Anything else."),
    ),
)
_DOCUMENTS = _Maybe(ListOf(_Built(Document, _DOCUMENT)))
_SAMPLE = _Sample(
    "a sample",
    table(
        Field("sample_id", Text(), "Its id.", required=True),
        Field("query", _AnyText(), "The question.", required=True),
        Field("relevant_docs", _DOCUMENTS, "What should be found."),
        Field("candidate_docs", _DOCUMENTS, "What there was to choose from."),
        Field("reference_answer", _Built(Response, _ANSWER, optional=True), "The right answer."),
        Field("labels", Free(), "What robustness and assertion metrics read."),
        Field("metadata", Free(), "Anything else."),
    ),
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
    for value in list(load_lines(source)):
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
    import json

    lines = []
    for sample in dataset:
        data = {key: value for key, value in asdict(sample).items() if value is not None}
        try:
            lines.append(json.dumps(data, ensure_ascii=False, allow_nan=False).encode() + b"\n")
        except (TypeError, ValueError) as exc:
            raise AueporaError(f"sample {sample.sample_id!r} cannot be written as JSON: {exc}") from None
    Path(path).write_bytes(b"".join(lines))
