"""Shared by several commands: exit codes, metrics and golden files, runs by their names, output."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.complaints import Problem, cut_lines
from ..base.files import read_text, write_atomically
from ..base.git import git
from ..errors import AueporaError, GoldenFileError, NotComparableError
from ..history.settings import VARIABLE, find_place, find_settings, project_folders, project_place, project_root
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenSuite
from ..io.source import MAX_BYTES
from ..metrics.judge.settings import use_judge
from ..metrics.registry import Registry, add_from, project_registry
from ..regression.baseline import Baseline, baseline_path
from ..regression.baseline_file import load_baseline, parse_baseline
from ..regression.guards.calibration import FOLDER
from ..reporting.terminal.layout import Page, render
from ..reporting.text import harmless
from .arguments import METRICS_HOOK, METRICS_VARIABLE

if TYPE_CHECKING:
    from ..core.run import Run
    from ..core.types import EvaluationSample
    from ..history.store import HistoryStore
    from ..reporting.report import Report

_GIT = "git:"
_STEERS = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"

PASSED, FAILED, USAGE, UNJUDGED = range(4)
"""Exit codes."""

GOLDEN_ENDINGS = (".golden.yaml", ".golden.yml", ".golden.jsonl")


class Offered(list[str]):
    """Values of an argument to which hooks add theirs."""


class UsageError(AueporaError):
    """The arguments do not make sense."""


# -- metrics and golden files


def registry_of(spellings: Iterable[str]) -> Registry:
    """Return a registry with the metrics of *spellings* (or of the environment), of packages and of hooks.

    Judged metrics ask the judge that the project's settings name.
    """
    use_judge(_configured_path("auepora_judge"))
    registry = project_registry()
    for spelling in spellings or os.environ.get(METRICS_VARIABLE, "").split():
        add_from(registry, spelling)
    return registry


def configured_plugins() -> list[str]:
    """Return the modules that ``auepora_plugins`` names in the settings of the project here; files with their path."""
    folder, settings = find_settings(Path.cwd())
    value = settings.get("auepora_plugins", ())
    words = shlex.split(value) if isinstance(value, str) else [str(word) for word in value]
    if words and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return [str(folder / word) if word.endswith(".py") else word for word in words]


def accepted_baseline(suite: GoldenSuite, variant: str, given: Path | None) -> Baseline | None:
    """Return what is accepted of *suite*, at *given* or beside it; None where nothing is."""
    return load_baseline(baseline_path(suite.path, suite.name, variant, given), suite.name, variant)


def calibrations_folder(golden: Path | None, given: Path | None = None) -> Path:
    """Return the folder of calibrations: *given*, else that of the project's settings, else the one beside *golden*."""
    beside = (golden.parent if golden is not None else Path()) / FOLDER
    return given or _configured_path("auepora_calibrations") or beside


def _configured_path(setting: str) -> Path | None:
    """Return the path that *setting* of the project here names, relative to its root; None where it names none."""
    folder, settings = find_settings(Path.cwd())
    name = str(settings.get(setting, "")).strip()
    return folder / name if name else None


def load_suite(path: Path, registry: Registry, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read a golden file as `load_golden`; where a metric is unknown, say which conftest.py nearby may know it."""
    try:
        return load_golden(path, registry, max_bytes=max_bytes)
    except GoldenFileError as exc:
        raise GoldenFileError([_with_hint(p, path) for p in exc.problems]) from None


def check_golden_name(path: Path) -> None:
    """Raise `UsageError` where cases can not be appended to *path*."""
    if not path.name.lower().endswith(GOLDEN_ENDINGS):
        raise UsageError(f"{path}: a golden file ends in .golden.yaml or .golden.jsonl")


def known_samples(output: Path, known: Sequence[Path], registry: Registry) -> Iterator[EvaluationSample]:
    """Yield the questions of golden files: those beside *output*, and those *known*, files or folders of them."""
    folders = [output.parent, *(path for path in known if path.is_dir())]
    paths = sorted(p for folder in folders for p in folder.glob("*.golden.*") if p.name.endswith(GOLDEN_ENDINGS))
    for path in dict.fromkeys(p.resolve() for p in [*paths, *(path for path in known if path.is_file())]):
        yield from (case.sample for case in load_suite(path, registry).cases)


def print_notes(dropped: Sequence[str], summary: str, notes: Sequence[str] = ()) -> None:
    """Print on standard error what an import or export did, and what it dropped."""
    for sentence in (summary, *(f"note: {note}" for note in notes), *(f"dropped: {note}" for note in dropped)):
        print(harmless(cut_lines(sentence)), file=sys.stderr)


def _with_hint(problem: Problem, golden: Path) -> Problem:
    if problem.unknown != "metric":
        return problem
    for folder in project_folders(golden.resolve().parent):
        conftest = folder / "conftest.py"
        with suppress(OSError):
            if METRICS_HOOK in conftest.read_text(encoding="utf-8", errors="replace"):
                path = os.path.relpath(conftest)
                hint = f"if {path} defines it: --metrics {path}:{METRICS_HOOK}"
                return problem._replace(message=f"{problem.message}; {hint}")
    return problem


# -- runs


def open_history(location: str) -> HistoryStore:
    """Return the history of ``--history``, by default the project's; raises `UsageError` where it is switched off."""
    from ..history.store import HistoryStore

    place = find_place(location, Path.cwd()) if location else project_place(Path.cwd())
    if place is None:
        raise UsageError(f"history is switched off by auepora_history or {VARIABLE}; name one with --history")
    return HistoryStore(place, project_root(Path.cwd()))


class Sources:
    """Finds runs by what people type.

    A run id, the beginning of one, ``last`` or ``last~2``; a ``.json`` file, a baseline or what
    ``--auepora-report json:`` wrote; ``git:REF``, the baseline committed at REF, or ``git:REF:path/of/it.json``.
    """

    def __init__(self, history: str = "") -> None:
        self._location = history
        self.root = project_root(Path.cwd())

    def find(self, name: str, reference: Run | None = None) -> tuple[str, Run]:
        """Return what to call the run, and the run.

        *reference* is the run it is compared with: its golden file is that of ``last`` and ``git:REF``.
        """
        found = self.find_all(name, reference)
        if len(found) > 1 and reference is not None:
            found = [(called, run) for called, run in found if run.variant == reference.variant]
        if len(found) != 1:
            raise UsageError(f"{name} is a report on {_run_titles(run for _, run in found)}; wanted is one run")
        return name if name.endswith(".json") else found[0][0], found[0][1]

    def find_all(self, name: str, reference: Run | None = None) -> list[tuple[str, Run]]:
        """Return the same, but of a report every configuration of the suite of *reference*."""
        if name.startswith(_GIT):
            return [(name, self._committed_baseline(name, reference))]
        if not name.endswith(".json"):
            store = open_history(self._location)
            narrowed = (reference.suite, reference.variant, reference.path) if reference is not None else ()
            run_id = store.resolve(name, *narrowed)
            return [(run_id, store.load(run_id))]
        runs = _runs_of_file(name, reference)
        of_suite = [run for run in runs if reference is None or run.suite == reference.suite]
        fitting = [run for run in of_suite if reference is not None and run.path == reference.path] or of_suite
        if len({(run.suite, run.path) for run in fitting}) != 1:
            expected = f"; wanted is {reference.suite}" if reference is not None else ""
            raise UsageError(f"{name} is a report on {_run_titles(runs)}{expected}")
        return [(f"{name}[{run.variant}]" if len(fitting) > 1 else name, run) for run in fitting]

    def _committed_baseline(self, name: str, reference: Run | None) -> Run:
        ref, _, inside_repo = name.removeprefix(_GIT).partition(":")
        if not ref:
            raise UsageError(f"{name!r} names no commit; write git:REF or git:REF:path/of/baseline.json")
        if inside_repo:
            path = Path.cwd() / inside_repo
        elif reference is not None and reference.path:
            path = baseline_path(self.root / reference.path, reference.suite, reference.variant)
        else:
            raise UsageError(f"{name!r} does not say which baseline; write git:{ref}:path/of/baseline.json")
        folder = next(parent for parent in path.parents if parent.is_dir())
        relative_path = path.resolve().relative_to(folder.resolve()).as_posix()
        text = git(folder, "show", "--end-of-options", f"{ref}:./{relative_path}")
        return _baseline_run(text, f"{path.name} at {ref}", reference)


def read_report(name: str, text: str = "") -> Report:
    """Return the JSON report *name*, whose *text* may be known.

    Raises:
        UsageError: the file cannot be read.
        NotComparableError: it is no report.
    """
    from ..reporting.formats.json_report import read_json_report

    text = text or read_text(Path(name), UsageError)
    try:
        return read_json_report(text)
    except AueporaError as exc:
        raise NotComparableError(f"{name}: {exc}") from None


def _runs_of_file(name: str, reference: Run | None) -> list[Run]:
    """Return the runs of a report, or that of a baseline."""
    text = read_text(Path(name), UsageError)
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        raw = None  # the reader of baselines says what is wrong
    if isinstance(raw, dict) and "suites" in raw:
        return [*read_report(name, text).runs]
    return [_baseline_run(text, name, reference)]


def _baseline_run(text: str, name: str, reference: Run | None) -> Run:
    from ..history.compare import as_run

    return as_run(parse_baseline(text, name), reference.path if reference is not None else "")


def _run_titles(runs: Iterable[Run]) -> str:
    return ", ".join(run.title for run in runs) or "nothing"


# -- output


def is_ascii_output() -> bool:
    """Whether documents, JSON and golden files, are printed in ASCII: the output may take few other characters."""
    return "utf" not in (sys.stdout.encoding or "").lower()


def terminal_page() -> Page:
    """Return a page as wide as the terminal, at least 80 columns."""
    return Page(max(shutil.get_terminal_size((110, 24)).columns, 80))


def print_page(page: Page) -> None:
    """Print the lines of *page*."""
    print(harmless(render(page.lines).rstrip()))


def write_output(text: str, path: Path | None) -> None:
    """Write *text* to *path*, or print it where that is None; raises `AueporaError` or `OSError` if it cannot."""
    if path is not None:
        write_atomically(path, text)
    elif text[:1] in ("{", "["):  # JSON: what steers a terminal, or cannot be shown, is written as escapes
        escaped = "[^\x00-\x7e]" if is_ascii_output() else _STEERS
        print(re.sub(escaped, lambda match: json.dumps(match[0])[1:-1], text), end="")
    else:
        print(text, end="")


def exit_code(outcome: str) -> int:
    """Return the exit code for the outcome of a verdict or comparison; inconclusive passes, as in pytest."""
    if outcome in ("failed", "worse", "mixed"):
        return FAILED
    return UNJUDGED if outcome == "not judged" else PASSED
