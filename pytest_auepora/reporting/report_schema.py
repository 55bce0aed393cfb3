"""The JSON Schema of `json_report`: what a program that reads the report may rely on."""

from __future__ import annotations

from typing import Any, get_args

from ..core.run import CaseState, ScoreState
from ..regression.compare import Flip
from ..regression.difference import Standing
from ..regression.gates import GateKind, GateState
from ..regression.verdict import Outcome
from .json_report import FORMAT
from .side_by_side import Mark
from .side_by_side_data import FORMAT as SIDE_BY_SIDE_FORMAT

__all__ = ["report_schema", "side_by_side_schema"]

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": ["number", "null"]}
_TEXTS = {"type": "array", "items": _TEXT}
_ANY_OBJECT = {"type": "object"}


def report_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12).  Keys not named here may appear; those required always do."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "auepora report",
        **_object(
            {
                "format": {"const": FORMAT},
                "outcome": _one_of(Outcome, "the gravest outcome of the suites"),
                "headline": {**_TEXT, "description": "the sentence every report starts with"},
                "suites": {"type": "array", "items": _suite()},
                "side_by_side": {
                    "type": "array", "items": _side_by_side(),
                    "description": "suites that several systems ran; absent where there is none",
                },
                "mistakes": {
                    "type": "array", "items": _mistake(),
                    "description": "what is wrong in golden files that could not be read; absent where nothing is",
                },
            },
            optional=("side_by_side", "mistakes"),
        ),
    }  # fmt: skip


def side_by_side_schema() -> dict[str, Any]:
    """Return the schema of `side_by_side_json`, under the same rules."""
    body = _side_by_side()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "auepora systems side by side",
        **body,
        "properties": {"format": {"const": SIDE_BY_SIDE_FORMAT}, **body["properties"]},
        "required": ["format", *body["required"]],
    }


def _object(properties: dict[str, Any], *, optional: tuple[str, ...] = (), description: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }
    return {**out, "description": description} if description else out


def _one_of(literal: Any, description: str = "") -> dict[str, Any]:
    return {"enum": list(get_args(literal)), **({"description": description} if description else {})}


def _by_name(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def _mistake() -> dict[str, Any]:
    place = {"line": {**_COUNT, "description": "1-based; 0 where the whole file is meant"}, "col": _COUNT}
    return _object({"path": _TEXT, **place, "message": _TEXT})


def _suite() -> dict[str, Any]:
    return _object(
        {
            "title": {**_TEXT, "description": "suite, with the configuration in brackets"},
            "outcome": _one_of(Outcome),
            "counts": {**_by_name(_COUNT), "description": "cases by what became of them"},
            "run": _run(),
            "verdict": _verdict(),
        }
    )


def _run() -> dict[str, Any]:
    return _object(
        {
            "suite": _TEXT,
            "path": {**_TEXT, "description": "the golden file"},
            "variant": {**_TEXT, "description": "configuration of a parametrized system, or empty"},
            "cases": _by_name(_case()),
            "metrics": _by_name(_metric()),
            "expected_ids": {**_TEXTS, "description": "all cases of the suite, whether they ran or not"},
            "provenance": _ANY_OBJECT,
            "owner": _TEXT,
            "origin": {**_ANY_OBJECT, "description": "run that answers were taken from (run, kind, taken), or empty"},
        },
        optional=("origin",),
    )


def _metric() -> dict[str, Any]:
    return _object(
        {
            "name": _TEXT,
            "version": {"type": "integer"},
            "params": _ANY_OBJECT,
            "target": {**_TEXT, "description": "target category of the Auepora framework"},
            "direction": {"enum": ["higher", "lower"], "description": "which is better"},
            "range": {
                "type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2,
                "description": "lowest and highest value; null where there is no bound",
            },
            "deterministic": {"type": "boolean"},
            "baselined": {"type": "boolean"},
            "ruler": {**_TEXTS, "description": "provenance that has to be equal for scores to compare"},
            "interval": {**_TEXT, "description": "how an interval of its aggregate is found; empty for means"},
            "owner": {**_TEXT, "description": "who answers for it, if not the owner of the suite"},
            "judge": {**_ANY_OBJECT, "description": "what a calibration has to be of; empty where no judge scores"},
        },
        optional=("interval", "judge", "owner", "ruler"),
    )  # fmt: skip


def _case() -> dict[str, Any]:
    return _object(
        {
            "case_id": _TEXT,
            "state": _one_of(CaseState),
            "scores": _by_name(_score()),
            "problems": {**_TEXTS, "description": "why it failed"},
            "error": {**_TEXT, "description": "the exception, first line first, or empty"},
            "query": _TEXT,
            "where": {**_TEXT, "description": "file:line of the case"},
            "content_hash": _TEXT,
            "cluster": _TEXT,
            "labels": _ANY_OBJECT,
            "expected": _ANY_OBJECT,
            "outputs": {
                **_ANY_OBJECT,
                "description": "answer, retrieved (id, score, grade, text), timings in seconds",
            },
            "ranks": {**_by_name({"type": ["integer", "null"]}), "description": "1-based rank of relevant labels"},
            "seconds": {"type": "number"},
            "concurrency": _COUNT,
            "extra": _ANY_OBJECT,
        }
    )


def _score() -> dict[str, Any]:
    return _object(
        {
            "state": _one_of(ScoreState),
            "value": {**_NUMBER, "description": "null unless the state is number"},
            "reason": {**_TEXT, "description": "why there is no number"},
            "data": {"description": "what the metric aggregates, where a number is not enough"},
            "details": _ANY_OBJECT,
        }
    )


def _verdict() -> dict[str, Any]:
    return _object(
        {
            "outcome": _one_of(Outcome),
            "title": _TEXT,
            "gates": {"type": "array", "items": _gate()},
            "aggregates": _by_name(_aggregate()),
            "comparison": {"anyOf": [{"type": "null"}, _comparison()], "description": "null without a baseline"},
            "baseline_note": {**_TEXT, "description": "why there is no baseline"},
            "notes": _TEXTS,
            "failed_cases": _COUNT,
            "flaky": {**_by_name(_TEXT), "description": "cases too unsteady for the case guard, and why"},
            "noise": {
                **_by_name(_split()),
                "description": "by metric, where cases were repeated: variances of a case's difference",
            },
        }
    )


def _split() -> dict[str, Any]:
    numbers = ("total", "between", "within_baseline", "within_candidate", "repeats_baseline", "repeats_candidate")
    return _object({"n_cases": _COUNT, **dict.fromkeys(numbers, _NUMBER)})


def _gate() -> dict[str, Any]:
    return _object(
        {
            "title": _TEXT,
            "kind": _one_of(GateKind),
            "state": _one_of(GateState),
            "message": _TEXT,
            "metric": _TEXT,
            "value": _NUMBER,
            "bound": _TEXT,
            "n": _COUNT,
            "total": _COUNT,
            "owner": _TEXT,
            "line": {**_COUNT, "description": "line of the golden file, or 0"},
            "p": {**_NUMBER, "description": "of a drop so clear by chance, the metric taken alone; null if not tested"},
            "culprits": {**_TEXTS, "description": "cases that cost most, worst first"},
            "before": {**_NUMBER, "description": "what value is held against, where that is of an earlier run"},
            "would_be": {**_TEXT, "description": "of an advisory gate: the state it would have, did it count"},
        },
        optional=("before", "would_be"),
    )


def _aggregate() -> dict[str, Any]:
    return _object(
        {
            "name": _TEXT,
            "value": {**_NUMBER, "description": "over the n measured cases; null when there are none"},
            "gated": {**_NUMBER, "description": "the same with errored cases at the metric's worst value"},
            "n": _COUNT,
            "n_error": _COUNT,
            "n_na": _COUNT,
            "total": _COUNT,
            "details": _ANY_OBJECT,
        }
    )


def _comparison() -> dict[str, Any]:
    change = _object({"before": _NUMBER, "after": _NUMBER, "gain": _NUMBER, "errored": {"type": "boolean"}})
    before = _object({"hash": _TEXT, "state": _TEXT, "scores": _by_name(_NUMBER), "ranks": _ANY_OBJECT})
    before["properties"] |= {"repeats": _COUNT, "varied": _by_name({"type": "array", "items": _NUMBER})}
    before["properties"] |= {"data": _ANY_OBJECT, "concurrency": _COUNT}
    whole = _object({"n": _COUNT, "before": _NUMBER, "after": _NUMBER, "gain": _NUMBER, "dropped": _TEXTS})
    case = _object(
        {
            "case_id": _TEXT,
            "flip": _one_of(Flip, "what became of pass or fail"),
            "changes": {**_by_name(change), "description": "gain is negative for a drop, in either direction"},
            "lost": _by_name(_TEXT),
            "before": {"anyOf": [{"type": "null"}, before]},
        }
    )
    return _object(
        {
            "cases": _by_name(case),
            "vanished": _by_name({"type": ["string", "null"]}),
            "incomparable": {**_by_name(_TEXT), "description": "metrics, with what changed about them"},
            "lost_metrics": _TEXTS,
            "aggregates": {**_by_name(whole), "description": "changes of metrics whose aggregate is no mean"},
            "provenance": _by_name({"type": "array", "minItems": 2, "maxItems": 2}),
        },
        optional=("aggregates",),
    )


def _side_by_side() -> dict[str, Any]:
    column = _object(
        {
            "name": {**_TEXT, "description": "the configuration"},
            "title": _TEXT,
            **dict.fromkeys(("cases", "passed", "failed", "errored", "skipped"), _COUNT),
        }
    )
    row = _object(
        {
            "metric": {**_TEXT, "description": "a metric of the suite, or pass_rate"},
            "direction": {"enum": ["higher", "lower"], "description": "which is better"},
            "owner": {**_TEXT, "description": "who answers for the metric, if not the owner of the suite"},
            "n": {**_COUNT, "description": "cases that every system that compares has measured"},
            "figures": {"type": "array", "items": _figure(), "description": "one per column"},
        }
    )
    system = _object({"state": _one_of(CaseState), "scores": _by_name(_NUMBER)})
    case = _object(
        {
            "case_id": _TEXT,
            "where": _TEXT,
            "differs": {"type": "boolean", "description": "only some of the systems pass it"},
            "systems": {
                "type": "array", "items": {"anyOf": [{"type": "null"}, system]},
                "description": "one per column; null where it was not run",
            },
        }
    )  # fmt: skip
    return _object(
        {
            "suite": _TEXT,
            "path": _TEXT,
            "owner": _TEXT,
            "confidence": {**_NUMBER, "description": "of all intervals of a metric together"},
            "shared": {**_COUNT, "description": "cases that every system ran, in the same wording"},
            "columns": {"type": "array", "items": column, "description": "the first is what others are held against"},
            "rows": {"type": "array", "items": row},
            "cases": {"type": "array", "items": case},
            "notes": _TEXTS,
        }
    )


def _figure() -> dict[str, Any]:
    difference = _object(
        {
            "value": {**_NUMBER, "description": "this column - the first, in the metric's own unit and sign"},
            "low": {**_NUMBER, "description": "lower end of the interval; null where there is none"},
            "high": _NUMBER,
            **dict.fromkeys(("n_cases", "n_clusters", "n_higher", "n_lower", "n_differing"), _COUNT),
            "alpha": _NUMBER,
        }
    )
    return _object(
        {
            "value": _NUMBER,
            "mark": _one_of(Mark),
            "standing": {"enum": [*get_args(Standing), None], "description": "what the difference amounts to"},
            "difference": {"anyOf": [{"type": "null"}, difference]},
            "note": _TEXT,
        }
    )
