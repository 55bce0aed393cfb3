"""``auepora runs``: the stored runs, latest first."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence

from ..base.text import did_you_mean
from ..errors import UnknownRunError
from ..history.tables import StoredRun
from ..reporting.numbers import plural, score
from ..reporting.terminal.layout import Cell, Column, render, table
from ..reporting.text import harmless
from ..reporting.wording.notes import cost_text
from .arguments import add_shared, whole_number
from .common import PASSED, UNJUDGED, open_history

_COLUMNS = (
    Column("run"), Column("started"), Column("suite", least=8), Column("outcome"), Column("cases", right=True),
    Column("failed", right=True), Column("hit@5", right=True, expendable=1), Column("mrr@10", right=True, expendable=1),
    Column("judge", right=True, expendable=1), Column("commit", expendable=2),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    limit, prune = "at most this many (default 20; 0: all)", "keep the last N of each suite, delete the others"
    parser.add_argument("--suite", help="only runs of this suite")
    parser.add_argument("--limit", type=whole_number(0), default=20, metavar="N", help=limit)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--delete", nargs="+", metavar="RUN", help="delete these runs instead")
    instead.add_argument("--prune", type=whole_number(1), metavar="N", help=prune)
    add_shared(parser, "--json", "--history")


def run(args: argparse.Namespace) -> int:
    """List, delete or prune."""
    store = open_history(args.history)
    if args.delete:
        for run_id in dict.fromkeys([store.resolve(name) for name in args.delete]):
            print(f"deleted {store.delete(run_id)}")
        return PASSED
    if args.suite is not None and store.exists():
        suites = {stored_run.suite for stored_run in store.runs()}
        if args.suite not in suites:
            raise UnknownRunError(f"no suite {args.suite!r} in {store.name}{did_you_mean(args.suite, suites)}")
    if args.prune:
        print(f"deleted {plural(store.prune(args.prune, args.suite), 'run')}")
        return PASSED
    runs = store.runs(args.limit or None, args.suite)
    if args.json:
        print(json.dumps([stored_run.to_dict() for stored_run in runs], indent=1))
        return PASSED
    if not runs:
        of_suite = f" of {args.suite}" if args.suite else ""
        print(f"no run{of_suite} in {store.name}; `pytest --auepora` keeps its runs there", file=sys.stderr)
        return PASSED if store.exists() else UNJUDGED
    print(harmless(_runs_table(runs)))
    return PASSED


def _runs_table(runs: Sequence[StoredRun]) -> str:
    """Return the runs as a table; the column of the judge is left out where all of its cells are empty."""
    rows = []
    for stored in runs:
        remarks = [*([] if stored.complete else ["partial"]), *stored.origin.split()[:1]]
        outcome = stored.outcome + (f" ({', '.join(remarks)})" if remarks else "")
        hit_rate = score(stored.aggregate.hit_at_k.get(5))
        texts = [stored.run_id, stored.started[:19].replace("T", " "), stored.title, outcome, f"{stored.cases}"]
        texts += [f"{stored.failed}", hit_rate, score(stored.aggregate.mrr), _judge_cost(stored)]
        rows.append([Cell(text) for text in (*texts, stored.git_commit[:8])])
    return render(table(_COLUMNS, rows, max(shutil.get_terminal_size((110, 24)).columns, 80)))


def _judge_cost(stored_run: StoredRun) -> str:
    usage = stored_run.aggregate.judge
    if (cost := usage.get("cost")) is not None:
        return cost_text(cost)
    tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
    return f"{tokens:,} tokens" if usage.get("requests") else ""
