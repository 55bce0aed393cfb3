"""The keys that say how strictly a file is judged: what they take, and that editors are told the same."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from pytest_auepora.io.golden.fields import REGRESSION, Thresholds
from pytest_auepora.io.golden.kinds import BAD
from pytest_auepora.io.source import Source
from pytest_auepora.regression.policy import RegressionPolicy


def complaints(value: dict[str, Any]) -> list[str]:
    source = Source("f.yaml", "")
    REGRESSION.read(value, ("regression",), source)
    return [p.message for p in source.problems]


@pytest.mark.parametrize(
    "value",
    [
        {"case_guard": "auto", "case_max_drop": 0.5, "again": 0, "alpha": 0.05},
        {"anchor": {"policy": "report", "min_effect": 0.03}, "on_inconclusive": "fail"},
        {"slices": ["language", {"scenario": "typo"}]},
        {"metrics": {"recall@5": {"policy": "tolerance", "margin": 0.1}}, "not_comparable": {"corpus": "all"}},
    ],
)
def test_what_is_read_the_schema_takes(value: dict[str, Any]) -> None:
    assert complaints(value) == []
    jsonschema.validate(value, REGRESSION.schema())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"case_guard": "on"}, "case_guard: expected one of auto, suite, off, got 'on'"),
        ({"alpha": 0.5}, "alpha: expected a number above 0 and below 0.5, got 0.5 (a number)"),
        ({"slices": [[]]}, "expected a label, or labels with their values: {scenario: typo}, got an empty list"),
        ({"anchor": {"alpha": 0.1}}, "unknown key 'alpha'; the policy for the anchor has policy, min_effect, margin"),
        ({"alhpa": 0.1}, "unknown key 'alhpa' (did you mean 'alpha'?)"),
        ({"policy": False}, "policy: expected one of auto, statistical, tolerance, report, got False (false)"),
        ({"on_inconclusive": "fial"}, "on_inconclusive: expected one of pass, fail, got 'fial' (did you mean 'fail'?)"),
        ({"judge": "gates"}, "judge: expected one of calibrated, gate, advisory, got 'gates' (did you mean 'gate'?)"),
        ({"case_max_drop": -0.1}, "case_max_drop: expected a number from 0, got -0.1 (a number)"),
        ({"margin": True}, "margin: expected a number from 0, got True (true)"),
        ({"again": -1}, "again: expected a whole number from 0 to 20, got -1 (a whole number)"),
        ({"anchor": {"margin": -1}}, "margin: expected a number from 0, got -1 (a whole number)"),
        (
            {"metrics": {"recall@5": {"min_effect": -1}}},
            "min_effect: expected a number from 0, got -1 (a whole number)",
        ),
        (
            {"metrics": {"recall@5": {"alpha": 0.1}}},
            "unknown key 'alpha'; a metric's policy has case_guard, policy, case_max_drop, min_effect, margin, judge",
        ),
    ],
)
def test_what_is_wrong_has_its_key(value: dict[str, Any], message: str) -> None:
    assert complaints(value) == [message]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, REGRESSION.schema())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_limits_are_finite(value: float) -> None:
    (told,) = complaints({"margin": value})
    assert (told.partition(":")[0], f" {value} " in told) == ("margin", True)


def test_every_key_sets_something_of_the_policy() -> None:
    assert set(REGRESSION.fields) <= {*RegressionPolicy.__dataclass_fields__}


@pytest.mark.parametrize(
    ("bounds", "of_case", "takes"),
    [
        ({"recall@5": 0.8, "mrr": ">= 0.5", "p95_latency": {"max": 2}}, True, True),
        ({"recall@5": {"min": 0.8, "slice": {"scenario": "typo"}}}, False, True),
        ({"recall@5": {"min": 0.8, "slice": {"scenario": "typo"}}}, True, False),
        ({"recall@5": "about 0.8"}, False, False),
        ({"recall@5": {}}, False, False),
    ],
)
def test_editors_know_what_a_bound_looks_like(bounds: dict[str, Any], of_case: bool, takes: bool) -> None:
    assert jsonschema.Draft202012Validator(Thresholds(of_case=of_case).schema()).is_valid(bounds) == takes


def test_thresholds_are_a_mapping() -> None:
    source = Source("f.yaml", "")
    assert Thresholds(of_case=False).read([0.8], ("thresholds",), source) is BAD
    assert "bounds" in source.problems[0].message
