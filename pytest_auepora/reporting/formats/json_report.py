"""The whole result as JSON: every run with every case, its verdict, and the sentences that reports say of them.

Other reports can be made from it alone, without a run: the data are read back, the sentences made anew.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from ...base.complaints import Problem
from ...base.json import fields_of
from ...base.records import Record, RecordError, read_record, record_schema
from ...core.case_texts import StoredTexts
from ...core.run import MetricInfo, Run
from ...errors import AueporaError
from ...metrics.judge.usage import usage_of
from ...metrics.service.system_usage import spending_by_model, total_spending
from ...regression.verdict import Outcome, Verdict, Word
from ..report import Report
from ..sentences import Sentences, sentences_of
from ..side_by_side import SideBySide
from ..tally import CaseStatus, tally
from ..wording.spending import total_usage
from .side_by_side_formats import FORMAT as SIDE_BY_SIDE_FORMAT

FORMAT: Literal[2] = 2
"""Increased when a reader of the previous format would misread the new one; keys may be added without."""


_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character, which no reader of JSON takes; it is written as people see it in every report."""


@dataclass(slots=True)
class SuiteReport(Record):
    """One judged run."""

    title: str
    """Suite, with the configuration in brackets."""
    outcome: Outcome
    """Whether it failed."""
    word: Word
    """The comparison with the baseline."""
    run: Run
    """What was measured."""
    verdict: Verdict
    """What was judged."""
    counts: dict[CaseStatus, int] = field(default_factory=dict)
    """Number of cases by status."""
    judge: dict[str, Any] = field(default_factory=dict)
    """Usage of LLM judges, in total and by metric; empty where none was asked."""
    system: dict[str, Any] = field(default_factory=dict)
    """Usage that the system reported, in total and by model; empty where it reported none."""
    sentences: Sentences = field(default_factory=Sentences)
    """The same in words."""


@dataclass(slots=True)
class Mistake(Record):
    """What keeps a file from being read."""

    path: str
    """The file."""
    line: int
    """1-based; 0 for the whole file."""
    col: int
    """1-based; 0 for the whole file."""
    message: str
    """What is wrong."""


@dataclass(slots=True)
class ReportData(Record):
    """The whole report; keys without content are absent."""

    format: Literal[2]
    """The version of this format."""
    outcome: Outcome
    """The worst outcome of the suites."""
    headline: str
    """The sentence every report starts with."""
    suites: list[SuiteReport]
    """One for each run."""
    side_by_side: list[SideBySide] = field(default_factory=list)
    """Suites that several systems ran."""
    mistakes: list[Mistake] = field(default_factory=list)
    """Errors in golden files that could not be read, and required baselines that no run used."""
    stopped: bool = False
    """Whether the run was stopped, so that not everything ran."""


def json_report(report: Report) -> str:
    """Return the report as JSON text in one line; the same runs give the same bytes.

    Numbers are unrounded.  Infinity and NaN are null: an open end of a metric's range, a value that was not measured.
    """
    raw = fields_of(report_data(report))
    for key in ("side_by_side", "mistakes", "stopped"):
        if not raw[key]:
            del raw[key]
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False, default=_plain_data)
    except (TypeError, ValueError):  # a key that is no string; infinity or NaN
        text = json.dumps(_finite_data(raw), ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text) + "\n"


def report_data(report: Report) -> ReportData:
    """Return the report as data, with its sentences."""
    return ReportData(
        FORMAT,
        report.outcome,
        report.headline,
        [_suite(run, verdict) for run, verdict in report.pairs],
        [*report.comparisons()],
        [Mistake(m.path, m.line, m.col, m.message) for m in report.mistakes],
        report.is_stopped,
    )


def _suite(run: Run, verdict: Verdict) -> SuiteReport:
    return SuiteReport(
        run.title, verdict.outcome, verdict.word, run, verdict, dict(tally(run, verdict)), judge_usage(run),
        system_usage(run), sentences_of(run, verdict),
    )  # fmt: skip


def judge_usage(run: Run) -> dict[str, Any]:
    """Return the usage of judges by metric, and in ``total``; empty for a run without requests."""
    if not (usages := usage_of(run)):
        return {}
    metrics = {name: usage.to_dict() for name, usage in usages.items()}
    return {"total": total_usage(usages).to_dict(), "metrics": metrics}


def system_usage(run: Run) -> dict[str, Any]:
    """Return the usage of the system by model, and in ``total``; empty where it reported none."""
    if not (models := spending_by_model(run)):
        return {}
    total = total_spending(case.system_usage for case in run.cases.values())
    return {"total": total.to_dict(), "models": {model: spending.to_dict() for model, spending in models.items()}}


def read_json_report(text: str) -> Report:
    """Read what `json_report` wrote.

    Raises:
        AueporaError: the text is no such report, or one of another format.
    """
    try:
        stored = read_record(ReportData, text)
    except RecordError as exc:
        raise AueporaError(f"not an auepora report: {exc}") from None
    mistakes = [Problem(m.path, m.line, m.col, m.message) for m in stored.mistakes]
    runs, verdicts = [suite.run for suite in stored.suites], [suite.verdict for suite in stored.suites]
    return Report(runs, verdicts, mistakes, known_comparisons=stored.side_by_side or None, is_stopped=stored.stopped)


@contextmanager
def from_outside(name: str) -> Iterator[None]:
    """Guard the use of the report called *name*, which may hold invalid values.

    Raises:
        AueporaError: instead of the exceptions that invalid values cause.
    """
    try:
        yield
    except AueporaError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as exc:
        raise AueporaError(f"{name} holds what no run does: {type(exc).__name__}: {exc}") from exc


def _plain_data(value: Any) -> Any:
    """Return *value* as a dict where it is a mapping or a record, else as text."""
    if isinstance(value, Mapping):  # the results of a large run
        return dict(value)
    if isinstance(value, StoredTexts):
        value = value.read()
    if not hasattr(value, "__dataclass_fields__"):
        return str(value)
    out = fields_of(value)
    if isinstance(value, MetricInfo):
        out["range"] = [end if math.isfinite(end) else None for end in value.range]
    return out


def _finite_data(value: Any) -> Any:
    """Return *value* as plain data, with None for infinity and NaN."""
    if value is None or isinstance(value, (str, int, float)):
        return None if isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, Mapping):
        return {str(k): _finite_data(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite_data(v) for v in value]
    return _finite_data(_plain_data(value))


def report_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of `json_report`.  Keys not named here may appear; those required always do."""
    return {**_document(f"report:{FORMAT}", "auepora report"), **record_schema(ReportData)}


def side_by_side_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of `side_by_side_json`, under the same rules as that of the report."""
    body = record_schema(SideBySide)
    body["properties"] = {"format": {"const": SIDE_BY_SIDE_FORMAT}, **body["properties"]}
    body["required"] = ["format", *body["required"]]
    return {**_document(f"side-by-side:{SIDE_BY_SIDE_FORMAT}", "auepora systems side by side"), **body}


def _document(name: str, title: str) -> dict[str, Any]:
    urn = f"urn:pytest-auepora:schema:{name}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": urn, "title": title}
