"""Data sets and recorded outputs in JSON Lines and Parquet, read bit by bit; places in complaints stay right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.dataset import EvaluationDataset
from ..core.types import EvaluationSample
from ..errors import GoldenFileError, Problem, did_you_mean
from .golden.model import GoldenCase, GoldenSuite
from .json_lines import LINES, line_blocks, load_lines, refusal
from .jsonl import read_samples
from .parquet import as_lines, iter_rows, row_count
from .source import Source


def is_parquet(path: Path) -> bool:
    """Whether the name of the file says that it is Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def row_blocks(path: Path, as_text: Callable[[list[dict[str, Any]]], str]) -> Iterator[Source]:
    """Yield the rows of a Parquet file, some hundreds at a time, as the JSON Lines that *as_text* makes of them.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        AueporaError: the file is no Parquet.
    """
    rows, before = iter_rows(path, LINES), 0
    while some := list(islice(rows, LINES)):
        yield Source(str(path), as_text(some), before)
        before += len(some)


class FileDataset(EvaluationDataset):
    """A data set that is read from its file whenever it is gone through; a few hundred samples are held at a time.

    What is wrong with a sample is told (`GoldenFileError`, with its place) when it is reached.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._length: int | None = None

    def __iter__(self) -> Iterator[EvaluationSample]:
        blocks = line_blocks(self._path)
        if is_parquet(self._path):
            blocks = row_blocks(self._path, lambda rows: as_lines(rows, self._path))
        for block in blocks:
            yield from read_samples(block)

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

    Args:
        path: the file.
        name: what the data set is called; the stem of the file by default.

    Raises:
        GoldenFileError: the file is not there.
    """
    path = Path(path)
    if not path.is_file():
        raise refusal(path, "cannot be read: " + ("it is no file" if path.exists() else "there is no such file"))
    return FileDataset(path, name if name is not None else path.stem)


_ID_KEYS = ("id", "case_id", "sample_id")
_RUNS = (".run", ".trec", ".txt")
_NAMES = ("topic", "query_id")
"""Keys of a case's metadata under which imports keep names that no id of a case can be."""
_MOST = 50
"""How many complaints are told; the hundred thousandth line is rarely wrong in another way than the first."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded for a case: everything but its id."""

    case: GoldenCase
    raw: dict[str, Any]


def read_recorded(path: Path, suite: GoldenSuite) -> Iterator[Recorded]:
    """Yield what the file says about the cases of *suite*, in its order.

    ``.parquet``, a run of TREC (``.run``, ``.trec``, ``.txt``; topics that the suite has not do not count), else JSON
    Lines.

    Nothing more is yielded after something wrong, but the rest is still looked through.

    Raises:
        GoldenFileError: at the end: what is wrong with the file, each complaint with its place.
        AueporaError: the file is no Parquet.
    """
    if path.suffix.lower() in _RUNS:
        yield from _of_run(path, suite)
        return
    known = {case.id: case for case in suite.cases}
    for case in suite.cases:  # also by the names that imports keep beside ids of cases: "q::1" is q-1
        for name in filter(None, map(case.sample.metadata.get, _NAMES)):
            known.setdefault(str(name), case)
    problems: list[Problem] = []
    more = 0
    seen: set[str] = set()
    for block in row_blocks(path, _as_lines) if is_parquet(path) else line_blocks(path):
        read = list(_records(block, suite, known, seen, told=len(problems)))
        room = _MOST - len(problems)
        problems += sorted(block.problems[:_MOST], key=lambda p: (p.line, p.col))[:room]
        more += max(0, len(block.problems) - room)
        if not problems:
            yield from read
    if not seen and not problems:
        problems.append(Problem(str(path), 0, 0, "is empty"))
    if more:
        problems.append(Problem(str(path), 0, 0, f"{more:,} more complaints"))
    if problems:
        raise GoldenFileError(problems)


def _of_run(path: Path, suite: GoldenSuite) -> Iterator[Recorded]:
    from .importers.trec import read_run

    found = read_run(path)
    matched = False
    for case in suite.cases:
        names = map(str, (*filter(None, map(case.sample.metadata.get, _NAMES)), case.id))
        if (topic := next((name for name in names if name in found), None)) is not None:
            matched = True
            yield Recorded(case, {"answer": "", "documents": found[topic]})
    if not matched:
        topics = ", ".join(map(repr, list(found)[:3])) or "nothing"
        raise refusal(path, f"{suite.path.name} has none of its topics as a case: {topics}")


def _records(
    block: Source, suite: GoldenSuite, known: Mapping[str, GoldenCase], seen: set[str], told: int
) -> Iterator[Recorded]:
    for raw in load_lines(block):
        key = next((k for k in _ID_KEYS if k in raw), None)
        case_id = raw.get(key) if key is not None else None
        if not isinstance(case_id, str):
            block.bad_whole(raw, "no id: which case is this the output of?")
        elif case_id not in known:
            near = did_you_mean(case_id, known) if told + len(block.problems) < _MOST else ""
            block.bad(raw, key, f"{suite.path.name} has no case {case_id!r}{near}")
        elif (case := known[case_id]).id in seen:
            block.bad(raw, key, f"{case_id!r} is there twice")
        else:
            seen.add(case.id)
            yield Recorded(case, {k: v for k, v in raw.items() if k != key})


def _as_lines(rows: list[dict[str, Any]]) -> str:
    """Leave out what is null; text that is a JSON list or mapping is taken for what it says, but for answers."""
    said = ({k: v if k == "answer" else _cell(v) for k, v in row.items() if v is not None} for row in rows)
    return "\n".join(json.dumps(row, ensure_ascii=False, default=str) for row in said)


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
