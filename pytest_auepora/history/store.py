"""`HistoryStore`: every run that was judged, kept to be listed, loaded and compared."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..base.files import is_there
from ..base.json import dumps, encode_finite
from ..base.records import Record, read_record
from ..base.text import did_you_mean, message_of
from ..core.run import MetricInfo, Run
from ..core.scoring import Aggregate
from ..errors import HistoryError, UnknownRunError
from ..evaluation.recording import Recording
from ..regression.outcomes import GateOutcome
from ..regression.verdict import Verdict, Word, word_of
from . import tables
from .aggregates import AggregateMetrics, compute_aggregate, unmapped_cases
from .codec import CaseRow, RecordedAnswers, decode_run, decode_verdict, encode_run, encode_verdict, rows_of
from .database import Execute, Row, ServerDatabase, SqliteFile
from .settings import KEEP, KEEP_RECORDED, is_url
from .tables import StoredRun

T = TypeVar("T")

Recordings = Mapping[str, Sequence[Recording]]
"""Case id → the recorded answers, one for each repeat."""


# a list of runs reads these of each verdict: the whole of a large run takes three to eight times as long


@dataclass(slots=True)
class _Measured(Record):
    aggregates: dict[str, Aggregate] = field(default_factory=dict)


@dataclass(slots=True)
class _Judged(Record):
    gates: list[GateOutcome] = field(default_factory=list)
    regressed_cases: list[str] = field(default_factory=list)


LONGEST_NAME = 100
"""Characters of the name of a run; what is longer is cut."""

LAST = r"last(?:~(\d+))?"
"""Names of the latest run and of those before it."""


class HistoryStore:
    """The stored runs at one place.

    Args:
        place: a path, or a URL as SQLAlchemy reads it.  Nothing is created before the first run is added.
        root: of the project, which the paths of golden files are relative to.

    Raises:
        HistoryError: the URL cannot be read, or the driver it asks for is not installed.
        MissingExtraError: it needs SQLAlchemy, which is not installed.
    """

    def __init__(self, place: str | os.PathLike[str], root: str | os.PathLike[str] = ".") -> None:
        self._database = ServerDatabase(str(place)) if is_url(place) else SqliteFile(Path(place))
        self.place, self.root = os.fspath(place), Path(root)

    @property
    def name(self) -> str:
        """The place, for messages; never with a password."""
        return self._database.name

    def exists(self) -> bool:
        """Whether anything was ever stored here.

        Raises:
            HistoryError: what is here cannot be read, or is of a newer version.
        """
        return tables.has_tables(self._database)

    def add(
        self,
        run: Run,
        verdict: Verdict,
        *,
        started: datetime | None = None,
        seconds: float = 0.0,
        git_commit: str = "",
        name: str = "",
        keep: int = KEEP,
        recordings: Recordings | None = None,
        rows: Iterable[CaseRow] | None = None,
        keep_recorded: int = KEEP_RECORDED,
    ) -> str:
        """Store *run* with its *verdict* and aggregate, all of it or nothing.

        Args:
            run: what was measured.
            verdict: its verdict.
            started: when it began; now by default.
            seconds: how long it took.
            git_commit: the commit of the project.
            name: what to call the run.
            keep: how many runs of this golden file and configuration stay, this one included; 0 for all.
            recordings: the answers, each as `evaluation.recording.record` returns it.
            rows: instead, the results of *run* with their answers, encoded already.
            keep_recorded: how many of these runs keep their recordings; 0 for all.

        Returns:
            The new run's id.

        Raises:
            HistoryError: it cannot be written.
        """
        tables.ensure_tables(self._database)
        start = (started or datetime.now(timezone.utc)).astimezone(timezone.utc).isoformat(timespec="seconds")
        stored = StoredRun(
            "", start, run.suite, run.variant, run.path, git_commit, float(seconds), run.is_full, verdict.outcome,
            len(run.cases), verdict.failed_cases,
            compute_aggregate(run, unmapped=unmapped_cases(run, verdict.comparison)), run.origin,
            name.strip()[:LONGEST_NAME],
        )  # fmt: skip
        if rows is None:
            rows = rows_of(run.cases.values(), recordings or {})
        cases = verdict.comparison.cases if verdict.comparison is not None else {}
        compared = {case_id: encode_finite(case).decode() for case_id, case in cases.items()}
        with self._database.transaction(write=True) as execute:
            run_id = tables.insert_run(execute, stored, encode_run(run), encode_verdict(verdict))
            tables.insert_cases(execute, run_id, rows, compared)
            if keep > 0:
                tables.prune_runs(execute, run.suite, run.variant, run.path, keep)
            if keep_recorded > 0:
                tables.prune_recordings(execute, run.suite, run.variant, run.path, keep_recorded)
        return run_id

    def runs(
        self, limit: int | None = None, suite: str | None = None, variant: str | None = None, path: str | None = None
    ) -> list[StoredRun]:
        """Return the stored runs, latest first.

        Args:
            limit: at most so many.
            suite: only of this suite.
            variant: only of this configuration; ``""`` is the one without a name.
            path: only of this golden file of the suite, as `runs_of_file` tells.
        """
        filters = {"suite": suite, "variant": variant}
        params: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
        sql = f"SELECT {', '.join(tables.LIST_COLUMNS)} FROM eval_runs"
        if params:
            sql += f" WHERE {' AND '.join(f'{name} = :{name}' for name in params)}"
        sql += " ORDER BY run_id DESC"
        if limit is not None and path is None:
            sql, params["most"] = f"{sql} LIMIT :most", limit
        rows = self._rows(sql, **params)
        with self._explaining_damage("the list of runs"):
            runs = [tables.parse_stored_run(row) for row in rows]
        return runs if path is None else self.runs_of_file(runs, path)[:limit]

    def _rows(self, sql: str, **params: Any) -> list[Row]:
        """Return the rows of one query; none if nothing was ever stored."""
        if not self.exists():
            return []
        with self._database.transaction() as execute:
            return execute(sql, **params)

    def runs_of_file(self, runs: Sequence[StoredRun], path: str) -> list[StoredRun]:
        """Return those of *runs*, of one suite and latest first, that are of the golden file at *path*.

        A file that was moved has the runs of its former path as well: one that is gone, and had its last run before the
        first of *path*.  Where no run is of *path*, all of *runs* are returned.
        """
        paths = [run.path for run in runs]
        if path not in paths:
            return [*runs]
        first = max(i for i, other in enumerate(paths) if other == path)
        former = {other for other in {*paths} - {*paths[: first + 1]} if not is_there(self.root / other)}
        return [run for run in runs if run.path == path or run.path in former]

    @contextmanager
    def _explaining_damage(self, what: str) -> Iterator[None]:
        """Turn errors of edited or damaged content of tables into `HistoryError`."""
        try:
            yield
        except HistoryError as exc:
            if isinstance(exc, UnknownRunError) or self.name in str(exc):
                raise
            raise HistoryError(f"{self.name}: {what} cannot be read: {exc}") from None
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as exc:
            raise HistoryError(f"{self.name}: {what} cannot be read: {message_of(exc)}") from None

    def resolve(self, name: str, suite: str | None = None, variant: str | None = None, path: str | None = None) -> str:
        """Return the id of the run called *name*: an id, the beginning of one, ``last``, ``last~2`` or its own name.

        Of several runs of that name it is the latest.
        *suite*, *variant* and *path* narrow down what ``last`` means, as in `runs`.

        Raises:
            UnknownRunError: there is no such run, or several.
        """
        if match := re.fullmatch(LAST, name):
            back = int(match[1] or 0)
            runs = self.runs(back + 1, suite, variant, path)
            if len(runs) <= back:
                of_suite = (f" of {suite}" if suite else "") + (f" ({path})" if path else "")
                raise UnknownRunError(f"no run {name!r}{of_suite}: {self.name} has {len(runs) or 'none'}")
            return runs[back].run_id
        ids: list[str] = [row[0] for row in self._rows("SELECT run_id FROM eval_runs ORDER BY run_id DESC")]
        if name in ids:
            return name
        matches = [i for i in ids if name and i.startswith(name)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise UnknownRunError(f"{len(matches)} runs begin with {name!r}: {', '.join(matches[:5])}")
        sql = "SELECT run_id FROM eval_runs WHERE name = :name ORDER BY run_id DESC"
        if name and (named := self._rows(sql, name=name)):
            return str(named[0][0])
        raise UnknownRunError(f"no run {name!r} in {self.name}{did_you_mean(name, ids)}")

    def load(self, name: str, *, answers: bool = True, only: Collection[str] = (), packed: bool = False) -> Run:
        """Return a stored run; *name* as `resolve` reads it.

        Args:
            name: of the run.
            answers: without them it has no texts but those of relevant documents.
            only: the ids of the cases to read; all by default.
            packed: whether texts are unpacked when they are read, where damage then raises `HistoryError`.

        Raises:
            UnknownRunError: there is no such run.
            HistoryError: the history cannot be read.
        """
        run_id = self.resolve(name)
        with self._explaining_damage(f"run {run_id}"):
            with self._database.transaction() as execute:
                (text,) = _row(execute, run_id, "run_json")
                rows = tables.read_cases(execute, run_id, answers=answers, only=only)
            return decode_run(text, rows, packed=packed)

    def recordings(self, name: str, only: Collection[str] = ()) -> Mapping[str, list[Recording]]:
        """Return the recorded answers of a run by case, or of *only* these cases, repeats in order.

        *name* is read as by `resolve`.
        """
        run_id = self.resolve(name)
        with self._explaining_damage(f"the answers of run {run_id}"), self._database.transaction() as execute:
            return RecordedAnswers(tables.read_cases(execute, run_id, answers=True, only=only))

    def recorded(self) -> list[StoredRun]:
        """Return the runs whose answers are kept, latest first."""
        run_ids = {row[0] for row in self._rows(f"SELECT DISTINCT run_id FROM {tables.RECORDINGS}")}
        return [run for run in self.runs() if run.run_id in run_ids]

    def verdict(self, name: str) -> Verdict:
        """Return the verdict that a run got then; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        with self._explaining_damage(f"the verdict of run {run_id}"), self._database.transaction() as execute:
            (text,) = _row(execute, run_id, "verdict_json")
            return decode_verdict(text, tables.read_compared(execute, run_id))

    def measured(self, run_ids: Sequence[str]) -> dict[str, dict[str, tuple[MetricInfo, float | None]]]:
        """Return the metrics of runs as stored: run id → name → description and value."""

        def read(run: str, verdict: str) -> dict[str, tuple[MetricInfo, float | None]]:
            infos = read_record(Run, run, by_hand=False).metrics
            values = read_record(_Measured, verdict, by_hand=False).aggregates
            return {n: (infos[n], values[n].value) for n in infos if n in values}

        return self._of_each(run_ids, "metrics", read, "run_json", "verdict_json")

    def words(self, run_ids: Sequence[str]) -> dict[str, Word]:
        """Return by id how runs compared with their baselines, in a word."""

        def read(verdict: str) -> Word:
            judged = read_record(_Judged, verdict, by_hand=False)
            return word_of(judged.gates, judged.regressed_cases)

        return self._of_each(run_ids, "verdict", read, "verdict_json")

    def provenance(self, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the provenance of runs, by id."""
        read = partial(read_record, Run, by_hand=False)
        return {i: run.provenance for i, run in self._of_each(run_ids, "provenance", read, "run_json").items()}

    def _of_each(self, run_ids: Sequence[str], what: str, read: Callable[..., T], *columns: str) -> dict[str, T]:
        """Return by id what *read* makes of the *columns* of those runs that are there."""
        if not run_ids:
            return {}
        sql = f"SELECT {', '.join(columns)} FROM eval_runs WHERE run_id = :id"
        with self._database.transaction() as execute:
            rows = [(run_id, row) for run_id in run_ids for row in execute(sql, id=run_id)]
        found: dict[str, T] = {}
        for run_id, row in rows:
            with self._explaining_damage(f"the {what} of run {run_id}"):
                found[run_id] = read(*row)
        return found

    def info(self, name: str) -> StoredRun:
        """Return the entry of one run in the list of runs; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        with self._explaining_damage(f"run {run_id}"), self._database.transaction() as execute:
            return tables.parse_stored_run(_row(execute, run_id, *tables.LIST_COLUMNS))

    def aggregate(self, name: str) -> AggregateMetrics:
        """Return the stored aggregate of a run, four decimals; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        with self._explaining_damage(f"the aggregate of run {run_id}"), self._database.transaction() as execute:
            return read_record(AggregateMetrics, _row(execute, run_id, "aggregate_json")[0], by_hand=False)

    def store_aggregate(self, name: str, aggregate: AggregateMetrics) -> None:
        """Replace the stored aggregate of a run, and record when."""
        run_id, text = self.resolve(name), dumps(aggregate.to_dict())
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        sql = "UPDATE eval_runs SET aggregate_json = :text, aggregated = :now WHERE run_id = :id"
        with self._database.transaction(write=True) as execute:
            execute(sql, id=run_id, text=text, now=now)

    def describe(self, run: str, *, name: str | None = None, note: str | None = None) -> str:
        """Call a run *name*, or say *note* of it; an empty text takes it back.  Return the id.

        *run* is read as by `resolve`.
        """
        run_id = self.resolve(run)
        with self._database.transaction(write=True) as execute:
            if name is not None:
                text = name.strip()[:LONGEST_NAME]
                execute("UPDATE eval_runs SET name = :text WHERE run_id = :id", id=run_id, text=text)
            if note is not None:
                execute("UPDATE eval_runs SET note = :text WHERE run_id = :id", id=run_id, text=note.strip())
        return run_id

    def delete(self, name: str) -> str:
        """Delete a run and return its id; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        with self._database.transaction(write=True) as execute:
            tables.delete_run(execute, run_id)
        return run_id

    def prune(self, keep: int = KEEP, suite: str | None = None) -> int:
        """Keep the latest *keep* runs of every golden file and configuration, or of those of *suite*.

        Returns:
            How many runs went.

        Raises:
            ValueError: *keep* is below 1.
            HistoryError: the history cannot be written.
        """
        if keep < 1:
            raise ValueError(f"keep must be at least 1, not {keep}")
        if not self.exists():
            return 0
        with self._database.transaction(write=True) as execute:
            groups = execute("SELECT DISTINCT suite, variant, path FROM eval_runs")
            return sum(tables.prune_runs(execute, s, v, path, keep) for s, v, path in groups if suite in (None, s))


def _row(execute: Execute, run_id: str, *columns: str) -> Row:
    """Return *columns* of a run."""
    rows = execute(f"SELECT {', '.join(columns)} FROM eval_runs WHERE run_id = :id", id=run_id)
    if not rows:
        raise UnknownRunError(f"run {run_id} was deleted meanwhile")
    return rows[0]
