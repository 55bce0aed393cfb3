"""Which report formats there are, and what ``--auepora-report md:report.md`` means."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core.files import write_atomically
from ..core.run import Run
from ..errors import AueporaError, MissingExtraError, Problem, did_you_mean

if TYPE_CHECKING:
    from ..regression.verdict import Verdict
    from .side_by_side import SideBySide
    from .trend import Trend

FORMATS: Mapping[str, str] = {
    "md": "markdown_report:markdown_report",
    "json": "json_report:json_report",
    "csv": "metrics_export:csv_report",
    "summary": "metrics_export:summary_json",
    "gitlab": "findings:code_quality",
    "matrix": "side_by_side_formats:matrix_csv",
    "html": "html.report:html_report",
}
"""Format → where its function is: ``(runs, verdicts, …) -> text``, loaded when asked for.

Its further arguments are those of `report_text` that it names.
"""

_PACKAGES = {"html": ("jinja2", "matplotlib")}
"""What a format takes, installed by the extra of the same name."""

_BY_SUFFIX = {
    ".md": "md", ".markdown": "md", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html",
}  # fmt: skip


class Target(NamedTuple):
    """A report that was asked for: its format, and the file to write."""

    kind: str
    path: Path


def read_target(text: str) -> Target:
    """Read ``csv:scores.csv``; the format may be left out where the file's suffix says it.

    Raises:
        AueporaError: the format is unknown or cannot be told, or there is no file.
    """
    kind, colon, path = text.partition(":")
    if not colon or len(kind) == 1:  # a lone letter is a drive of Windows
        kind, path = _BY_SUFFIX.get(Path(text).suffix.lower(), ""), text
        if not kind:
            raise AueporaError(f"{text!r} does not say its format; write FORMAT:FILE with one of {', '.join(FORMATS)}")
    if kind not in FORMATS:
        raise AueporaError(f"no report format {kind!r}{did_you_mean(kind, FORMATS)}; there is {', '.join(FORMATS)}")
    if not path:
        raise AueporaError(f"{text!r} names no file; write {kind}:FILE")
    return Target(kind, Path(path))


def check_installed(kind: str) -> None:
    """Make sure, without loading anything, that the report of *kind* can be made here.

    Raises:
        MissingExtraError: it takes a package that is not installed.
    """
    for name in _PACKAGES.get(kind, ()):
        if sys.modules.get(name, ...) is None or (name not in sys.modules and find_spec(name) is None):
            raise MissingExtraError(f"the {kind} report", kind)


def wants_trend(kind: str) -> bool:
    """Whether the report of *kind* shows earlier runs, so that it is worth looking them up."""
    return "trends" in signature(_function(kind)).parameters


def _function(kind: str) -> Callable[..., str]:
    module, name = FORMATS[kind].split(":")
    found: Callable[..., str] = getattr(import_module(f"{__package__}.{module}"), name)
    return found


def report_text(
    kind: str,
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    *,
    prefix: str = "",
    trends: Mapping[str, Trend] | None = None,
    compared: Sequence[SideBySide] | None = None,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the report of *kind*, one of `FORMATS`.

    *prefix* leads from the root of the repository to the directory that paths are relative to, for formats that
    point to places in files.  *trends* has, by the title of a run, what is known of the runs before it, for formats
    that show it (`wants_trend`).  *compared* has the suites that several systems ran, for formats that show them side
    by side; by default that is worked out, knowing the metrics of this package alone.  *mistakes* are those in golden
    files that could not be read, for formats that are not of numbers alone.

    Raises:
        MissingExtraError: the report takes a package that is not installed.
    """
    make = _function(kind)
    wanted = signature(make).parameters
    if compared is None and "compared" in wanted:
        from .side_by_side import side_by_sides

        compared = side_by_sides(runs)
    beside = {"prefix": prefix, "trends": trends, "compared": compared, "mistakes": mistakes}
    made = make(runs, verdicts, **{name: beside[name] for name in wanted if name in beside})
    return made.encode("utf-8", "backslashreplace").decode("utf-8")  # halves of surrogate pairs, as JSON writes them


def write_report(path: Path, text: str) -> None:
    """Write *text* to *path*: whole or not at all, but for what is no plain file, such as ``/dev/stdout``.

    Raises:
        NotWrittenError: it cannot be written.
        OSError: what is no plain file cannot be.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
    else:
        write_atomically(path, text)
