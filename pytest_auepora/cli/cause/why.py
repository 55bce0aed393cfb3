"""``auepora why RUN``: by which part a stored run is worse; the generator is asked where nobody asked yet."""

from __future__ import annotations

import argparse
import subprocess
import sys

from ...reporting.wording.cause import case_cause_text, cause_lines
from ..arguments import add_shared
from ..common import PASSED, open_history, print_page, terminal_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="RUN", nargs="?", default="last", help="a run id or its beginning, last (default), last~2"
    )
    add_shared(parser, "--history")


def run(args: argparse.Namespace) -> int:
    """Print what the run says of its cause; without any, have pytest judge its answers again and ask."""
    store = open_history(args.history)
    run_id = store.resolve(args.name)
    stored = store.load(run_id)
    cause = store.verdict(run_id).cause
    if cause is None or cause.refusal:
        selected = ["-k", stored.variant] if stored.variant else []
        history = ["-o", f"auepora_history={args.history}"] if args.history else []
        options = [f"--auepora-replay={run_id}", "--auepora-why", *history, *selected]
        command = [sys.executable, "-m", "pytest", stored.path, *options]
        return subprocess.run(command, cwd=store.root, check=False).returncode
    page = terminal_page()
    page.title(stored.title, f"run {run_id}")
    for i, line in enumerate(cause_lines(cause, stored)):
        page.paragraph(line, indent=2 * (i > 0))
    for case_id, case in cause.cases.items():
        page.paragraph(f"{case_id}: {case_cause_text(case, stored.metrics)}", indent=2)
    print_page(page)
    return PASSED
