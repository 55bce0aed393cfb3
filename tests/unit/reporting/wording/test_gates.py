"""What a gate says, by the numbers and words of its outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.regression.outcomes import HAS_NUMBER, PASS_RATE, GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.gates import (
    gate_groups,
    gate_sentence,
    gate_title,
    owner_and_cost,
    reason_text,
    suite_failure,
)

from .outcomes import RUN, gate, member


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"value": 0.79996}, "0.79996 is not >= 0.8 (over 41 of 44 cases, 3 errored and count as the worst value)"),
        ({"value": 0.9, "state": "passed", "n_error": 0}, "0.9000 is >= 0.8 (over 41 of 44 cases)"),
        ({"reason": "all skipped", "detail": "no key"}, "every case was skipped (no key)"),
        ({"reason": "no case ran"}, "no case ran"),
        ({"reason": "nothing measured", "detail": "no reference_answer"}, "nothing was measured: no reference_answer"),
        ({"reason": "no worst value"}, "3 cases errored, and an error has no worst token_f1 to count with"),
        ({"reason": "partial run"}, "0 of 0 cases ran, so this was not judged"),
    ],
)
def test_a_threshold(changes: dict[str, Any], text: str) -> None:
    outcome = gate(
        kind="threshold", op="min", limit=0.8, n=41, total=44, **{"state": "failed", "n_error": 3, **changes}
    )
    assert reason_text(outcome, RUN) == text


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({}, "regression: token_f1"),
        ({"kind": "threshold", "stat": "p10", "slice": {"lang": "de"}}, "p10(token_f1){lang=de}"),
        ({"stat": HAS_NUMBER}, "regression: share with token_f1"),
        ({"metric": PASS_RATE}, "regression: pass rate"),
        ({"kind": "coverage", "metric": "", "reason": "cases vanished"}, "coverage: cases"),
        ({"kind": "baseline", "metric": "", "reason": "no baseline"}, "baseline"),
    ],
)
def test_titles_name_the_kind_and_the_part(changes: dict[str, Any], title: str) -> None:
    outcome = gate(**changes)
    assert gate_title(outcome) == title
    assert gate_sentence(outcome, RUN) == f"{title}: {reason_text(outcome, RUN)}"


LIMITS: dict[str, Any] = {"op": "min", "limit": 0.8, "value": 0.75, "n": 4, "total": 5, "n_error": 0}
FAILED = gate(kind="threshold", state="failed", line=4, owner="search", worst_cases=("a", "b"), **LIMITS)
SAID = f"{RUN.path}:4: token_f1: 0.7500 is not >= 0.8 (over 4 of 5 cases) (owner: search)"
SUSPECT = gate(kind="baseline", metric="", state="failed", reason="suspects", names=("a",))


@pytest.mark.parametrize(
    ("failed", "lines"),
    [
        ([FAILED], [SAID, "cases that cost most: a, b"]),
        ([FAILED, SUSPECT], ["2 gates failed: token_f1, baseline", SAID]),
    ],
)
def test_the_test_of_a_suite_says_why_it_failed(failed: list[GateOutcome], lines: list[str]) -> None:
    assert suite_failure(RUN, failed, [])[:2] == lines


def test_gates_are_listed_by_what_became_of_them() -> None:
    failed, undecided = member("worse", "failed"), member("inconclusive", "inconclusive")
    part = replace(failed, slice={"lang": "de"})
    groups = [(group.state, group.open, group.gates) for group in gate_groups(Verdict("x", [undecided, part, failed]))]
    assert groups == [("failed", True, [failed]), ("failed", False, [part]), ("inconclusive", False, [undecided])]


def test_owner_and_costliest_cases_are_said_where_nobody_did() -> None:
    outcome = gate(owner="platform", worst_cases=("a", "b"))
    assert owner_and_cost([outcome], RUN) == ["owner platform", "costs most: a, b"]
    assert owner_and_cost([outcome], replace(RUN, owner="platform"), {"a", "b"}) == []
