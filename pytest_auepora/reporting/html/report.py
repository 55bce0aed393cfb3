"""The HTML report: one file that needs nothing else, asks nothing of any network, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...core.run import Run
from ...errors import MissingExtraError, Problem
from ...regression.verdict import Verdict
from ..side_by_side.table import SideBySide
from ..tally import headline, mistakes_note, overall_outcome
from ..trend import Trend
from .cases import shown
from .page import OUTCOMES, suite_views
from .side_view import side_views

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["hash_source", "html_report"]

_STYLES = ("base.css", "parts.css", "cases.css", "print.css")
_SCRIPTS = ("elements.js", "theme.js", "details.js", "table.js", "page.js")


def html_report(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    trends: Mapping[str, Trend] | None = None,
    compared: Sequence[SideBySide] | None = None,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the report as the text of an HTML file; the same runs give the same bytes.

    Args:
        runs: what was measured.
        verdicts: what each run amounts to.
        trends: title of a run → what is known of the runs before it; without it there is no trend, and answers are held
            against the reference alone.
        compared: `side_by_sides` of the runs, where that has been worked out.
        mistakes: those in golden files that could not be read.

    Raises:
        MissingExtraError: jinja2 or matplotlib is not installed.
    """
    env = _environment()
    style = "".join(_source(env, name) for name in _STYLES)
    script = f'(() => {{\n"use strict";\n{"".join(_source(env, name) for name in _SCRIPTS)}}})();\n'
    outcome = overall_outcome(verdicts, mistakes)
    word, mark = OUTCOMES[outcome]
    return env.get_template("report.html.j2").render(
        beside=side_views(runs, compared),
        suites=suite_views(runs, verdicts, trends or {}),
        outcome=outcome,
        word=word,
        mark=mark,
        headline=headline(verdicts, runs, mistakes),
        mistakes=mistakes,
        mistakes_title=mistakes_note(mistakes),
        style=style,
        script=script,
        policy=_policy(style, script),
    )


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the HTML report", "html") from None
    return Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _harmless(value: object) -> object:
    """Take controls out of everything the templates write; what is markup already stays as it is."""
    return shown(value) if type(value) is str else value


def _source(env: Environment, name: str) -> str:
    assert env.loader is not None
    return env.loader.get_source(env, name)[0]


def _policy(style: str, script: str) -> str:
    """Return a content security policy under which nothing is loaded and nothing runs but the report's own."""
    return "; ".join([
        "default-src 'none'",
        f"script-src {hash_source(script)}",
        f"style-src {hash_source(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip


def hash_source(text: str) -> str:
    """Return the source expression by which a content security policy admits an inline script or style of *text*."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
