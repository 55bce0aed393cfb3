"""``auepora runs``: what was kept, latest first."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Sequence

from ..history.tables import StoredRun
from ..reporting.notes import cost_text
from ..reporting.numbers import plural, score
from ..reporting.terminal.layout import Cell, Column, render, table
from ..reporting.text import harmless
from .common import PASSED, UNJUDGED, add_history, open_history, whole_number


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
        for run_id in dict.fromkeys([store.resolve(name) for name in given.delete]):
            print(f"deleted {store.delete(run_id)}")
        return PASSED
    if given.prune:
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
    print(harmless(_table(found)))
    return PASSED


def _table(found: Sequence[StoredRun]) -> str:
    judged = any(one.aggregate.get("judge") for one in found)
    columns: list[tuple[Column, Callable[[StoredRun], str]]] = [
        (Column("run"), lambda one: one.run_id),
        (Column("started"), lambda one: one.started[:19].replace("T", " ")),
        (Column("suite", least=8), lambda one: one.title),
        (Column("outcome"), _outcome),
        (Column("cases", right=True), lambda one: f"{one.cases}"),
        (Column("failed", right=True), lambda one: f"{one.failed}"),
        (Column("hit@5", right=True, expendable=1), lambda one: score(_figure(one, "hit_at_k", "5"))),
        (Column("mrr@10", right=True, expendable=1), lambda one: score(_figure(one, "mrr"))),
        *([(Column("judge", right=True, expendable=1), _judge)] if judged else []),
        (Column("commit", expendable=2), lambda one: one.git_commit[:8]),
    ]
    rows = [[Cell(text_of(one)) for _, text_of in columns] for one in found]
    width = max(shutil.get_terminal_size((110, 24)).columns, 80)
    return render(table([column for column, _ in columns], rows, width))


def _judge(one: StoredRun) -> str:
    """Return the cost of the judge, its tokens where prices are not known."""
    spent = one.aggregate.get("judge", {})
    if (cost := spent.get("cost")) is not None:
        return cost_text(cost)
    tokens = spent.get("prompt_tokens", 0) + spent.get("completion_tokens", 0)
    return f"{tokens:,} tokens" if spent.get("requests") else ""


def _outcome(one: StoredRun) -> str:
    beside = [*([] if one.complete else ["partial"]), *one.origin.split()[:1]]
    return one.outcome + (f" ({', '.join(beside)})" if beside else "")


def _figure(one: StoredRun, name: str, key: str = "") -> float | None:
    found = one.aggregate.get(name)
    return found.get(key) if isinstance(found, dict) else found
