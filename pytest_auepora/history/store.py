"""`HistoryStore`: every run that was judged, kept to be listed, loaded and compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ..core.json import dumps
from ..core.run import MetricInfo, Run
from ..core.scoring import Aggregate
from ..errors import HistoryError, UnknownRunError, did_you_mean, message_of
from ..evaluation.recording import Recording
from ..shapes import check_shape
from .aggregates import AggregateMetrics, aggregate_of, unmapped_cases
from .codec import Packing, Recorded, checked, compared_blocks, run_of, verdict_of
from .database import Row, open_database
from .settings import KEEP, KEEP_RECORDED
from .tables import (
    LISTED,
    RECORDINGS,
    StoredRun,
    blocks_of,
    delete_runs,
    ensure_tables,
    has_tables,
    keep_blocks,
    keep_recordings,
    keep_run,
    listed,
    prune_recordings,
    prune_runs,
    recordings_of,
    row_of,
)  # fmt: skip

if TYPE_CHECKING:
    from ..regression.verdict import Verdict

Recordings = Mapping[str, Sequence[Recording]]
"""By case, what was recorded of its answer at every repeat."""

LAST = r"last(?:~(\d+))?"
"""How the latest run is called, and those before it."""

_GONE = "run {} was deleted meanwhile"


class HistoryStore:
    """The stored runs at one place.

    Args:
        place: a path, or a URL as SQLAlchemy reads it.  Nothing is made before the first run is added.

    Raises:
        HistoryError: the URL cannot be read, or the driver it asks for is not installed.
        MissingExtraError: it takes SQLAlchemy, which is not installed.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._database = open_database(place)

    @property
    def name(self) -> str:
        """Where it is, for messages; never with a password."""
        return self._database.name

    def exists(self) -> bool:
        """Whether anything was ever stored here.

        Raises:
            HistoryError: what is here cannot be read, or is of a newer version.
        """
        return has_tables(self._database)

    def add(
        self,
        run: Run,
        verdict: Verdict,
        *,
        started: datetime | None = None,
        seconds: float = 0.0,
        git_commit: str = "",
        keep: int = KEEP,
        recordings: Recordings | Packing | None = None,
        keep_recorded: int = KEEP_RECORDED,
    ) -> str:
        """Store *run* with its *verdict* and aggregate, all of it or nothing.

        Args:
            run: what was measured.
            verdict: what it amounted to.
            started: when it began; now by default.
            seconds: how long it took.
            git_commit: what the project was at.
            keep: how many runs of this suite and configuration stay, this one included; 0 for all.
            recordings: the answers, each as `evaluation.recording.record` gives it; or packed already, with the results
                as they are stored.
            keep_recorded: of how many of these runs the recordings stay; 0 for all.

        Returns:
            The new run's id.

        Raises:
            HistoryError: it cannot be written.
        """
        ensure_tables(self._database)
        row = row_of(run, verdict, aggregate_of(run, unmapped=unmapped_cases(run, verdict.comparison)))
        began = (started or datetime.now(timezone.utc)).astimezone(timezone.utc).isoformat(timespec="seconds")
        row |= {"started": began, "aggregated": began, "seconds": float(seconds), "git_commit": git_commit}
        packing = recordings if isinstance(recordings, Packing) else Packing.of(run.cases.values(), recordings or {})
        with self._database.transaction(write=True) as open_:
            run_id = keep_run(open_, row)
            keep_blocks(open_, "results", run_id, packing.results())
            keep_blocks(open_, "compared", run_id, compared_blocks(verdict))
            keep_recordings(open_, run_id, packing.answers())
            if keep > 0:
                prune_runs(open_, run.suite, run.variant, keep)
            if keep_recorded > 0:
                prune_recordings(open_, run.suite, run.variant, keep_recorded)
        return run_id

    def runs(self, limit: int | None = None, suite: str | None = None, variant: str | None = None) -> list[StoredRun]:
        """Return the stored runs, latest first.

        Args:
            limit: at most so many.
            suite: only of this suite.
            variant: only of this configuration; ``""`` is the one without a name.
        """
        if not self.exists():
            return []
        given = {"suite": suite, "variant": variant}
        params: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        where = " AND ".join(f"{k} = :{k}" for k in params)
        sql = f"SELECT {', '.join(LISTED)} FROM eval_runs {f'WHERE {where} ' if where else ''}ORDER BY run_id DESC"
        if limit is not None:
            sql, params = f"{sql} LIMIT :most", {**params, "most": limit}
        with self._database.transaction() as open_:
            rows = open_.rows(sql, params)
        with self._reading("the list of runs"):
            return [listed(row) for row in rows]

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Around what reads the content of tables: somebody may have edited it, or a disk lost it."""
        try:
            yield
        except HistoryError as exc:
            if self.name in str(exc):
                raise
            raise HistoryError(f"{self.name}: {what} cannot be read: {exc}") from None
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as exc:
            raise HistoryError(f"{self.name}: {what} cannot be read: {message_of(exc)}") from None

    def resolve(self, name: str, suite: str | None = None, variant: str | None = None) -> str:
        """Return the id of the run called *name*: an id, the beginning of one, ``last``, or ``last~2``.

        *suite* and *variant* narrow down what ``last`` means.

        Raises:
            UnknownRunError: there is no such run, or several.
        """
        if match := re.fullmatch(LAST, name):
            back = int(match[1] or 0)
            found = self.runs(back + 1, suite, variant)
            if len(found) <= back:
                of = f" of {suite}" if suite else ""
                raise UnknownRunError(f"no run {name!r}{of}: {self.name} has {len(found) or 'none'}")
            return found[back].run_id
        ids = self._ids()
        if name in ids:
            return name
        near = [i for i in ids if name and i.startswith(name)]
        if len(near) == 1:
            return near[0]
        if near:
            raise UnknownRunError(f"{len(near)} runs begin with {name!r}: {', '.join(near[:5])}")
        raise UnknownRunError(f"no run {name!r} in {self.name}{did_you_mean(name, ids)}")

    def _ids(self) -> list[str]:
        if not self.exists():
            return []
        with self._database.transaction() as open_:
            return [row[0] for row in open_.rows("SELECT run_id FROM eval_runs ORDER BY run_id DESC")]

    def load(self, name: str, *, answers: bool = True) -> Run:
        """Return a stored run; *name* as `resolve` reads it.

        Without *answers* it has no texts but those of relevant documents.

        Raises:
            UnknownRunError: there is no such run.
            HistoryError: the history cannot be read.
        """
        run_id = self.resolve(name)
        with self._database.transaction() as open_:
            texts = open_.rows("SELECT run_json FROM eval_runs WHERE run_id = :id", {"id": run_id})
            with self._reading(f"run {run_id}"):
                results = blocks_of(open_, "results", run_id)
                recorded = recordings_of(open_, run_id) if answers else Recorded(())
        if not texts:
            raise UnknownRunError(_GONE.format(run_id))
        with self._reading(f"run {run_id}"):
            run = run_of(texts[0][0], results)
            run.cases = {case_id: recorded.shown(case) for case_id, case in run.cases.items()}
        return run

    def recordings(self, name: str) -> Mapping[str, list[Recording]]:
        """Return the recorded answers of a run by case, repeats in order; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        with self._reading(f"the answers of run {run_id}"), self._database.transaction() as open_:
            return recordings_of(open_, run_id)

    def recorded(self) -> list[StoredRun]:
        """Return the runs whose answers are kept, latest first."""
        if not self.exists():
            return []
        with self._database.transaction() as open_:
            kept = {row[0] for row in open_.rows(f"SELECT DISTINCT run_id FROM {RECORDINGS}")}
        return [run for run in self.runs() if run.run_id in kept]

    def verdict(self, name: str) -> dict[str, Any]:
        """Return the verdict that a run got then, as plain data; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        text = self._column(run_id, "verdict_json")
        with self._reading(f"the verdict of run {run_id}"), self._database.transaction() as open_:
            return verdict_of(text, blocks_of(open_, "compared", run_id))

    def measured(self, run_ids: Sequence[str]) -> dict[str, dict[str, tuple[dict[str, Any], float | None]]]:
        """Return what the metrics of runs amounted to then: id of the run → name → description and value."""
        out: dict[str, dict[str, tuple[dict[str, Any], float | None]]] = {}
        sql = "SELECT metrics, verdict_json FROM eval_runs WHERE run_id = :id"
        if not run_ids:
            return out
        with self._database.transaction() as open_:
            for run_id in run_ids:
                for metrics, verdict in open_.rows(sql, {"id": run_id}):
                    with self._reading(f"the metrics of run {run_id}"):
                        check_shape(infos := json.loads(metrics), dict[str, MetricInfo])
                        check_shape(values := json.loads(verdict).get("aggregates", {}), dict[str, Aggregate])
                        out[run_id] = {n: (infos[n], values[n]["value"]) for n in infos if n in values}
        return out

    def provenance(self, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what was said of the provenance of runs, by id."""
        out: dict[str, dict[str, Any]] = {}
        sql = "SELECT provenance FROM eval_runs WHERE run_id = :id"
        with self._database.transaction() as open_:
            for run_id in run_ids:
                for (text,) in open_.rows(sql, {"id": run_id}):
                    with self._reading(f"the provenance of run {run_id}"):
                        check_shape(found := json.loads(text), dict[str, Any])
                        out[run_id] = found
        return out

    def info(self, name: str) -> StoredRun:
        """Return what the list says about one run; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        row = self._columns(run_id, *LISTED)
        with self._reading(f"run {run_id}"):
            return listed(row)

    def aggregate(self, name: str) -> dict[str, Any]:
        """Return the stored aggregate of a run, four decimals; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        text = self._column(run_id, "aggregate_json")
        with self._reading(f"the aggregate of run {run_id}"):
            return checked(json.loads(text), AggregateMetrics)

    def _column(self, run_id: str, column: str) -> str:
        return str(self._columns(run_id, column)[0])

    def _columns(self, run_id: str, *columns: str) -> Row:
        with self._database.transaction() as open_:
            rows = open_.rows(f"SELECT {', '.join(columns)} FROM eval_runs WHERE run_id = :id", {"id": run_id})
        if not rows:
            raise UnknownRunError(_GONE.format(run_id))
        return rows[0]

    def store_aggregate(self, name: str, aggregate: AggregateMetrics) -> None:
        """Replace the stored aggregate of a run, and record when."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        params = {"id": self.resolve(name), "json": dumps(aggregate.to_dict()), "now": now}
        with self._database.transaction(write=True) as open_:
            open_.run("UPDATE eval_runs SET aggregate_json = :json, aggregated = :now WHERE run_id = :id", params)

    def delete(self, name: str) -> str:
        """Delete a run and return its id; *name* as `resolve` reads it."""
        run_id = self.resolve(name)
        with self._database.transaction(write=True) as open_:
            delete_runs(open_, [run_id])
        return run_id

    def prune(self, keep: int = KEEP, suite: str | None = None) -> int:
        """Keep the latest *keep* runs of every suite and configuration, or of *suite* alone; return how many went.

        Raises:
            ValueError: *keep* is below 1.
            HistoryError: the history cannot be written.
        """
        if keep < 1:
            raise ValueError(f"keep must be at least 1, not {keep}")
        if not self.exists():
            return 0
        with self._database.transaction(write=True) as open_:
            kinds = open_.rows("SELECT DISTINCT suite, variant FROM eval_runs")
            return sum(prune_runs(open_, s, v, keep) for s, v in kinds if suite in (None, s))
