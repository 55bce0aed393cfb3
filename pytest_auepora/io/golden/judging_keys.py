"""Keys of a golden file that say how strictly it is judged: bounds, repeats, and what becomes of changes."""

from __future__ import annotations

from typing import Any

from ...errors import ThresholdError
from ...regression.thresholds import read_slice
from ..source import Source
from .containers import Field, ListOf, MapOf, Record, table
from .kinds import Choice, Kind, Number, Text, Whole

_SLICE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": ["string", "integer"]},
}


class Thresholds(Kind):
    """Bounds by metric; what they say is read where the metrics are known."""

    expected = "a mapping from metrics to bounds"

    def __init__(self, *, of_case: bool) -> None:
        self.of_case = of_case

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        return value if isinstance(value, dict) else self.refuse(value, holder, key, source)

    def schema(self) -> dict[str, Any]:
        number = {"type": "number"}
        text = {"type": "string", "pattern": r"^\s*(>=|<=|≥|≤)?\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"}
        keys: dict[str, Any] = {"min": number, "max": number}
        if not self.of_case:
            keys["stat"] = {"type": "string", "pattern": "^(aggregate|mean|median|min|max|pass_rate|p[1-9][0-9]?)$"}
            keys["slice"] = _SLICE_SCHEMA
            keys["owner"] = {"type": "string", "pattern": r"\S"}
        bound = {"type": "object", "properties": keys, "additionalProperties": False,
                 "anyOf": [{"required": ["min"]}, {"required": ["max"]}]}  # fmt: skip
        one = {"anyOf": [number, text, bound]}
        many = {"type": "array", "items": one, "minItems": 1}
        return {"type": "object", "additionalProperties": {"anyOf": [number, text, bound, many]}}


class _Slice(Kind):
    """Labels with their values, as in thresholds; or a label alone, for a slice of each of its values."""

    expected = "a label, or labels with their values: {scenario: typo}"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if isinstance(value, str) and value.strip():
            return value
        try:
            return read_slice(value)
        except ThresholdError:
            return self.refuse(value, holder, key, source)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [Text().schema(), _SLICE_SCHEMA]}


_POLICY = Choice("auto", "statistical", "tolerance", "report")
_BY_METRIC = (
    Field(
        "case_guard",
        Choice("auto", "net", "off"),
        "What a case that fell may do: auto (default: fail, in a steady metric), net (count in net flips), off (list).",
    ),
    Field("policy", _POLICY, "auto (default), statistical, tolerance, or report: show changes, fail nothing."),
    Field("case_max_drop", Number(0), "How far one case's score may fall before the case fails (0.5)."),
    Field("min_effect", Number(0), "A smaller drop of the mean is no regression (0.01)."),
    Field("margin", Number(0), "How large a drop must be ruled out to call a metric unharmed (0.05)."),
    Field(
        "judge",
        Choice("calibrated", "gate", "advisory"),
        "When a judge's scores may fail the run: calibrated (default), gate (always), advisory (never).",
    ),
)
REGRESSION = Record(
    "regression",
    table(
        *_BY_METRIC,
        Field("confirm", Whole(0, 20), "How often a failing case is asked again; it fails if every answer fails (2)."),
        Field(
            "again", Whole(0, 4), "How often an update asks cases again, to learn which metrics are steady; 0: never."
        ),
        Field("alpha", Number(0, 0.5, above=True), "Chance of a false alarm over all metrics together (0.05)."),
        Field("on_inconclusive", Choice("pass", "fail"), "What becomes of a run that the data cannot decide (pass)."),
        Field(
            "anchor",
            Record(
                "the policy for the anchor",
                table(
                    Field("policy", _POLICY, "As in regression; by default what stands there."),
                    Field("min_effect", Number(0), "A smaller drop since the anchor is no drift (0.03)."),
                    Field("margin", Number(0), "How large a drop since the anchor must be ruled out (0.1)."),
                ),
            ),
            "How strictly the run is held to its anchor, where there is one.",
        ),
        Field(
            "slices",
            ListOf(_Slice(), least=1, unique=True),
            "Parts judged beside the whole: {scenario: typo}, or a label for a slice of each of its values.",
        ),
        Field(
            "not_comparable",
            MapOf(ListOf(Text(), one_ok=True, least=1), "keys of the provenance"),
            "Metrics (or all) that do not compare with the baseline where this provenance differs: {corpus: all}.",
        ),
        Field(
            "metrics",
            MapOf(Record("a metric's policy", table(*_BY_METRIC)), "metrics"),
            "Other values for single metrics.",
        ),
    ),
)
