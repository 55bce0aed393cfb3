"""What the command line calls a run: one that was kept, a baseline, a JSON report, a baseline at a commit."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from ..core.git import git
from ..core.run import Run
from ..errors import AueporaError, NotComparableError, Problem
from ..history.baselines import as_run
from ..history.settings import FILE, VARIABLE, find_place, project_place, project_root
from ..history.store import HistoryStore
from ..regression.baseline.file import baseline_path, parse_baseline
from ..regression.verdict import Verdict
from .common import UsageError

_GIT = "git:"


def add_history(parser: argparse.ArgumentParser) -> None:
    """Add ``--history``."""
    parser.add_argument(
        "--history", default="", metavar="PLACE",
        help=f"path or URL of the history (default: pytest's auepora_history, ${VARIABLE}, the nearest {FILE})",
    )  # fmt: skip


def open_history(said: str) -> HistoryStore:
    """Return the history that ``--history`` names, by default that of the project here.

    Raises:
        UsageError: it is switched off.
    """
    place = find_place(said, Path.cwd()) if said else project_place(Path.cwd())
    if place is None:
        raise UsageError(f"history is switched off by auepora_history or {VARIABLE}; name one with --history")
    return HistoryStore(place)


class Sources:
    """Finds runs by what people type.

    A run id, the beginning of one, ``last`` or ``last~2``; a ``.json`` file, a baseline or what
    ``--auepora-report json:`` wrote; ``git:REF``, the baseline committed at REF, or ``git:REF:path/of/it.json``.
    """

    def __init__(self, history: str = "") -> None:
        self._said = history
        self.root = project_root(Path.cwd())

    def find(self, name: str, like: Run | None = None) -> tuple[str, Run]:
        """Return what to call the run, and the run.

        *like* is the run it will be held against: it says of which suite ``last`` and ``git:REF`` are.
        """
        if name.startswith(_GIT):
            return name, self._committed(name, like)
        if name.endswith(".json"):
            return name, _only(name, _from_file(name, like), like)
        store = open_history(self._said)
        run_id = store.resolve(name, *((like.suite, like.variant) if like is not None else ()))
        return run_id, store.load(run_id)

    def find_all(self, name: str, like: Run | None = None) -> list[tuple[str, Run]]:
        """Return the same, but of a report every configuration of the suite that *like* is of."""
        if not name.endswith(".json") or name.startswith(_GIT):
            return [self.find(name, like)]
        runs = _from_file(name, like)
        suites = {like.suite} if like is not None else {run.suite for run in runs}
        fitting = [run for run in runs if run.suite in suites]
        if len(suites) > 1 or not fitting:
            wanted = f"; wanted is {like.suite}" if like is not None else ""
            raise UsageError(f"{name} is a report on {_titles(runs)}{wanted}")
        return [(f"{name}[{run.variant}]" if len(fitting) > 1 else name, run) for run in fitting]

    def _committed(self, name: str, like: Run | None) -> Run:
        ref, _, said = name.removeprefix(_GIT).partition(":")
        if not ref:
            raise UsageError(f"{name!r} names no commit; write git:REF or git:REF:path/of/baseline.json")
        if said:
            path = Path.cwd() / said
        elif like is not None and like.path:
            path = baseline_path(self.root / like.path, like.suite, like.variant)
        else:
            raise UsageError(f"{name!r} does not say which baseline; write git:{ref}:path/of/baseline.json")
        return as_run(parse_baseline(_read_at(ref, path), f"{path.name} at {ref}"), like.path if like else "")


def read_report(name: str) -> tuple[list[Run], list[Verdict], list[Problem]]:
    """Return what the JSON report in file *name* holds: runs, verdicts, mistakes in golden files.

    Raises:
        UsageError: the file cannot be read.
        NotComparableError: it is no report.
    """
    from ..reporting.json_report import read_json_report

    text = _text(name)
    try:
        return read_json_report(text)
    except AueporaError as exc:
        raise NotComparableError(f"{name}: {exc}") from None


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise UsageError(f"{name}: cannot be read: {getattr(exc, 'strerror', None) or exc}") from None


def _from_file(name: str, like: Run | None) -> list[Run]:
    """Return the runs of a baseline or report; of a report those that are like *like*."""
    text = _text(name)
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        raw = None  # whoever reads a baseline says what is wrong
    if not isinstance(raw, dict) or "suites" not in raw:
        return [as_run(parse_baseline(text, name), like.path if like is not None else "")]
    return read_report(name)[0]


def _only(name: str, runs: Sequence[Run], like: Run | None) -> Run:
    if len(runs) > 1:
        fitting = [r for r in runs if like is None or (r.suite, r.variant) == (like.suite, like.variant)]
    else:
        fitting = list(runs)
    if len(fitting) != 1:
        raise UsageError(f"{name} is a report on {_titles(runs)}; which of it to take cannot be told")
    return fitting[0]


def _titles(runs: Sequence[Run]) -> str:
    return ", ".join(run.title for run in runs) or "nothing"


def _read_at(ref: str, path: Path) -> str:
    """Return the text of *path* as committed at *ref*.

    Raises:
        AueporaError: there is no git, no such commit, or no such file in it; with git's own words.
    """
    folder = path.parent
    while not folder.is_dir():
        folder = folder.parent
    inside = path.resolve().relative_to(folder.resolve()).as_posix()
    return git(folder, "show", "--end-of-options", f"{ref}:./{inside}")
