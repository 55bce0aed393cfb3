"""Data sets and recorded outputs in JSON Lines and Parquet, read in blocks; messages keep the lines of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from ..base.complaints import Problem
from ..core.dataset import EvaluationDataset
from ..core.types import EvaluationSample
from .golden.model import GoldenCase, GoldenSuite
from .json_lines import load_lines
from .jsonl import read_samples
from .parquet import as_lines, iter_rows, row_count
from .source import Source, describe, line_blocks, refusal

BLOCK_ROWS = 256
"""Rows of a Parquet file that are read at a time."""


def is_parquet(path: Path) -> bool:
    """Whether the name of the file says that it is Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def _blocks_of(path: Path, *texts: str) -> Iterator[Source]:
    """Yield the lines of a file, or the rows of Parquet as JSON Lines, `BLOCK_ROWS` at a time.

    In the columns *texts* of Parquet no JSON is looked for.  The blocks share their problems.  Raises as
    `load_parquet_dataset` does.
    """
    if not is_parquet(path):
        yield from line_blocks(path)
        return
    problems: list[Problem] = []
    rows, lines_before = iter_rows(path, BLOCK_ROWS), 0
    while batch := list(islice(rows, BLOCK_ROWS)):
        yield Source(str(path), as_lines(batch, texts), lines_before, problems)
        lines_before += len(batch)


class FileDataset(EvaluationDataset):
    """A data set read from its file at each iteration; a few hundred samples are in memory at a time.

    A problem of a sample is raised (`GoldenFileError`, with its place) when the sample is reached.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._length: int | None = None

    def __iter__(self) -> Iterator[EvaluationSample]:
        return chain.from_iterable(map(read_samples, _blocks_of(self._path, "sample_id", "query")))

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._name

    def __len__(self) -> int:
        """Count the samples, once; of JSON Lines, the lines that are not blank."""
        if self._length is None:
            if is_parquet(self._path):
                self._length = row_count(self._path)
            else:
                self._length = sum(1 for block in line_blocks(self._path) for line in block.lines if line.strip())
        return self._length


def open_dataset(path: str | Path, name: str | None = None) -> FileDataset:
    """Return a data set too large for the memory: ``.parquet`` as `load_parquet_dataset` reads it, else JSON Lines.

    It is called *name*, by default the stem of the file.

    Raises:
        GoldenFileError: the file is not there.
    """
    path = Path(path)
    if not path.is_file():
        raise refusal(path, "cannot be read: " + ("it is no file" if path.exists() else "there is no such file"))
    return FileDataset(path, name if name is not None else path.stem)


_ID_KEYS = ("id", "case_id", "sample_id")
_RUN_SUFFIXES = (".run", ".trec", ".txt")
_NAME_KEYS = ("topic", "query_id")
"""Keys of a case's metadata under which imports keep names that cannot be case ids."""


class RecordedCase(NamedTuple):
    """The recorded output of a case, without its id."""

    case: GoldenCase
    raw: dict[str, Any]


def read_recorded(path: Path, suite: GoldenSuite) -> Iterator[RecordedCase]:
    """Yield the recorded outputs of the cases of *suite*, in the order of the file.

    ``.parquet``, a run of TREC (``.run``, ``.trec``, ``.txt``; topics that are not in the suite are ignored), else JSON
    Lines.  Nothing more is yielded after a problem, but the rest is still checked.

    Raises:
        GoldenFileError: at the end: all problems of the file, with their places.
        AueporaError: the file is no Parquet.
    """
    if path.suffix.lower() in _RUN_SUFFIXES:
        yield from _read_trec_run(path, suite)
        return
    cases_by_name = {case.id: case for case in suite.cases}
    for case in suite.cases:  # also by the names that imports keep in the metadata: "q::1" is q-1
        for name in filter(None, map(case.sample.metadata.get, _NAME_KEYS)):
            cases_by_name.setdefault(str(name), case)
    case_ids: set[str] = set()
    block = Source(str(path), "")
    for block in _blocks_of(path, "answer"):
        records = list(_records(block, suite, cases_by_name, case_ids))
        if not block.problems:
            yield from records
    if not case_ids and not block.problems:
        block.report_at(0, 0, "is empty")
    if block.problems:
        raise block.error()


def _read_trec_run(path: Path, suite: GoldenSuite) -> Iterator[RecordedCase]:
    from .importers.trec import read_run

    documents_by_topic = read_run(path)
    matched = False
    for case in suite.cases:
        names = map(str, (*filter(None, map(case.sample.metadata.get, _NAME_KEYS)), case.id))
        if (topic := next((name for name in names if name in documents_by_topic), None)) is not None:
            matched = True
            yield RecordedCase(case, {"answer": "", "documents": documents_by_topic[topic]})
    if not matched:
        topics = ", ".join(map(repr, list(documents_by_topic)[:3])) or "nothing"
        raise refusal(path, f"{suite.path.name} has none of its topics as a case: {topics}")


def _records(
    block: Source, suite: GoldenSuite, cases_by_name: Mapping[str, GoldenCase], case_ids: set[str]
) -> Iterator[RecordedCase]:
    for line, raw in load_lines(block).items():
        key = next((k for k in _ID_KEYS if k in raw), None)
        case_id = raw.get(key) if key is not None else None
        if type(case_id) is int:
            case_id = str(case_id)
        if case_id is None:
            block.report((line,), "no id: which case is this the output of?")
        elif not isinstance(case_id, str):
            block.report((line, key), f"an id is text or a whole number, got {describe(case_id)}")
        elif case_id not in cases_by_name:
            hint = block.suggest_case(case_id, cases_by_name)
            block.report((line, key), f"{suite.path.name} has no case {case_id!r}{hint}")
        elif (case := cases_by_name[case_id]).id in case_ids:
            block.report((line, key), f"{case_id!r} is there twice")
        else:
            case_ids.add(case.id)
            yield RecordedCase(case, {k: v for k, v in raw.items() if k != key})
