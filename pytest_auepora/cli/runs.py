"""``auepora runs``: what was kept, latest first."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence

from ..history.tables import StoredRun
from ..metrics.judge.usage import JudgeUsage
from .common import PASSED, UNJUDGED, add_history, open_history, whole_number

_FIGURES = (("hit_at_k", "5", "hit@5"), ("mrr", "", "mrr@10"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--suite", help="only runs of this suite")
    parser.add_argument(
        "--limit", type=whole_number(0), default=20, metavar="N", help="at most so many (default 20; 0: all)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--delete", nargs="+", metavar="RUN", help="delete these runs instead")
    instead.add_argument(
        "--prune", type=whole_number(1), metavar="N", help="keep the last N of each suite, delete the others"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_history(parser)


def run(given: argparse.Namespace) -> int:
    """List, delete or prune."""
    store = open_history(given.history)
    if given.delete:
        for run_id in [store.resolve(name) for name in given.delete]:
            print(f"deleted {store.delete(run_id)}")
        return PASSED
    if given.prune:
        from ..reporting.numbers import plural

        print(f"deleted {plural(store.prune(given.prune, given.suite), 'run')}")
        return PASSED
    found = store.runs(given.limit or None, given.suite)
    if given.json:
        print(json.dumps([one._asdict() for one in found], indent=1))
        return PASSED
    if not found:
        of = f" of {given.suite}" if given.suite else ""
        print(f"no run{of} in {store.name}; `pytest --auepora` keeps its runs there", file=sys.stderr)
        return PASSED if store.exists() else UNJUDGED
    from ..reporting.text import harmless

    print(harmless(_table(found)))
    return PASSED


def _table(found: Sequence[StoredRun]) -> str:
    from ..reporting.numbers import score
    from ..reporting.terminal.layout import Cell, Column, render, table

    judged = any(one.aggregate.get("judge") for one in found)
    figures = [Column(title, right=True, expendable=1) for *_, title in _FIGURES]
    columns = [
        Column("run"),
        Column("started"),
        Column("suite", least=8),
        Column("outcome"),
        Column("cases", right=True),
        Column("failed", right=True),
        *figures,
        *([Column("judge", right=True, expendable=1)] if judged else []),
        Column("commit", expendable=2),
    ]
    rows = [
        [
            Cell(one.run_id),
            Cell(one.started[:19].replace("T", " ")),
            Cell(one.title),
            Cell(_outcome(one)),
            Cell(f"{one.cases}"),
            Cell(f"{one.failed}"),
            *(Cell(score(_figure(one, name, k))) for name, k, _ in _FIGURES),
            *([Cell(_judge(one))] if judged else []),
            Cell(one.git_commit[:8]),
        ]
        for one in found
    ]
    return render(table(columns, rows, max(shutil.get_terminal_size((110, 24)).columns, 80)))


def _judge(one: StoredRun) -> str:
    """Return the cost of the judge, its tokens where prices are not known."""
    from ..reporting.notes import cost_text

    usage = JudgeUsage(**one.aggregate.get("judge", {}))
    if usage.cost is not None:
        return cost_text(usage.cost)
    return f"{usage.tokens:,} tokens" if usage.requests else ""


def _outcome(one: StoredRun) -> str:
    beside = [*([] if one.complete else ["partial"]), *one.origin.split()[:1]]
    return one.outcome + (f" ({', '.join(beside)})" if beside else "")


def _figure(one: StoredRun, name: str, key: str) -> float | None:
    found = one.aggregate.get(name)
    return found.get(key) if isinstance(found, dict) else found
