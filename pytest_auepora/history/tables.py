"""The tables of a history, in SQL that SQLite, PostgreSQL and MySQL share; writing, reading and deleting rows."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..base.json import dumps, fields_of
from ..base.records import Record, read_record
from ..core.run import Origin, run_title
from ..errors import HistoryError
from .aggregates import AggregateMetrics
from .codec import CaseRow
from .database import Execute, Row, ServerDatabase, SqliteFile, blob

RECORDINGS = "eval_recordings"
"""The table of recorded answers."""

VERSION = 9
"""Raised when the tables change; a history of another version is not read."""

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # sorts like its values; no i, l, o, u to misread
_last = 0
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class StoredRun(Record):
    """One line of the list of runs."""

    run_id: str
    """Made of the time it began."""
    started: str
    """ISO 8601 in UTC."""
    suite: str
    """Name of the golden suite."""
    variant: str
    """The configuration, or empty."""
    path: str
    """The golden file."""
    git_commit: str
    """Of the project; empty where nobody knows."""
    seconds: float
    """How long it took."""
    complete: bool
    """Whether every case of the suite ran."""
    outcome: str
    """That of its verdict."""
    cases: int
    """How many ran."""
    failed: int
    """How many cases failed or errored."""
    aggregate: AggregateMetrics = field(default_factory=AggregateMetrics)
    """As stored, four decimals."""
    origin: Origin = field(default_factory=dict)
    """As in the run: ``kind``, ``run`` and ``taken`` where answers came from an earlier run; else empty."""
    name: str = ""
    """What people call it; empty where nobody named it."""
    note: str = ""
    """What they say of it."""

    @property
    def title(self) -> str:
        """``billing`` or ``billing[bm25]``."""
        return run_title(self.suite, self.variant)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-able data."""
        return {**fields_of(self), "aggregate": self.aggregate.to_dict()}


_NUMBERS = {"int": "INTEGER", "bool": "BOOLEAN", "float": "DOUBLE PRECISION"}
_RUN_COLUMNS = {
    "aggregate_json" if f.name == "aggregate" else f.name: _NUMBERS.get(str(f.type), "{long_text}")
    for f in fields(StoredRun)
}
"""The columns of `StoredRun`, in its order, with their types in SQL; what is neither text nor number is JSON."""

LIST_COLUMNS = (*_RUN_COLUMNS,)
"""Their names."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS auepora_meta (name VARCHAR(40) PRIMARY KEY, value VARCHAR(200) NOT NULL)",
    f"""CREATE TABLE IF NOT EXISTS eval_runs (
        run_id VARCHAR(40) PRIMARY KEY,
        {", ".join(f"{column} {kind} NOT NULL" for column, kind in [*_RUN_COLUMNS.items()][1:])},
        aggregated {{long_text}} NOT NULL,
        run_json {{long_text}} NOT NULL,
        verdict_json {{long_text}} NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS eval_query_results (
        run_id VARCHAR(40) NOT NULL,
        place INTEGER NOT NULL,
        query_id {long_text} NOT NULL,
        result_json {long_text} NOT NULL,
        texts {long_bytes} NOT NULL,
        compared_json {long_text} NOT NULL,
        PRIMARY KEY (run_id, place)
    )""",
    """CREATE TABLE IF NOT EXISTS eval_recordings (
        run_id VARCHAR(40) NOT NULL,
        place INTEGER NOT NULL,
        answers {long_bytes} NOT NULL,
        PRIMARY KEY (run_id, place)
    )""",
)

_SELECT_VERSION = "SELECT value FROM auepora_meta WHERE name = 'version'"


def has_tables(database: SqliteFile | ServerDatabase) -> bool:
    """Whether there is a history; raises `HistoryError` where it cannot be read, or not by this version."""
    if not database.exists():
        return False
    try:
        with database.transaction() as execute:
            rows = execute(_SELECT_VERSION)
    except HistoryError as exc:
        reasons = ("no such table", "does not exist", "doesn't exist")
        if "auepora_meta" in str(exc) and any(reason in str(exc) for reason in reasons):
            return False
        raise
    if rows and rows[0][0] != str(VERSION):
        version = str(rows[0][0])
        upgrade = "upgrade it, or " if version.isdecimal() and int(version) > VERSION else ""
        raise HistoryError(
            f"{database.name}: a history of version {version}, this pytest-auepora reads {VERSION}; "
            f"{upgrade}move the history away"
        )
    return bool(rows)


def ensure_tables(database: SqliteFile | ServerDatabase) -> None:
    """Create missing tables, as several processes may at once; raises `HistoryError` where that fails."""
    if has_tables(database):
        return
    try:
        with database.transaction(write=True) as execute:
            for table in _TABLES:
                execute(table.format_map(database.column_types))
            if not execute(_SELECT_VERSION):  # else another process was first
                _insert(execute, "auepora_meta", {"name": "version", "value": str(VERSION)})
    except HistoryError:
        if not has_tables(database):  # else another process created them at the same time
            raise


def new_run_id() -> str:
    """Return ``YYMMDD-HHMMSS-xxyyy`` in UTC: *xx* is the millisecond, *yyy* is chance.  Ids of one process ascend."""
    global _last  # noqa: PLW0603 - what makes ids of a process ascend
    with _lock:
        _last = now = max(time.time_ns() // 1_000_000, _last + 1)
    seconds, milliseconds = divmod(now, 1000)
    chance = int.from_bytes(os.urandom(2), "big") & 0x7FFF
    number = milliseconds << 15 | chance
    suffix = "".join(_DIGITS[number >> shift & 31] for shift in (20, 15, 10, 5, 0))
    return f"{time.strftime('%y%m%d-%H%M%S', time.gmtime(seconds))}-{suffix}"


def insert_run(execute: Execute, stored: StoredRun, run_json: str, verdict_json: str) -> str:
    """Insert a run, and return the new id that it gets."""
    while execute("SELECT 1 FROM eval_runs WHERE run_id = :id", id=(run_id := new_run_id())):
        pass
    values = replace(stored, run_id=run_id).to_dict().values()
    plain = [value if isinstance(value, (str, int, float)) else dumps(value) for value in values]
    row = dict(zip(LIST_COLUMNS, plain, strict=True))
    row |= {"aggregated": stored.started, "run_json": run_json, "verdict_json": verdict_json}
    _insert(execute, "eval_runs", row)
    return run_id


def _insert(execute: Execute, table: str, *rows: Mapping[str, Any]) -> None:
    for row in rows[:1]:
        columns = f"({', '.join(row)}) VALUES ({', '.join(f':{column}' for column in row)})"
        execute(f"INSERT INTO {table} {columns}", rows)


def insert_cases(execute: Execute, run_id: str, rows: Iterable[CaseRow], compared: Mapping[str, str]) -> None:
    """Insert the cases of a run; *compared* says, as JSON, how they compare with the baseline."""
    results, recordings = [], []
    for place, row in enumerate(rows):
        key = {"run_id": run_id, "place": place}
        result = {"query_id": row.case_id, "result_json": row.result, "texts": row.texts}
        results.append({**key, **result, "compared_json": compared.get(row.case_id, "")})
        if row.answers:
            recordings.append({**key, "answers": row.answers})
    _insert(execute, "eval_query_results", *results)
    _insert(execute, RECORDINGS, *recordings)


def read_cases(execute: Execute, run_id: str, *, answers: bool, only: Collection[str] = ()) -> list[CaseRow]:
    """Return the cases of a run, or *only* those of these ids; with their *answers*, where they are kept."""
    names: dict[str, Any] = {f"name_{i}": case_id for i, case_id in enumerate(only)}
    wanted = f" AND query_id IN ({', '.join(f':{name}' for name in names)})" if names else ""
    sql = (
        f"SELECT place, query_id, result_json, texts FROM eval_query_results WHERE run_id = :id{wanted} ORDER BY place"
    )
    rows = execute(sql, id=run_id, **names)
    places: dict[str, Any] = {f"place_{i}": row[0] for i, row in enumerate(rows)} if only else {}
    wanted = f" AND place IN ({', '.join(f':{place}' for place in places)})" if places else ""
    sql = f"SELECT place, answers FROM {RECORDINGS} WHERE run_id = :id{wanted}"
    recorded = {place: blob(packed) for place, packed in (execute(sql, id=run_id, **places) if answers else ())}
    return [CaseRow(name, result, blob(texts), recorded.get(i, b"")) for i, name, result, texts in rows]


def read_compared(execute: Execute, run_id: str) -> dict[str, str]:
    """Return how the cases of a run compare with the baseline, as JSON by case."""
    rows = execute(
        "SELECT query_id, compared_json FROM eval_query_results WHERE run_id = :id ORDER BY place", id=run_id
    )
    return {case_id: compared for case_id, compared in rows if compared}


def parse_stored_run(row: Row) -> StoredRun:
    """Return a row of `LIST_COLUMNS` as `StoredRun`; raises ValueError or TypeError where it is damaged."""
    values = dict(zip((f.name for f in fields(StoredRun)), row, strict=True))
    values["complete"] = bool(values["complete"])
    values |= {name: json.loads(values[name]) for name in ("aggregate", "origin")}
    return read_record(StoredRun, dumps(values), by_hand=False)


_OF_FILE = "SELECT run_id FROM eval_runs WHERE suite = :suite AND variant = :variant AND path = :path"


def prune_runs(execute: Execute, suite: str, variant: str, path: str, keep: int) -> int:
    """Keep the latest *keep* runs of one golden file and configuration; return how many were deleted."""
    rows = execute(f"{_OF_FILE} ORDER BY run_id DESC", suite=suite, variant=variant, path=path)[keep:]
    for (run_id,) in rows:
        delete_run(execute, run_id)
    return len(rows)


def prune_recordings(execute: Execute, suite: str, variant: str, path: str, keep: int) -> None:
    """Keep the recordings of the latest *keep* of these runs that have any."""
    has_recordings = f"EXISTS (SELECT 1 FROM {RECORDINGS} AS r WHERE r.run_id = eval_runs.run_id)"
    sql = f"{_OF_FILE} AND {has_recordings} ORDER BY run_id DESC"
    for (run_id,) in execute(sql, suite=suite, variant=variant, path=path)[keep:]:
        execute(f"DELETE FROM {RECORDINGS} WHERE run_id = :id", id=run_id)


def delete_run(execute: Execute, run_id: str) -> None:
    """Delete a run and all that belongs to it."""
    for table in (RECORDINGS, "eval_query_results", "eval_runs"):
        execute(f"DELETE FROM {table} WHERE run_id = :id", id=run_id)
