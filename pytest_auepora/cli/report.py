"""``auepora report RUN``: a run that was kept, with the verdict it got then."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..core.run import Run
from ..history.codec import dumps
from ..regression.verdict import Verdict
from ..reporting.formats import FORMATS, report_text
from ..reporting.json_report import FORMAT, read_json_report
from .exit_codes import PASSED
from .sources import add_history, open_history

__all__ = ["add_arguments", "run", "summary_text"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("name", metavar="RUN", help="a run id or its beginning, last, last~2")
    parser.add_argument("--format", choices=["text", *FORMATS], default="text", help="what to make (default: text)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report there instead of printing it")
    add_history(parser)


def run(given: argparse.Namespace) -> int:
    """Print the report; a run that failed then is no failure now."""
    store = open_history(given.history)
    run_id = store.resolve(given.name)
    stored = {"run": json.loads(dumps(store.load(run_id))), "verdict": store.verdict(run_id)}
    runs, verdicts = read_json_report(json.dumps({"format": FORMAT, "suites": [stored]}))
    text = summary_text(runs, verdicts) if given.format == "text" else report_text(given.format, runs, verdicts)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return PASSED


def summary_text(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> str:
    """Return the summary that closes a pytest run, as wide as the terminal."""
    from ..reporting.layout import render
    from ..reporting.summary import summary_lines

    width = shutil.get_terminal_size((100, 24)).columns
    pairs = zip(runs, verdicts, strict=True)
    return "".join(render(summary_lines(run, verdict, width=width)) + "\n" for run, verdict in pairs)
