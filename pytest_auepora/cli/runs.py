"""``auepora runs``: the stored runs, latest first."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..base.text import did_you_mean
from ..errors import UnknownRunError
from ..history.store import HistoryStore
from ..history.tables import StoredRun
from ..reporting.numbers import plural, score
from ..reporting.terminal.layout import Cell, Column, render, table
from ..reporting.text import harmless
from ..reporting.wording.spending import cost_text
from .arguments import add_shared, whole_number
from .common import PASSED, UNJUDGED, open_history, terminal_page

_MOST_METRICS = 6
"""Columns of metrics, at most; the last are left out first where the terminal is narrow."""
_TOKENS = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")  # of judges, of the system


def add_arguments(parser: argparse.ArgumentParser) -> None:
    limit, prune = "at most this many (default 20; 0: all)", "keep the last N of each suite, delete the others"
    parser.add_argument("--suite", help="only runs of this suite")
    parser.add_argument("--limit", type=whole_number(0), default=20, metavar="N", help=limit)
    recorded = "only runs whose answers are kept, which can be replayed; the exit code is 3 without any"
    parser.add_argument("--recorded", action="store_true", help=recorded)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--delete", nargs="+", metavar="RUN", help="delete these runs instead")
    named, noted = "call a run NAME, which then stands for its id; '' takes it back", "say something of a run"
    instead.add_argument("--name", nargs=2, metavar=("RUN", "NAME"), help=named)
    instead.add_argument("--note", nargs=2, metavar=("RUN", "TEXT"), help=noted)
    instead.add_argument("--prune", type=whole_number(1), metavar="N", help=prune)
    add_shared(parser, "--json", "--history")


def run(args: argparse.Namespace) -> int:
    """List, name, delete or prune."""
    store = open_history(args.history)
    for word, given in (("name", args.name), ("note", args.note)):
        if given:
            name, text = given
            print(f"{word} of {store.describe(name, **{word: text})}: {harmless(text) or 'taken back'}")
            return PASSED
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
    if args.recorded:
        recorded = store.recorded() if store.exists() else []
        runs = [stored for stored in recorded if args.suite in (None, stored.suite)][: args.limit or None]
    else:
        runs = store.runs(args.limit or None, args.suite)
    if args.json:
        words = store.words([stored.run_id for stored in runs])
        print(json.dumps([{**stored.to_dict(), "word": words[stored.run_id]} for stored in runs], indent=1))
        return PASSED
    if not runs:
        of_suite = (f" of {args.suite}" if args.suite else "") + (" with recorded answers" if args.recorded else "")
        print(f"no run{of_suite} in {store.name}; `pytest --auepora` keeps its runs there", file=sys.stderr)
        return PASSED if store.exists() and not args.recorded else UNJUDGED
    print(harmless(_runs_table(store, runs)))
    return PASSED


def _runs_table(store: HistoryStore, runs: Sequence[StoredRun]) -> str:
    """Return the runs as a table, with the metrics that their golden files list; empty columns are left out."""
    ids = [stored.run_id for stored in runs]
    words, measured = store.words(ids), store.measured(ids)
    listed = dict.fromkeys(n for run_id in ids for n, (info, _) in measured[run_id].items() if info.baselined)
    metrics = [*listed][:_MOST_METRICS]
    columns = [
        Column("run"), Column("started"), Column("suite", least=8), Column("verdict"), Column("cases", right=True),
        Column("failed", right=True), Column("name", least=10),
        *(Column(name, right=True, expendable=place) for place, name in enumerate(metrics, 2)),
        *(Column(name, right=True, expendable=1) for name in ("judge", "system")),
        Column("commit", expendable=_MOST_METRICS + 2),
    ]  # fmt: skip
    rows = []
    for stored in runs:
        word = words[stored.run_id]
        said = [] if word in ("not judged", stored.outcome) else [word]
        remarks = [*said, *([] if stored.complete else ["partial"])]
        verdict = ", ".join([stored.outcome, *remarks, *([stored.origin["kind"]] if stored.origin else [])])
        texts = [stored.run_id, stored.started[:19].replace("T", " "), stored.title, verdict, f"{stored.cases}"]
        values = {name: value for name, (_, value) in measured[stored.run_id].items() if value is not None}
        texts += [f"{stored.failed}", stored.name, *(score(values[name]) if name in values else "" for name in metrics)]
        spent = [_cost(stored.aggregate.judge), _cost(stored.aggregate.system)]
        rows.append([Cell(text) for text in (*texts, *spent, stored.git_commit[:8])])
    return render(table(columns, rows, terminal_page().width))


def _cost(usage: Mapping[str, Any]) -> str:
    """Return the cost of what was spent, else the tokens."""
    if (cost := usage.get("cost")) is not None:
        return cost_text(cost)
    tokens = sum(usage.get(name, 0) for name in _TOKENS)
    return f"{tokens:,} tokens" if tokens or usage.get("requests") else ""
