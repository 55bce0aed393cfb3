"""The JSON Schema of suites that several systems ran, side by side: alone, and as it stands in `json_report`."""

from __future__ import annotations

from typing import Any, get_args

from ...core.run import CaseState
from ...regression.compare.difference import Standing
from ..json.schema_parts import COUNT, NUMBER, TEXT, TEXTS, an_object, by_name, one_of, schema
from .data import FORMAT
from .table import Mark

__all__ = ["side_by_side_object", "side_by_side_schema"]


def side_by_side_schema() -> dict[str, Any]:
    """Return the schema of `side_by_side_json` (draft 2020-12), under the same rules as that of the report."""
    body = side_by_side_object()
    body["properties"] = {"format": {"const": FORMAT}, **body["properties"]}
    body["required"] = ["format", *body["required"]]
    return schema("auepora systems side by side", body)


def side_by_side_object() -> dict[str, Any]:
    """Return the schema of one suite that several systems ran."""
    column = an_object(
        {
            "name": {**TEXT, "description": "the configuration"},
            "title": TEXT,
            **dict.fromkeys(("cases", "passed", "failed", "errored", "skipped"), COUNT),
        }
    )
    row = an_object(
        {
            "metric": {**TEXT, "description": "a metric of the suite, or pass_rate"},
            "direction": {"enum": ["higher", "lower"], "description": "which is better"},
            "owner": {**TEXT, "description": "who answers for the metric, if not the owner of the suite"},
            "n": {**COUNT, "description": "cases that every system that compares has measured"},
            "figures": {"type": "array", "items": _figure(), "description": "one per column"},
        }
    )
    system = an_object({"state": one_of(CaseState), "scores": by_name(NUMBER)})
    case = an_object(
        {
            "case_id": TEXT,
            "where": TEXT,
            "differs": {"type": "boolean", "description": "only some of the systems pass it"},
            "systems": {
                "type": "array", "items": {"anyOf": [{"type": "null"}, system]},
                "description": "one per column; null where it was not run",
            },
        }
    )  # fmt: skip
    return an_object(
        {
            "suite": TEXT,
            "path": TEXT,
            "owner": TEXT,
            "confidence": {**NUMBER, "description": "of all intervals of a metric together"},
            "shared": {**COUNT, "description": "cases that every system ran, in the same wording"},
            "columns": {"type": "array", "items": column, "description": "the first is what others are held against"},
            "rows": {"type": "array", "items": row},
            "cases": {"type": "array", "items": case},
            "notes": TEXTS,
        }
    )


def _figure() -> dict[str, Any]:
    difference = an_object(
        {
            "value": {**NUMBER, "description": "this column - the first, in the metric's own unit and sign"},
            "low": {**NUMBER, "description": "lower end of the interval; null where there is none"},
            "high": NUMBER,
            **dict.fromkeys(("n_cases", "n_clusters", "n_higher", "n_lower", "n_differing"), COUNT),
            "alpha": NUMBER,
        }
    )
    return an_object(
        {
            "value": NUMBER,
            "mark": one_of(Mark),
            "standing": {"enum": [*get_args(Standing), None], "description": "what the difference amounts to"},
            "difference": {"anyOf": [{"type": "null"}, difference]},
            "note": TEXT,
        }
    )
