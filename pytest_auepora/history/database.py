"""Databases of a history: a SQLite file, or a server by URL.  Both run the same statements.

Statements have named parameters (``:run_id``), which the standard library and SQLAlchemy both read.  Every
transaction opens its own connection, so that threads and forked processes need no care.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ..errors import HistoryError, MissingExtraError
from .settings import is_url, make_folder

BUSY_SECONDS = 30.0
"""How long a writer waits for another before it gives up."""

_PAGE_BYTES = 16_384  # bytes

_BATCH_ROWS = 500  # rows that are sent to a server together

Row = tuple[Any, ...]
Params = Mapping[str, Any]


class Statements(Protocol):
    """An open transaction."""

    def rows(self, sql: str, params: Params | None = None) -> list[Row]:
        """Run a query and return all its rows."""

    def run(self, sql: str, params: Params | None = None) -> None:
        """Run a statement that returns no rows."""

    def run_many(self, sql: str, params: Iterable[Params]) -> None:
        """Run a statement once per mapping of *params*, which are not all in memory at a time."""


class Database(Protocol):
    """A place for tables.

    Attributes:
        name: what messages call it; never holds a password.
        long_text: the type of a column for long texts.
        long_bytes: the same for bytes.
    """

    name: str
    long_text: str
    long_bytes: str

    def exists(self) -> bool:
        """Whether there is a database, without creating it."""

    def transaction(self, *, write: bool = False) -> AbstractContextManager[Statements]:
        """Run statements together: all of them, or none if the block raises or the process dies.

        Raises:
            HistoryError: the database cannot be opened, read or written.
        """


def open_database(place: str | os.PathLike[str]) -> Database:
    """Return the database at *place*, a path or a URL as SQLAlchemy reads it; nothing is opened yet.

    Raises:
        HistoryError: the URL cannot be read.
        MissingExtraError: it needs SQLAlchemy or a driver that is not installed.
    """
    return ServerDatabase(str(place)) if is_url(place) else SqliteFile(Path(place))


def without_password(url: str) -> str:
    """Return *url* without its password."""
    return re.sub(r"(://[^:/@\s]*:)[^@\s]*@", r"\1***@", url)


def blob(value: Any) -> bytes:
    """Return the content of a column of bytes, whatever type the driver returns.

    Raises:
        TypeError: it is not bytes.
    """
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"bytes are wanted, found {type(value).__name__}")
    return bytes(value)


class SqliteFile:
    """A SQLite file; readers go on during writes, and a writer that is killed changes nothing."""

    long_text = "TEXT"
    long_bytes = "BLOB"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def exists(self) -> bool:
        """Whether there is such a file."""
        try:
            return self.path.is_file()
        except OSError as exc:
            raise HistoryError(f"{self.name}: cannot be read: {exc.strerror or exc}") from exc

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Statements]:
        """Run statements together, see `Database.transaction`; *write* takes the file's lock at the start."""
        try:
            if write:
                self._make_file()
            with closing(self._connect(write)) as connection:
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield _SqliteStatements(connection)
                except BaseException:
                    connection.rollback()
                    raise
                connection.commit()
        except (sqlite3.Error, UnicodeDecodeError) as exc:  # the latter if the message of SQLite cannot be decoded
            raise HistoryError(f"{self.name}: {_error_message(exc)}") from exc
        except OSError as exc:
            raise HistoryError(f"{self.name}: cannot be written: {exc.strerror or exc}") from exc

    def _connect(self, write: bool) -> sqlite3.Connection:
        if not write and not os.access(self.path.parent, os.W_OK) and not Path(f"{self.path}-wal").exists():
            # SQLite creates files next to it even to read it; nobody else can change it here
            return sqlite3.connect(f"{self.path.resolve().as_uri()}?immutable=1", uri=True, isolation_level=None)
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        if not write:
            return connection
        try:
            # for a new file: with the usual page size, writing results takes twice as long
            connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum=FULL")  # likewise: pruning makes the file smaller
            # without shared memory the file system keeps the default journal: as safe, but readers wait
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_file(self) -> None:
        make_folder(self.path.parent)
        if not self.path.exists():  # answers are private; other files of SQLite get the same mode
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))


def _error_message(error: Exception) -> str:
    text = str(error)
    if "not a database" in text:
        return "is no history: something else lies there, or the file is damaged; move it away"
    if "locked" in text:
        return f"another run has been writing it for {BUSY_SECONDS:g} s"
    return text


class _SqliteStatements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, params: Params | None = None) -> list[Row]:
        return self._connection.execute(sql, params or {}).fetchall()

    def run(self, sql: str, params: Params | None = None) -> None:
        self._connection.execute(sql, params or {})

    def run_many(self, sql: str, params: Iterable[Params]) -> None:
        self._connection.executemany(sql, params)


class ServerDatabase:
    """A database that SQLAlchemy reaches by URL.

    Raises:
        MissingExtraError: SQLAlchemy is not installed.
        HistoryError: the driver is not installed, or the URL is invalid.
    """

    def __init__(self, url: str) -> None:
        self.name = without_password(url)
        try:
            import sqlalchemy
            from sqlalchemy.pool import NullPool
        except ModuleNotFoundError:
            raise MissingExtraError(f"a history at {self.name}", "history-server") from None
        try:
            self._engine = sqlalchemy.create_engine(url, poolclass=NullPool)
        except ModuleNotFoundError as exc:
            raise HistoryError(f"{self.name}: its driver is not installed: pip install {exc.name}") from None
        except sqlalchemy.exc.ArgumentError as exc:
            raise HistoryError(f"{self.name}: no URL of a database: {without_password(str(exc))}") from None
        self._text, self._error = sqlalchemy.text, sqlalchemy.exc.SQLAlchemyError
        # MySQL's TEXT ends at 64 KB
        dialect = self._engine.dialect.name
        self.long_text = "LONGTEXT" if dialect in ("mysql", "mariadb") else "TEXT"
        self.long_bytes = {"mysql": "LONGBLOB", "mariadb": "LONGBLOB", "postgresql": "BYTEA"}.get(dialect, "BLOB")

    def exists(self) -> bool:
        """Always True: a query shows whether the server has tables."""
        return True

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Statements]:  # noqa: ARG002 - servers detect writes
        """Run statements together, see `Database.transaction`."""
        try:
            with self._engine.begin() as connection:
                yield _ServerStatements(connection, self._text)
        except self._error as exc:
            message = str(getattr(exc, "orig", None) or exc)
            raise HistoryError(f"{self.name}: {without_password(message)}") from exc


class _ServerStatements:
    def __init__(self, connection: Any, text: Any) -> None:
        self._connection, self._text = connection, text

    def rows(self, sql: str, params: Params | None = None) -> list[Row]:
        return [tuple(row) for row in self._connection.execute(self._text(sql), params or {})]

    def run(self, sql: str, params: Params | None = None) -> None:
        self._connection.execute(self._text(sql), params or {})

    def run_many(self, sql: str, params: Iterable[Params]) -> None:
        rest = iter(params)
        while batch := list(islice(rest, _BATCH_ROWS)):
            self._connection.execute(self._text(sql), batch)
