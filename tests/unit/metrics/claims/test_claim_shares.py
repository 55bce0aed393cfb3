"""Each share by hand, over one small matrix; the ends of the range; names and directions."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.types import SystemOutputs
from pytest_auepora.metrics.claims.claim_shares import (
    ClaimF1,
    ClaimPrecision,
    ContextPrecision,
    ContextRecall,
    ContextUtilization,
    Faithfulness,
    Hallucination,
)
from pytest_auepora.metrics.registry import Registry

from ..samples import case, gave, is_na, value

NAMES = {
    "faithfulness": 3 / 5,
    "claim_precision": 2 / 5,
    "claim_recall": 2 / 4,
    "claim_f1": 4 / 9,
    "context_recall": 3 / 4,
    "context_precision": 2 / 3,
    "context_utilization": 1 / 3,
    "noise_sensitivity_in_relevant": 1 / 5,
    "noise_sensitivity_in_irrelevant": 1 / 5,
    "hallucination": 1 / 5,
    "self_knowledge": 1 / 5,
}
LOWER = {"noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination", "self_knowledge"}
# chunks 1 and 2 support something of the reference, chunk 3 does not
MATRIX: dict[str, list[Any]] = {
    "answer": ["right, found", "wrong, in 2 and 3", "wrong, in 3", "wrong, nowhere", "right, nowhere"],
    "answer_by_reference": [True, False, False, False, True],
    "answer_by_chunks": [[1, 0, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]],
    "reference_by_answer": [True, False, False, True],
    "reference_by_chunks": [[1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]],
}


def outputs(**changed: Any) -> SystemOutputs:
    given = {k: [[x == 1 for x in row] for row in v] if "chunks" in k else v for k, v in (MATRIX | changed).items()}
    return gave("An answer.", "one", "two", "three", metadata={"claims": given})


@pytest.mark.parametrize(("name", "expected"), NAMES.items())
def test_shares_by_hand(name: str, expected: float) -> None:
    metric = Registry().get(f"{name}[given]")
    assert value(metric, case(), outputs()) == pytest.approx(expected, abs=1e-15)
    assert metric.direction == ("lower" if name in LOWER else "higher")
    again = Registry().get(type(metric)("given").name)
    assert (type(again), again.params()) == (type(metric), metric.params())


def test_context_precision_by_rank_is_ragas_mean_of_precisions() -> None:
    metric = ContextPrecision("given", ranked=True)
    assert metric.name == "context_precision[checker=given,ranked=true]"
    late = outputs(reference_by_chunks=[[0, 1, 1]] * 4)
    assert value(metric, case(), late) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert value(ContextPrecision("given"), case(), late) == 2 / 3
    assert value(metric, case(), outputs()) == 1
    assert value(metric, case(), outputs(reference_by_chunks=[[0, 0, 0]] * 4)) == 0


def test_what_cost_something_is_named() -> None:
    seen = Hallucination("given").measure(case(), outputs())
    assert seen.details == {"of": 5, "unsupported": ["wrong, nowhere"]}  # type: ignore[union-attr]
    seen = ContextPrecision("given").measure(case(), outputs())
    assert seen.details == {"of": 3, "irrelevant": ["d3"]}  # type: ignore[union-attr]
    seen = ClaimF1("given").measure(case(), outputs())
    assert seen.details == {"precision": 0.4, "recall": 0.5}  # type: ignore[union-attr]


def test_no_value_is_invented_for_an_empty_case() -> None:
    nothing = outputs(reference_by_chunks=[[0, 0, 0]] * 4)
    assert is_na(ContextUtilization("given"), case(), nothing)
    assert value(ContextPrecision("given"), case(), nothing) == 0
    unfound = gave("An answer.", metadata={"claims": {"reference_by_chunks": [[], []], "answer_by_chunks": [[]]}})
    assert is_na(ContextPrecision("given"), case(), unfound)
    assert value(ContextRecall("given"), case(), unfound) == 0
    assert value(Faithfulness("given"), case(), unfound) == 0
    empty = gave("An answer.", "one", metadata={"claims": {"answer": [], "answer_by_reference": []}})
    assert is_na(ClaimPrecision("given"), case(), empty)


def test_nothing_right_at_all_is_an_f1_of_zero() -> None:
    wrong = outputs(answer_by_reference=[False] * 5, reference_by_answer=[False] * 4)
    assert value(ClaimF1("given"), case(), wrong) == 0
