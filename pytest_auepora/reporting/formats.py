"""The report formats, and parsing of ``--auepora-report md:report.md``."""

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
"""Format → ``module:function``, imported on use: ``(runs, verdicts, …) -> text``.

The function gets those further arguments of `report_text` that it has parameters for.
"""

_PACKAGES = {"html": ("jinja2", "matplotlib")}
"""Packages that a format needs, installed by the extra of the same name."""

_BY_SUFFIX = {
    ".md": "md", ".markdown": "md", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html",
}  # fmt: skip


class Target(NamedTuple):
    """A requested report: its format, and the file to write."""

    kind: str
    path: Path


def read_target(text: str) -> Target:
    """Parse ``csv:scores.csv``; the format may be left out where the suffix of the file has it.

    Raises:
        AueporaError: the format is unknown or missing, or there is no file.
    """
    kind, colon, path = text.partition(":")
    if not colon or len(kind) == 1:  # a single letter is a Windows drive
        kind, path = _BY_SUFFIX.get(Path(text).suffix.lower(), ""), text
        if not kind:
            raise AueporaError(f"{text!r} does not say its format; write FORMAT:FILE with one of {', '.join(FORMATS)}")
    if kind not in FORMATS:
        raise AueporaError(f"no report format {kind!r}{did_you_mean(kind, FORMATS)}; there is {', '.join(FORMATS)}")
    if not path:
        raise AueporaError(f"{text!r} names no file; write {kind}:FILE")
    return Target(kind, Path(path))


def check_installed(kind: str) -> None:
    """Check, without importing them, that the packages for the report of *kind* are installed.

    Raises:
        MissingExtraError: the report needs a package that is not installed.
    """
    for name in _PACKAGES.get(kind, ()):
        if sys.modules.get(name, ...) is None or (name not in sys.modules and find_spec(name) is None):
            raise MissingExtraError(f"the {kind} report", kind)


def wants_trend(kind: str) -> bool:
    """Whether the report of *kind* shows earlier runs."""
    return "trends" in signature(_format_function(kind)).parameters


def _format_function(kind: str) -> Callable[..., str]:
    module, name = FORMATS[kind].split(":")
    function: Callable[..., str] = getattr(import_module(f"{__package__}.{module}"), name)
    return function


def report_text(
    kind: str,
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    *,
    prefix: str = "",
    trends: Mapping[tuple[str, str], Trend] | None = None,
    compared: Sequence[SideBySide] | None = None,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the report of *kind*, one of `FORMATS`.

    *prefix* leads from the root of the repository to the directory that paths are relative to, for formats that
    point to places in files.  *trends* has the earlier runs by path and variant of a run, for formats that show them
    (`wants_trend`).  *compared* has the suites that several systems ran, for formats that show them side by side; by
    default it is computed with the metrics of this package alone.  *mistakes* are those in golden files that could not
    be read, for formats that have more than numbers.

    Raises:
        MissingExtraError: the report needs a package that is not installed.
    """
    make = _format_function(kind)
    parameters = signature(make).parameters
    if compared is None and "compared" in parameters:
        from .side_by_side import side_by_sides

        compared = side_by_sides(runs)
    arguments = {"prefix": prefix, "trends": trends, "compared": compared, "mistakes": mistakes}
    text = make(runs, verdicts, **{name: arguments[name] for name in parameters if name in arguments})
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates become escapes, as in JSON


def write_report(path: Path, text: str) -> None:
    """Write *text* to *path*: atomically, except to special files such as ``/dev/stdout``.

    Raises:
        NotWrittenError: a regular file cannot be written.
        OSError: a special file cannot be written.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
    else:
        write_atomically(path, text)
