"""How the cases of large runs compare with their baseline, kept as it was found when each was judged as a test.

Where cases ran in this process the verdict need not read and compare them all again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .session import AueporaSession

if TYPE_CHECKING:
    from ..core.run import CaseResult, Run
    from ..regression.compare.table import ComparedTable

__all__ = ["Compared"]


class Compared:
    """Holds it by run until that is judged."""

    def __init__(self, session: AueporaSession) -> None:
        self._session = session
        self._tables: dict[tuple[str, str], ComparedTable] = {}

    def take(self, run: Run, result: CaseResult) -> None:
        """Keep how *result*, which is in *run*, compares; a later one of the same case replaces the earlier."""
        from ..core.run import in_columns

        if not in_columns(run.cases):
            return
        key, judged = (run.path, run.variant), self._session.last_judged
        if (table := self._tables.get(key)) is not None:
            table.forget(result.case_id)
        # it may come from elsewhere, and who redacts may change what was compared
        if judged is None or judged[0] is not result or self._session.project.redacts:
            return
        _, comparison, judge = judged
        if comparison is None or judge.baseline is None:
            return
        if table is None:
            from ..regression.compare.table import ComparedTable

            table = self._tables[key] = ComparedTable(run.cases, judge.baseline.cases, judge.incomparable)
        table.put(comparison)

    def of(self, run: Run) -> ComparedTable | None:
        """Return what is known of *run*, and forget it."""
        return self._tables.pop((run.path, run.variant), None)
