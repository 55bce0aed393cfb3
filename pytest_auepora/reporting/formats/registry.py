"""The report formats, and parsing of ``--auepora-report md:report.md``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...base.plugins import offers_of
from ...base.text import did_you_mean
from ...errors import AueporaError

if TYPE_CHECKING:
    from ..report import Report

FORMATS: Mapping[str, str] = {
    "md": ".markdown_report:markdown_report",
    "json": ".json_report:json_report",
    "csv": ".metrics_export:csv_report",
    "summary": ".metrics_export:summary_json",
    "html": "..page.page:html_report",
}
"""Format → ``module:function``, imported on use: ``(Report) -> text``; modules are relative to this package."""

WITH_TRENDS = ("html",)
"""Formats that show earlier runs."""

_BY_SUFFIX = {
    ".md": "md", ".markdown": "md", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html",
}  # fmt: skip


def formats() -> Mapping[str, str | Callable[[Report], str]]:
    """Return all formats by name, those of other packages as the function; none replaces one of this package."""
    return {**offers_of("pytest_auepora_report_formats"), **FORMATS}


class Target(NamedTuple):
    """A requested report: its format, and the file to write."""

    kind: str
    path: Path


def read_target(text: str) -> Target:
    """Parse ``csv:scores.csv``; the format may be left out where the suffix of the file has it.

    Raises:
        AueporaError: the format is unknown or missing, or there is no file.
    """
    known = formats()
    kind, colon, path = text.partition(":")
    if not colon or len(kind) == 1:  # a single letter is a Windows drive
        kind, path = _BY_SUFFIX.get(Path(text).suffix.lower(), ""), text
        if not kind:
            raise AueporaError(
                f"{text!r} does not say its format{_meant(text, known)}; write FORMAT:FILE with one of "
                f"{', '.join(known)}"
            )
    if kind not in known:
        raise AueporaError(f"no report format {kind!r}{_meant(kind, known)}; available: {', '.join(known)}")
    if not path:
        raise AueporaError(f"{text!r} names no file; write {kind}:FILE")
    return Target(kind, Path(path))


def _meant(word: str, known: Iterable[str]) -> str:
    """Return a suggestion for *word*, which may be a suffix of files of a format."""
    return did_you_mean(_BY_SUFFIX.get(f".{word.lower()}", word), known)


def report_text(kind: str, report: Report) -> str:
    """Return *report* in the format *kind*, one of `formats`."""
    make = formats()[kind]
    if isinstance(make, str):
        module, name = make.split(":")
        function: Callable[[Report], str] = getattr(import_module(module, __package__), name)
    else:
        function = make
    text = function(report)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates become escapes, as in JSON
