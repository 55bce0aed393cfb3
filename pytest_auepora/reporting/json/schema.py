"""The JSON Schema of `json_report`: what a program that reads the report may rely on."""

from __future__ import annotations

from typing import Any

from ...core.run import CaseState
from ...core.scores import ScoreState
from ...regression.compare.cases import Flip
from ...regression.guards.gates import GateKind, GateState
from ...regression.verdict import Outcome
from ..side_by_side.schema import side_by_side_object
from .report import FORMAT
from .schema_parts import ANY_OBJECT, COUNT, NUMBER, TEXT, TEXTS, an_object, by_name, one_of, schema

__all__ = ["report_schema"]


def report_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12).  Keys not named here may appear; those required always do."""
    body = an_object(
        {
            "format": {"const": FORMAT},
            "outcome": one_of(Outcome, "the gravest outcome of the suites"),
            "headline": {**TEXT, "description": "the sentence every report starts with"},
            "suites": {"type": "array", "items": _suite()},
            "side_by_side": {
                "type": "array", "items": side_by_side_object(),
                "description": "suites that several systems ran; absent where there is none",
            },
            "mistakes": {
                "type": "array", "items": _mistake(),
                "description": "what is wrong in golden files that could not be read; absent where nothing is",
            },
        },
        optional=("side_by_side", "mistakes"),
    )  # fmt: skip
    return schema("auepora report", body)


def _mistake() -> dict[str, Any]:
    place = {"line": {**COUNT, "description": "1-based; 0 where the whole file is meant"}, "col": COUNT}
    return an_object({"path": TEXT, **place, "message": TEXT})


def _suite() -> dict[str, Any]:
    return an_object(
        {
            "title": {**TEXT, "description": "suite, with the configuration in brackets"},
            "outcome": one_of(Outcome),
            "counts": {**by_name(COUNT), "description": "cases by what became of them"},
            "run": _run(),
            "verdict": _verdict(),
        }
    )


def _run() -> dict[str, Any]:
    return an_object(
        {
            "suite": TEXT,
            "path": {**TEXT, "description": "the golden file"},
            "variant": {**TEXT, "description": "configuration of a parametrized system, or empty"},
            "cases": by_name(_case()),
            "metrics": by_name(_metric()),
            "expected_ids": {**TEXTS, "description": "all cases of the suite, whether they ran or not"},
            "provenance": ANY_OBJECT,
            "owner": TEXT,
            "origin": {**ANY_OBJECT, "description": "run that answers were taken from (run, kind, taken), or empty"},
        },
        optional=("origin",),
    )


def _metric() -> dict[str, Any]:
    return an_object(
        {
            "name": TEXT,
            "version": {"type": "integer"},
            "params": ANY_OBJECT,
            "target": {**TEXT, "description": "target category of the Auepora framework"},
            "direction": {"enum": ["higher", "lower"], "description": "which is better"},
            "range": {
                "type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2,
                "description": "lowest and highest value; null where there is no bound",
            },
            "deterministic": {"type": "boolean"},
            "baselined": {"type": "boolean"},
            "ruler": {**TEXTS, "description": "provenance that has to be equal for scores to compare"},
            "interval": {**TEXT, "description": "how an interval of its aggregate is found; empty for means"},
            "owner": {**TEXT, "description": "who answers for it, if not the owner of the suite"},
            "judge": {**ANY_OBJECT, "description": "what a calibration has to be of; empty where no judge scores"},
        },
        optional=("interval", "judge", "owner", "ruler"),
    )  # fmt: skip


def _case() -> dict[str, Any]:
    return an_object(
        {
            "case_id": TEXT,
            "state": one_of(CaseState),
            "scores": by_name(_score()),
            "problems": {**TEXTS, "description": "why it failed"},
            "error": {**TEXT, "description": "the exception, first line first, or empty"},
            "query": TEXT,
            "where": {**TEXT, "description": "file:line of the case"},
            "content_hash": TEXT,
            "cluster": TEXT,
            "labels": ANY_OBJECT,
            "expected": ANY_OBJECT,
            "outputs": {
                **ANY_OBJECT,
                "description": "answer, retrieved (id, score, grade, text), timings in seconds",
            },
            "ranks": {**by_name({"type": ["integer", "null"]}), "description": "1-based rank of relevant labels"},
            "seconds": {"type": "number"},
            "concurrency": COUNT,
            "extra": ANY_OBJECT,
        }
    )


def _score() -> dict[str, Any]:
    return an_object(
        {
            "state": one_of(ScoreState),
            "value": {**NUMBER, "description": "null unless the state is number"},
            "reason": {**TEXT, "description": "why there is no number"},
            "data": {"description": "what the metric aggregates, where a number is not enough"},
            "details": ANY_OBJECT,
        }
    )


def _verdict() -> dict[str, Any]:
    return an_object(
        {
            "outcome": one_of(Outcome),
            "title": TEXT,
            "gates": {"type": "array", "items": _gate()},
            "aggregates": by_name(_aggregate()),
            "comparison": {"anyOf": [{"type": "null"}, _comparison()], "description": "null without a baseline"},
            "baseline_note": {**TEXT, "description": "why there is no baseline"},
            "notes": TEXTS,
            "failed_cases": COUNT,
            "flaky": {**by_name(TEXT), "description": "cases too unsteady for the case guard, and why"},
            "noise": {
                **by_name(_split()),
                "description": "by metric, where cases were repeated: variances of a case's difference",
            },
        }
    )


def _split() -> dict[str, Any]:
    numbers = ("total", "between", "within_baseline", "within_candidate", "repeats_baseline", "repeats_candidate")
    return an_object({"n_cases": COUNT, **dict.fromkeys(numbers, NUMBER)})


def _gate() -> dict[str, Any]:
    return an_object(
        {
            "title": TEXT,
            "kind": one_of(GateKind),
            "state": one_of(GateState),
            "message": TEXT,
            "metric": TEXT,
            "value": NUMBER,
            "bound": TEXT,
            "n": COUNT,
            "total": COUNT,
            "owner": TEXT,
            "line": {**COUNT, "description": "line of the golden file, or 0"},
            "p": {**NUMBER, "description": "of a drop so clear by chance, the metric taken alone; null if not tested"},
            "culprits": {**TEXTS, "description": "cases that cost most, worst first"},
            "before": {**NUMBER, "description": "what value is held against, where that is of an earlier run"},
            "would_be": {**TEXT, "description": "of an advisory gate: the state it would have, did it count"},
            "mde": {**NUMBER, "description": "smallest true loss found in four of five runs; null if not tested"},
            "warning": {**TEXT, "description": "where mde exceeds the margin: how many cases it would take"},
        },
        optional=("before", "would_be", "mde", "warning"),
    )


def _aggregate() -> dict[str, Any]:
    return an_object(
        {
            "name": TEXT,
            "value": {**NUMBER, "description": "over the n measured cases; null when there are none"},
            "gated": {**NUMBER, "description": "the same with errored cases at the metric's worst value"},
            "n": COUNT,
            "n_error": COUNT,
            "n_na": COUNT,
            "total": COUNT,
            "details": ANY_OBJECT,
        }
    )


def _comparison() -> dict[str, Any]:
    change = an_object({"before": NUMBER, "after": NUMBER, "gain": NUMBER, "errored": {"type": "boolean"}})
    before = an_object({"hash": TEXT, "state": TEXT, "scores": by_name(NUMBER), "ranks": ANY_OBJECT})
    before["properties"] |= {"repeats": COUNT, "varied": by_name({"type": "array", "items": NUMBER})}
    before["properties"] |= {"data": ANY_OBJECT, "concurrency": COUNT}
    whole = an_object({"n": COUNT, "before": NUMBER, "after": NUMBER, "gain": NUMBER, "dropped": TEXTS})
    case = an_object(
        {
            "case_id": TEXT,
            "flip": one_of(Flip, "what became of pass or fail"),
            "changes": {**by_name(change), "description": "gain is negative for a drop, in either direction"},
            "lost": by_name(TEXT),
            "before": {"anyOf": [{"type": "null"}, before]},
        }
    )
    return an_object(
        {
            "cases": by_name(case),
            "vanished": by_name({"type": ["string", "null"]}),
            "incomparable": {**by_name(TEXT), "description": "metrics, with what changed about them"},
            "lost_metrics": TEXTS,
            "aggregates": {**by_name(whole), "description": "changes of metrics whose aggregate is no mean"},
            "provenance": by_name({"type": "array", "minItems": 2, "maxItems": 2}),
        },
        optional=("aggregates",),
    )
