"""The tables of a history, in words that SQLite, PostgreSQL and MySQL share, and the version they are of."""

from __future__ import annotations

from ..errors import HistoryError
from .database import Database, Statements

__all__ = ["VERSION", "ensure_tables", "has_tables"]

VERSION = 1
"""Raised when a reader of the former tables would misread the new ones."""

LAYOUT = 4
"""Raised when something was added to the tables; an older history gets it when it is opened."""

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
        verdict_json {long_text} NOT NULL,
        origin VARCHAR(200) DEFAULT '' NOT NULL
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
    """CREATE TABLE IF NOT EXISTS eval_recordings (
        run_id VARCHAR(40) NOT NULL,
        case_id VARCHAR(200) NOT NULL,
        repeat_index INTEGER NOT NULL,
        recording {long_text} NOT NULL,
        PRIMARY KEY (run_id, case_id, repeat_index)
    )""",
    """CREATE TABLE IF NOT EXISTS eval_recording_blocks (
        run_id VARCHAR(40) NOT NULL,
        place INTEGER NOT NULL,
        cases {long_text} NOT NULL,
        recordings {long_bytes} NOT NULL,
        PRIMARY KEY (run_id, place)
    )""",
    """CREATE TABLE IF NOT EXISTS eval_compared (
        run_id VARCHAR(40) NOT NULL,
        place INTEGER NOT NULL,
        compared {long_bytes} NOT NULL,
        PRIMARY KEY (run_id, place)
    )""",
)
"""``eval_recordings`` holds the answers of runs before layout 3, each by itself; later ones are in blocks."""

_ADDED = {2: ("ALTER TABLE eval_runs ADD COLUMN origin VARCHAR(200) DEFAULT '' NOT NULL",)}
"""What came with a layout, beside tables."""


def has_tables(database: Database) -> bool:
    """Whether there is a history that this version can read; one of an older layout is brought up to date.

    Raises:
        HistoryError: it is of a newer version, or cannot be read.
    """
    found = _layout(database)
    if 0 < found < LAYOUT:
        _write(database, found)
    return found > 0


def ensure_tables(database: Database) -> None:
    """Make the tables where they are missing; several processes may do so at once.

    Raises:
        HistoryError: they are of a newer version, or cannot be made.
    """
    if (found := _layout(database)) < LAYOUT:
        _write(database, found)


def _write(database: Database, found: int) -> None:
    try:
        with database.transaction(write=True) as open_:
            for table in _TABLES:
                open_.run(table.format(long_text=database.long_text, long_bytes=database.long_bytes))
            if _said(open_, "layout") == str(LAYOUT):
                return  # another process was first
            for statement in (s for layout, added in _ADDED.items() if 0 < found < layout for s in added):
                open_.run(statement)
            open_.run("DELETE FROM auepora_meta")
            for name, value in (("version", VERSION), ("layout", LAYOUT)):
                open_.run("INSERT INTO auepora_meta (name, value) VALUES (:n, :v)", {"n": name, "v": str(value)})
    except HistoryError:
        if _layout(database) < LAYOUT:  # else another process made them in the same moment
            raise


def _layout(database: Database) -> int:
    """Return the layout of the tables that are there; 0 where there are none."""
    if not database.exists():
        return 0
    try:
        with database.transaction() as open_:
            version = _said(open_, "version")
            if version and int(version) > VERSION:
                raise HistoryError(
                    f"{database.name}: a history of version {version}, this pytest-auepora reads {VERSION}; "
                    "upgrade it, or move the history away"
                )
            return int(_said(open_, "layout") or 1) if version else 0
    except HistoryError as exc:
        if _lacks_tables(exc):
            return 0
        raise


def _said(open_: Statements, name: str) -> str:
    found = open_.rows("SELECT value FROM auepora_meta WHERE name = :name", {"name": name})
    return str(found[0][0]) if found else ""


def _lacks_tables(error: HistoryError) -> bool:
    said = str(error)
    return "auepora_meta" in said and any(word in said for word in ("no such table", "does not exist", "doesn't exist"))
