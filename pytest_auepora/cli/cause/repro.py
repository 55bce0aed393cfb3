"""``auepora repro CASE``: writes one file in which a failed case fails by itself."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from ...base.files import write_atomically
from ...base.text import did_you_mean
from ...cause.repro import NoReproError, make_repro
from ...errors import UnknownRunError
from ...evaluation.replay import RecordedRun
from ...history.answers import load_recorded
from ...history.store import HistoryStore
from ...metrics.registry import Registry
from ...reporting.formats.repro_file import file_name, repro_text
from ..arguments import add_shared, existing_path
from ..common import PASSED, accepted_baseline, load_suite, open_history, print_page, terminal_page

_SECONDS = 120
"""For the file to fail, importing included."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("case", metavar="CASE", help="the id of a golden case")
    add("--run", dest="run_name", default="", metavar="RUN", help="a run in which it failed (default: the last one)")
    add("--golden", type=existing_path, metavar="FILE", help="its golden file (default: that of the run)")
    add("--out", type=Path, metavar="FILE", help="the file to write (default: repro_CASE.py)")
    add_shared(parser, "--baseline", "--history")


def run(args: argparse.Namespace) -> int:
    """Write the file, run it, and say that it fails."""
    store = open_history(args.history)
    source = _failed_run(store, args.case, args.run_name)
    suite = load_suite(args.golden or store.root / source.run.path, Registry())
    if args.case not in (known := [case.id for case in suite.cases]):
        raise NoReproError(f"{suite.path} has no case {args.case!r}{did_you_mean(args.case, known)}")
    repro = make_repro(suite, args.case, source, accepted_baseline(suite, source.run.variant, args.baseline))
    path = args.out or Path(file_name(args.case))
    write_atomically(path, repro_text(repro, path.name))
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, encoding="utf-8", errors="replace", check=False,
        timeout=_SECONDS,
    )  # fmt: skip
    if done.returncode != 1 or not done.stderr.strip():
        told = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it passes"]
        raise NoReproError(f"{path} was written and does not fail as {args.case} did: {told[0]}")
    page = terminal_page()
    for line in (f"{path} fails by itself:", *done.stderr.rstrip().splitlines()):
        page.paragraph(line.strip(), indent=len(line) - len(line.lstrip()))
    print_page(page)
    return PASSED


def _failed_run(store: HistoryStore, case_id: str, name: str) -> RecordedRun:
    """Return the run called *name*, else the last one with recorded answers in which the case failed."""
    if name:
        return load_recorded(store, store.resolve(name))
    known = set[str]()
    for stored in store.recorded() if store.exists() else ():
        cases = store.load(stored.run_id, answers=False).cases
        if case_id in cases and cases[case_id].failures:
            return load_recorded(store, stored.run_id)
        known |= cases.keys()
    why = "did not fail" if case_id in known else f"is unknown{did_you_mean(case_id, known)}"
    raise UnknownRunError(f"no run to reproduce: {case_id!r} {why} in the runs of {store.name} with recorded answers")
