"""A stored result is held to what a result holds, also within its mappings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_auepora.base.records import RecordError, read_record
from pytest_auepora.core.run import CaseResult, Run

from ..reporting.builders import Case, run_of

RUN = run_of([Case("one", labels={"must_contain": ["30 days"]}), Case("two", error="ConnectionError: no route")])


def test_a_run_fits() -> None:
    assert Run.from_dict(RUN.to_dict()) == RUN


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("scores", {"mrr": {"state": "number", "value": float("nan")}}, "scores.mrr.value: expected a finite number"),
        ("scores", {"mrr": {"state": "number", "value": None}}, "scores.mrr: expected a score, with a finite number"),
        ("scores", {"mrr": {"state": "n/a", "value": 1.0}}, "scores.mrr: expected a score, with a finite number"),
        ("ranks", {"d": 0}, "ranks.d: expected a whole number from 1 on or null, found 0"),
        ("texts", {"outputs": {"retrieved": [{"text": "t"}]}}, "there is no key 'texts.outputs.retrieved.0.id'"),
        (
            "texts",
            {"outputs": {"timings": {"end_to_end": "1"}}},
            "texts.outputs.timings.end_to_end: expected a ",
        ),
        (
            "texts",
            {"expected": {"relevant": [{"id": "d", "grade": None}]}},
            "texts.expected.relevant.0.grade: expected",
        ),
        ("findings", [{"kind": "no"}], "findings.0.kind: expected one of assertion, "),
    ],
)
def test_what_does_not_fit(key: str, value: Any, said: str) -> None:
    raw = RUN.cases["one"].to_dict() | {key: value}
    with pytest.raises(RecordError) as seen:
        read_record(CaseResult, json.dumps(raw))
    assert str(seen.value).startswith(said)
