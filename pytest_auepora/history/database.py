"""Databases of a history: a SQLite file, or a server by URL.  Both run the same statements.

Statements have named parameters (``:run_id``), which the standard library and SQLAlchemy both read.  Every
transaction opens its own connection, so that threads and forked processes need no care.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from ..base.http import mask, mask_url, mask_urls, url_secrets
from ..errors import HistoryError, MissingExtraError
from .settings import make_folder

BUSY_SECONDS = 30.0
"""How long a writer waits for another before it gives up."""

_WRITE_PRAGMAS = (
    "page_size=2048",  # bytes, for a new file: rows are a few thousand, and what a row leaves of its page is lost
    "auto_vacuum=FULL",  # likewise: pruning makes the file smaller
    "journal_mode=WAL",  # without shared memory the file system keeps the default journal: as safe, but readers wait
    "synchronous=NORMAL",
)

Row = tuple[Any, ...]


class Execute(Protocol):
    """What an open transaction is used with."""

    def __call__(self, sql: str, /, rows: Sequence[Mapping[str, Any]] = ..., **params: Any) -> list[Row]:
        """Run a statement with the named *params* and return the rows that it finds; or once for each of *rows*."""


def blob(value: Any) -> bytes:
    """Return a column of bytes, of whatever type the driver has for them; raises TypeError where it is none."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"bytes are wanted, found {type(value).__name__}")
    return bytes(value)


class SqliteFile:
    """A SQLite file; readers go on during writes, and a writer that is killed changes nothing.

    ``name`` is for messages; ``column_types`` are those of columns for ``long_text`` and ``long_bytes``.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self.column_types = {"long_text": "TEXT", "long_bytes": "BLOB"}

    def exists(self) -> bool:
        """Whether there is such a file."""
        try:
            return self.path.is_file()
        except OSError as exc:
            raise HistoryError(f"{self.name}: cannot be read: {exc.strerror or exc}") from exc

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Execute]:
        """Run statements together: all of them, or none if the block raises or the process dies.

        *write* takes the file's lock at the start.

        Raises:
            HistoryError: the database cannot be opened, read or written.
        """
        try:
            if write:
                self._make_file()
            with closing(self._connect(write)) as connection, connection:  # which commits, or rolls back
                for pragma in _WRITE_PRAGMAS if write else ():
                    with suppress(sqlite3.OperationalError):  # locked: by one who makes the file, and sets the same
                        connection.execute(f"PRAGMA {pragma}")
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")

                def execute(sql: str, /, rows: Sequence[Mapping[str, Any]] = (), **params: Any) -> list[Row]:
                    cursor = connection.executemany(sql, rows) if rows else connection.execute(sql, params)
                    return cursor.fetchall()

                yield execute
        except (sqlite3.Error, UnicodeDecodeError) as exc:  # the latter if the message of SQLite cannot be decoded
            raise HistoryError(f"{self.name}: {_error_message(exc)}") from exc
        except OSError as exc:
            raise HistoryError(f"{self.name}: cannot be written: {exc.strerror or exc}") from exc

    def _connect(self, write: bool) -> sqlite3.Connection:
        if not write and not os.access(self.path.parent, os.W_OK) and not Path(f"{self.path}-wal").exists():
            # SQLite creates files next to it even to read it; nobody else can change it here
            return sqlite3.connect(f"{self.path.resolve().as_uri()}?immutable=1", uri=True, isolation_level=None)
        return sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)

    def _make_file(self) -> None:
        make_folder(self.path.parent)
        if not self.path.exists():  # answers are private; other files of SQLite get the same mode
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))


def _error_message(error: Exception) -> str:
    text = str(error)
    if "not a database" in text:
        return "is not a history: it is another file, or it is damaged; move it away"
    if "locked" in text:
        return f"another run has been writing it for {BUSY_SECONDS:g} s"
    return text


class ServerDatabase:
    """A database that SQLAlchemy reaches by URL; nothing is opened yet, and ``name`` never holds a password.

    Raises:
        MissingExtraError: SQLAlchemy is not installed.
        HistoryError: the driver is not installed, or the URL is invalid.
    """

    def __init__(self, url: str) -> None:
        self._secrets = url_secrets(url)
        self.name = str(mask(mask_url(url), self._secrets))  # a slip may repeat a password in another place
        try:
            import sqlalchemy
            from sqlalchemy.pool import NullPool
        except ModuleNotFoundError:
            raise MissingExtraError(f"a history at {self.name}", "history-server") from None
        try:
            self._engine = sqlalchemy.create_engine(url, poolclass=NullPool)
        except ModuleNotFoundError as exc:
            raise HistoryError(f"{self.name}: its driver is not installed: pip install {exc.name}") from None
        except (sqlalchemy.exc.ArgumentError, ValueError):  # whose text may hold a piece of the password
            expected = "dialect+driver://user:password@host:port/database, reserved characters as %XX"
            raise HistoryError(f"{self.name}: no URL of a database: expected {expected}") from None
        self._text, self._error = sqlalchemy.text, sqlalchemy.exc.SQLAlchemyError
        dialect = self._engine.dialect.name
        self.column_types = {
            "long_text": "LONGTEXT" if dialect in ("mysql", "mariadb") else "TEXT",  # MySQL's TEXT ends at 64 KB
            "long_bytes": {"mysql": "LONGBLOB", "mariadb": "LONGBLOB", "postgresql": "BYTEA"}.get(dialect, "BLOB"),
        }

    def exists(self) -> bool:
        """Always True: a query shows whether the server has tables."""
        return True

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Execute]:  # noqa: ARG002 - servers detect writes
        """Run statements together, see `SqliteFile.transaction`."""
        try:
            with self._engine.begin() as connection:

                def execute(sql: str, /, rows: Sequence[Mapping[str, Any]] = (), **params: Any) -> list[Row]:
                    result = connection.execute(self._text(sql), rows or params)
                    return [tuple(row) for row in result] if result.returns_rows else []

                yield execute
        except self._error as exc:
            raise HistoryError(f"{self.name}: {self._masked(getattr(exc, 'orig', None) or exc)}") from None

    def _masked(self, error: object) -> str:
        return str(mask(mask_urls(str(error)), self._secrets))
