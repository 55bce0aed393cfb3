"""The JSON Schemas of the reports, derived from the classes that are written.

What a type cannot say stands in ``MEANING``: ``Class.field`` to a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from ...errors import Problem
from ...regression.guards.steadiness import VarianceSplit
from ...regression.verdict import Outcome, Verdict
from ..side_by_side.data import FORMAT as SIDE_BY_SIDE_FORMAT
from ..side_by_side.data import SuiteData
from .report import FORMAT, ReportData

_LATER = {"VarianceSplit": VarianceSplit}
"""Classes that the annotations of others name without importing them at run time."""

MEANING = {
    "Aggregate.gated": "the value with errored cases at the metric's worst value",
    "Aggregate.value": "over the n measured cases; null when there are none",
    "CaseComparison.changes": "gain is negative for a drop, in either direction",
    "CaseComparison.flip": "what became of pass or fail",
    "CaseData.differs": "only some of the systems pass it",
    "CaseData.systems": "one per column; null where it was not run",
    "CaseResult.error": "the exception, first line first, or empty",
    "CaseResult.outputs": "answer, retrieved (id, score, grade, text), timings in seconds",
    "CaseResult.problems": "why it failed",
    "CaseResult.ranks": "1-based rank of relevant labels",
    "CaseResult.where": "file:line of the case",
    "Column.name": "the configuration",
    "Comparison.aggregates": "changes of metrics whose aggregate is no mean",
    "Comparison.steady": "metrics that gave the same number whenever a case was asked again",
    "Comparison.former": "what the baseline has of metrics that do not compare",
    "Comparison.incomparable": "metrics, with what changed about them",
    "Difference.low": "lower end of the interval; null where there is none",
    "Difference.value": "this column - the first, in the metric's own unit and sign",
    "FigureData.standing": "what the difference amounts to",
    "GateOutcome.before": "what value is held against, where that is of an earlier run",
    "GateOutcome.culprits": "cases that cost most, worst first",
    "GateOutcome.line": "line of the golden file, or 0",
    "GateOutcome.mde": "minimum detectable drop (80 % power); null if not tested",
    "GateOutcome.p": "p-value of the drop, the metric taken alone; null if not tested",
    "GateOutcome.warning": "where mde exceeds the margin: how many cases are needed",
    "GateOutcome.word": "against a baseline: worse, better, same or inconclusive; else empty",
    "GateOutcome.would_be": "of an advisory gate: the state it would have, did it count",
    "MetricInfo.direction": "higher or lower is better",
    "MetricInfo.interval": "how an interval of its aggregate is found; empty for means",
    "MetricInfo.judge": "what a calibration has to be of; empty where no judge scores",
    "MetricInfo.owner": "who answers for it, if not the owner of the suite",
    "MetricInfo.range": "lowest and highest value; null where there is no bound",
    "MetricInfo.survives": "compares across chunkers where labels are passages, or their documents are known",
    "MetricInfo.ruler": "provenance that has to be equal for scores to compare",
    "MetricInfo.steady": "whether answers to one case never differed in it, where that was read from a baseline",
    "MetricInfo.target": "target category of the Auepora framework",
    "Problem.line": "1-based; 0 where the whole file is meant",
    "SuiteReport.judge": "what LLM judges spent, in total and by metric; empty where none was asked",
    "ReportData.headline": "the sentence every report starts with",
    "ReportData.mistakes": "what is wrong in golden files that could not be read; absent where nothing is",
    "ReportData.outcome": "the gravest outcome of the suites",
    "ReportData.side_by_side": "suites that several systems ran; absent where there is none",
    "RowData.direction": "higher or lower is better",
    "RowData.figures": "one per column",
    "RowData.metric": "a metric of the suite, or pass_rate",
    "RowData.n": "cases that every system that compares has measured",
    "RowData.owner": "who answers for the metric, if not the owner of the suite",
    "Run.expected_ids": "all cases of the suite, whether they ran or not",
    "Run.origin": "run that answers were taken from (run, kind, taken), or empty",
    "Run.path": "the golden file",
    "Run.variant": "configuration of a parametrized system, or empty",
    "Score.data": "what the metric aggregates, where a number is not enough",
    "Score.reason": "why there is no number",
    "Score.value": "null unless the state is number",
    "SuiteData.columns": "the first is what others are compared with",
    "SuiteData.confidence": "of all intervals of a metric together",
    "SuiteData.shared": "cases that every system ran, in the same wording",
    "SuiteReport.counts": "cases by what became of them",
    "SuiteReport.word": "the comparison with the baseline in a word",
    "SuiteReport.title": "suite, with the configuration in brackets",
    "Verdict.baseline_note": "why there is no baseline",
    "Verdict.comparison": "null without a baseline",
    "Verdict.fell": "cases that failed as they are worse than their baseline",
    "Verdict.flaky": "cases too unsteady for the case guard, and why",
    "Verdict.noise": "by metric, where cases were repeated: variances of a case's difference",
}

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": ["number", "null"]},  # what JSON has no number for is null
    type(None): {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
}


def report_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of `json_report`.  Keys not named here may appear; those required always do."""
    body = _schema_of(ReportData)
    keys = body["properties"]
    keys["format"] = {"const": FORMAT}
    keys["mistakes"]["items"] = _schema_of(Problem)
    verdict = keys["suites"]["items"]["properties"]["verdict"] = _schema_of(Verdict)
    verdict["properties"] = {"outcome": _schema_of(Outcome), **verdict["properties"]}
    verdict["required"] = ["outcome", *verdict["required"]]
    return _whole("auepora report", body)


def side_by_side_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of `side_by_side_json`, under the same rules as that of the report."""
    body = _schema_of(SuiteData)
    body["properties"] = {"format": {"const": SIDE_BY_SIDE_FORMAT}, **body["properties"]}
    body["required"] = ["format", *body["required"]]
    return _whole("auepora systems side by side", body)


def _whole(title: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **body}


def _schema_of(kind: Any) -> dict[str, Any]:
    """Return the schema of a type as JSON writes it."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, given = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(given)}
    if origin in (Union, UnionType):
        parts = [_schema_of(one) for one in given]
        return parts[0] if float in given else {"anyOf": parts}
    if origin in (dict, Mapping, MutableMapping):
        return {"type": "object", "additionalProperties": _schema_of(given[1])}
    if origin in (list, tuple, Sequence):
        return _array(origin, given)
    if is_typeddict(kind) or is_dataclass(kind) or hasattr(kind, "_fields"):
        return _object(kind)
    return {}  # anything


def _array(origin: Any, given: tuple[Any, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "array", "items": _schema_of(given[0])}
    if origin is tuple and given[-1] is not Ellipsis:
        out |= {"minItems": len(given), "maxItems": len(given)}
    return out


def _object(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, localns=_LATER)
    if is_dataclass(kind):
        hints = {f.name: hints[f.name] for f in fields(kind)}
    properties = {}
    for name, one in hints.items():
        meaning = MEANING.get(f"{kind.__name__}.{name}")
        properties[name] = {**_schema_of(one), **({"description": meaning} if meaning else {})}
    required = [name for name in hints if name in getattr(kind, "__required_keys__", hints)]
    return {"type": "object", "properties": properties, "required": required}
