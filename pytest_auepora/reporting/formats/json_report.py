"""The whole result as JSON: every run with every case, and its verdict.  Written, read back, described by a schema.

Other reports can be made from it alone, without a run.  The schemas are derived from the written classes; descriptions
are in the annotations of a class, or in ``MEANING`` by ``Class.field``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

from ...base.json import fields_of, known_fields
from ...core.case_texts import StoredTexts
from ...core.run import MetricInfo, Run
from ...errors import AueporaError, Problem
from ...regression.guards.gates import REGRESSION
from ...regression.verdict import Outcome, Verdict, Word
from ...shapes import ShapeError, check_shape
from ..notes import judge_usage_dict
from ..report import Report
from ..side_by_side import SideBySide
from ..tally import CaseStatus, tally
from .side_by_side_formats import FORMAT as SIDE_BY_SIDE_FORMAT
from .side_by_side_formats import RowData, side_by_side_dict

FORMAT = 1
"""Increased when a reader of the previous format would misread the new one; keys may be added without."""

_MISTAKES = (
    "errors in golden files that could not be read, and required baselines that no run used; absent if there are none"
)


class SuiteReport(TypedDict):
    """One judged run."""

    title: Annotated[str, "suite, with the configuration in brackets"]
    outcome: Outcome
    word: Annotated[Word, "the comparison with the baseline: worse, better, same, inconclusive, not judged or mixed"]
    counts: Annotated[dict[CaseStatus, int], "number of cases by status"]
    judge: Annotated[dict[str, Any], "usage of LLM judges, in total and by metric; empty where none was asked"]
    run: Run
    verdict: dict[str, Any]


class _RequiredKeys(TypedDict):
    format: int
    outcome: Annotated[Outcome, "the worst outcome of the suites"]
    headline: Annotated[str, "the sentence every report starts with"]
    suites: list[SuiteReport]


class ReportData(_RequiredKeys, total=False):
    """The whole report; `report_schema` is derived from it.  Keys without content are absent."""

    side_by_side: Annotated[list[dict[str, Any]], "suites that several systems ran; absent if there are none"]
    mistakes: Annotated[list[dict[str, Any]], _MISTAKES]
    stopped: Annotated[bool, "the run was stopped, so not everything ran; absent if it was not"]


def json_report(report: Report) -> str:
    """Return the report as JSON text in one line; the same runs give the same bytes.

    Numbers are unrounded.  Infinity and NaN are null: an open end of a metric's range, a value that was not measured.
    """
    raw: ReportData = {
        "format": FORMAT,
        "outcome": report.outcome,
        "headline": report.headline,
        "suites": [
            {
                "title": run.title,
                "outcome": verdict.outcome,
                "word": verdict.word,
                "counts": dict(tally(run, verdict)),
                "judge": judge_usage_dict(run),
                "run": run,
                "verdict": {"outcome": verdict.outcome, **_plain_data(verdict)},
            }
            for run, verdict in report.pairs
        ],
    }
    if comparisons := report.comparisons():
        raw["side_by_side"] = [side_by_side_dict(suite) for suite in comparisons]
    if report.mistakes:
        raw["mistakes"] = [mistake._asdict() for mistake in report.mistakes]
    if report.is_stopped:
        raw["stopped"] = True
    try:
        text = json.dumps(raw, ensure_ascii=False, allow_nan=False, default=_plain_data)
    except (TypeError, ValueError):  # a key that is no string; infinity or NaN
        text = json.dumps(_finite_data(raw), ensure_ascii=False, allow_nan=False)
    return text + "\n"


def read_json_report(text: str) -> Report:
    """Read what `json_report` wrote.

    Raises:
        AueporaError: the text is no such report, or one of a newer format.
    """
    try:
        raw = json.loads(text)
        if not isinstance(raw, dict) or "format" not in raw:
            raise AueporaError("not an auepora report: there is no 'format' key")
        if raw["format"] != FORMAT:
            raise AueporaError(f"report format {raw['format']!r}, this version reads {FORMAT}")
        stored = _StoredReport(**known_fields(_StoredReport, check_shape(raw, _StoredReport)))
        runs = [Run.from_dict(suite["run"]) for suite in stored.suites]
        verdicts = [read_verdict(suite["verdict"]) for suite in stored.suites]
        mistakes = [Problem(m["path"], m["line"], m["col"], m["message"]) for m in stored.mistakes]
        return Report(runs, verdicts, mistakes, is_stopped=stored.stopped)
    except (json.JSONDecodeError, ShapeError) as exc:
        raise AueporaError(f"not an auepora report: {exc}") from None
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as exc:
        raise AueporaError(f"not an auepora report: {type(exc).__name__}: {exc}") from None


class _StoredSuite(TypedDict):
    run: Annotated[dict[str, Any], Run]
    verdict: dict[str, Any]


@dataclass
class _StoredReport:
    """The keys that are read; those with a default may be missing."""

    suites: list[_StoredSuite]
    mistakes: Annotated[list[dict[str, Any]], list[Problem]] = field(default_factory=list)
    stopped: bool = False


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
    """Return *value* as a dict where it is a mapping or a dataclass, else as text."""
    if isinstance(value, Mapping):  # the results of a large run
        return dict(value)
    if isinstance(value, StoredTexts):
        value = value.read()
    if not is_dataclass(value):
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


def read_verdict(raw: Mapping[str, Any]) -> Verdict:
    """Return the verdict of its plain data *raw*, as a report or a history stores it.

    Raises:
        ShapeError: *raw* is no plain data of a verdict.
    """
    check_shape(raw, Verdict)
    verdict: Verdict = _built(Verdict, raw)
    for gate, stored in zip(verdict.gates, raw.get("gates", ()), strict=True):
        if "part" not in stored:  # versions that wrote the part into title and message alone
            gate.part = gate.title.removeprefix(REGRESSION)
            subjects = (f"{gate.part}: ", f"{gate.part} ")
            gate.subject = next((one for one in subjects if gate.message.startswith(one)), "")
    return verdict


def _built(hint: Any, value: Any) -> Any:
    """Return plain data as the type *hint* has them: dataclasses, tuples.  Keys of newer versions are ignored."""
    if value is None:
        return None
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):  # with None
        return _built(args[0], value)
    if origin is dict:
        return {key: _built(args[1], item) for key, item in value.items()}
    if origin in (list, tuple):
        return origin(_built(args[0], item) for item in value)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = _field_types(hint)
        return hint(**{key: _built(hints[key], item) for key, item in known_fields(hint, value).items()})
    return value


_field_types = cache(get_type_hints)


MEANING = {
    "Aggregate.gated": "the value with errored cases at the metric's worst value",
    "Aggregate.value": "over the n measured cases; null when there are none",
    "CaseComparison.changes": "gain is negative where the score got worse, whichever direction is better",
    "CaseComparison.flip": "change of the pass/fail state",
    "CaseResult.error": "the exception, first line first, or empty",
    "CaseResult.problems": "why it failed",
    "CaseResult.ranks": "1-based rank of relevant labels",
    "CaseResult.where": "file:line of the case",
    "CaseTexts.outputs": "answer, retrieved (id, score, grade, text), timings in seconds",
    "Comparison.aggregates": "changes of metrics whose aggregate is not a mean",
    "Comparison.steady": "metrics with equal scores for repeated answers to a case",
    "Comparison.former": "baseline means of metrics that are not comparable",
    "Comparison.incomparable": "metrics that are not comparable, with what changed",
    "Difference.low": "lower end of the interval; null where there is none",
    "Difference.value": "this column - the first, in the metric's own unit and sign",
    "GateOutcome.before": "the value of the baseline or anchor; null without one",
    "GateOutcome.brief": "a shorter message, for use beside a table of the numbers",
    "GateOutcome.worst_cases": "cases that lower the value most, worst first",
    "GateOutcome.finding": "the message of a failure without its arithmetic; empty if there is none",
    "GateOutcome.line": "line of the golden file, or 0",
    "GateOutcome.mde": "minimum detectable drop (80 % power); null if not tested",
    "GateOutcome.part": "the metric, slice or statistic that is judged; else the title",
    "GateOutcome.p": "p-value of the drop, the metric taken alone; null if not tested",
    "GateOutcome.subject": "the beginning of the message, if that names the part",
    "GateOutcome.warning": "where mde exceeds the margin: how many cases are needed",
    "GateOutcome.word": "against a baseline: worse, better, same or inconclusive; else empty",
    "GateOutcome.would_be": "the state that an advisory gate would have if it counted",
    "MetricInfo.direction": "higher or lower is better",
    "MetricInfo.interval": "how the confidence interval of the aggregate is computed; empty for means",
    "MetricInfo.judge": "the judge that has to be calibrated; empty without an LLM judge",
    "MetricInfo.owner": "owner of the metric, if not that of the suite",
    "MetricInfo.range": "lowest and highest value; null where there is no bound",
    "MetricInfo.across_chunkers": "comparable across chunkers if labels are passages, or if their documents are known",
    "MetricInfo.provenance_keys": "provenance that must be equal for scores to be comparable",
    "MetricInfo.steady": "whether repeated answers to a case have equal scores; null where no baseline says so",
    "MetricInfo.target": "target category of the Auepora framework",
    "Problem.line": "1-based; 0 for the whole file",
    "Run.expected_ids": "all cases of the suite, also those that did not run",
    "Run.origin": "run that answers were taken from (run, kind, taken), or empty",
    "Run.path": "the golden file",
    "Run.variant": "configuration of a parametrized system, or empty",
    "Score.data": "what the metric aggregates, where a number is not enough",
    "Score.reason": "why there is not a number",
    "Score.value": "null unless the state is number",
    "Verdict.baseline_note": "why there is no baseline",
    "Verdict.comparison": "null without a baseline",
    "Verdict.regressed_cases": "cases that failed because they are worse than their baseline",
    "Verdict.flaky": "cases that are too flaky for the case guard, with the reason",
    "Verdict.noise": "by metric, where cases were repeated: variance within and between cases",
}

_SCHEMAS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": ["number", "null"]},  # infinity and NaN are null
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
    keys["side_by_side"]["items"] = _schema_of_side_by_side()
    keys["mistakes"]["items"] = _schema_of(Problem)
    keys["suites"]["items"]["properties"]["verdict"] = _with_first(_schema_of(Verdict), "outcome", _schema_of(Outcome))
    return {**_document("auepora report"), **body}


def side_by_side_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of `side_by_side_json`, under the same rules as that of the report."""
    body = _with_first(_schema_of_side_by_side(), "format", {"const": SIDE_BY_SIDE_FORMAT})
    return {**_document("auepora systems side by side"), **body}


def _document(title: str) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}


def _with_first(body: dict[str, Any], key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that also has *key*, before the others."""
    return body | {"properties": {key: schema, **body["properties"]}, "required": [key, *body["required"]]}


def _schema_of_side_by_side() -> dict[str, Any]:
    body = _schema_of(SideBySide)
    body["properties"]["rows"]["items"] = _schema_of(RowData)
    return body


def _schema_of(kind: Any) -> dict[str, Any]:
    if kind in _SCHEMAS:
        return dict(_SCHEMAS[kind])
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        meanings = [{"description": text} for text in args[1:] if isinstance(text, str)]
        written = args[-1] if isinstance(args[-1], type) else args[0]
        return {**_schema_of(written), **(meanings[0] if meanings else {})}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        parts = [_schema_of(arg) for arg in args]
        return parts[0] if float in args else {"anyOf": parts}
    if origin in (dict, Mapping, MutableMapping):
        return {"type": "object", "additionalProperties": _schema_of(args[1])}
    if origin in (list, tuple, Sequence):
        out = {"type": "array", "items": _schema_of(args[0])}
        is_fixed = origin is tuple and args[-1] is not Ellipsis
        return out | ({"minItems": len(args), "maxItems": len(args)} if is_fixed else {})
    if not (is_typeddict(kind) or is_dataclass(kind) or hasattr(kind, "_fields")):
        return {}  # anything
    hints = get_type_hints(kind, include_extras=True)
    names = [f.name for f in fields(kind)] if is_dataclass(kind) else list(hints)
    properties = {name: _schema_of(hints[name]) for name in names}
    for name, schema in properties.items():
        if meaning := MEANING.get(f"{kind.__name__}.{name}"):
            schema["description"] = meaning
    required = [name for name in names if name in getattr(kind, "__required_keys__", names)]
    return {"type": "object", "properties": properties, "required": required}
