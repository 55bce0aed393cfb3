"""The tables of a history, in words that SQLite, PostgreSQL and MySQL share, and the version they are of."""

from __future__ import annotations

from ..errors import HistoryError
from .database import Database, Statements

__all__ = ["VERSION", "ensure_tables", "has_tables"]

VERSION = 1
"""Raised when a reader of the former tables would misread the new ones."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS auepora_meta (name VARCHAR(40) PRIMARY KEY, value VARCHAR(200) NOT NULL)",
    """CREATE TABLE IF NOT EXISTS eval_runs (
        run_id VARCHAR(40) PRIMARY KEY,
        started VARCHAR(40) NOT NULL,
        suite VARCHAR(200) NOT NULL,
        variant VARCHAR(200) NOT NULL,
        path {long_text} NOT NULL,
        git_commit VARCHAR(80) NOT NULL,
        seconds DOUBLE PRECISION NOT NULL,
        complete INTEGER NOT NULL,
        outcome VARCHAR(20) NOT NULL,
        cases INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        aggregated VARCHAR(40) NOT NULL,
        aggregate_json {long_text} NOT NULL,
        provenance {long_text} NOT NULL,
        metrics {long_text} NOT NULL,
        run_json {long_text} NOT NULL,
        verdict_json {long_text} NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS eval_query_results (
        run_id VARCHAR(40) NOT NULL,
        case_id VARCHAR(200) NOT NULL,
        repeat_index INTEGER NOT NULL,
        place INTEGER NOT NULL,
        state VARCHAR(20) NOT NULL,
        result {long_text} NOT NULL,
        PRIMARY KEY (run_id, case_id, repeat_index)
    )""",
)


def has_tables(database: Database) -> bool:
    """Whether there is a history that this version can read.

    Raises:
        HistoryError: it is of a newer version, or cannot be read.
    """
    if not database.exists():
        return False
    try:
        with database.transaction() as open_:
            return _checked(open_, database.name)
    except HistoryError as exc:
        if _lacks_tables(exc):
            return False
        raise


def ensure_tables(database: Database) -> None:
    """Make the tables where they are missing; several processes may do so at once.

    Raises:
        HistoryError: they are of a newer version, or cannot be made.
    """
    if has_tables(database):
        return
    try:
        with database.transaction(write=True) as open_:
            for table in _TABLES:
                open_.run(table.format(long_text=database.long_text))
            if not _checked(open_, database.name):
                open_.run("INSERT INTO auepora_meta (name, value) VALUES ('version', :v)", {"v": str(VERSION)})
    except HistoryError:
        if not has_tables(database):  # else another process made them in the same moment
            raise


def _checked(open_: Statements, name: str) -> bool:
    found = open_.rows("SELECT value FROM auepora_meta WHERE name = 'version'")
    if found and int(found[0][0]) > VERSION:
        raise HistoryError(
            f"{name}: a history of version {found[0][0]}, this pytest-auepora reads {VERSION}; "
            "upgrade it, or move the history away"
        )
    return bool(found)


def _lacks_tables(error: HistoryError) -> bool:
    said = str(error)
    return "auepora_meta" in said and any(word in said for word in ("no such table", "does not exist", "doesn't exist"))
