"""Findings: each with a place and a key, the gravest first, and of one cause only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.errors import Problem
from pytest_auepora.regression.guards.gates import GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.findings import Finding, findings, titled

from .builders import Case, baseline_of, run_of, verdict_of

GOLDEN = "golden/billing.golden.yaml"
CASES = [Case(f"case-{i}", got=["refunds.md", "x"], thresholds={"recall@5": 0.5}, line=10 + i) for i in range(5)]
BAD = {"got": ["x"]}


def changed(*changes: Mapping[str, Any]) -> tuple[Run, Verdict]:
    """Run the cases, the first of them with *changes*, against a baseline of them without."""
    baseline = baseline_of(run_of(CASES))
    now = [case.with_(**change) for case, change in zip(CASES, changes, strict=False)]
    run = run_of([*now, *CASES[len(now) :]], baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def without_gates(run: Run, verdict: Verdict) -> list[Finding]:
    verdict.gates = []
    return findings([run], [verdict])


def test_where_nothing_is_wrong_there_is_none() -> None:
    assert findings([], []) == []
    run = run_of(CASES)
    assert findings([run], [verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))]) == []


def test_the_gravest_come_first() -> None:
    baseline = baseline_of(run_of([*CASES, Case("old", got=["x"], thresholds={"recall@5": 0.5})]))
    now = [CASES[0].with_(**BAD), CASES[1].with_(error="E: x"), *CASES[2:], Case("old", got=["x"])]
    now[-1].thresholds = {"recall@5": 0.5}
    run = run_of(now, baseline=baseline)
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline)
    verdict.gates = [gate for gate in verdict.gates if gate.title == "recall@5"]
    for state, kind in (("advisory", "threshold"), ("inconclusive", "regression"), ("not judged", "baseline")):
        would_be = "failed" if state == "advisory" else ""
        verdict.gates.insert(0, GateOutcome(state, kind, state, state, would_be=would_be))  # type: ignore[arg-type]
    found = findings([run], [verdict], [Problem(GOLDEN, 2, 1, "unknown key")])
    assert [(one.severity, one.kind) for one in found] == [
        ("error", "mistake"),
        ("error", "threshold"),
        ("error", "errored"),
        ("error", "newly failing"),
        ("error", "still failing"),
        ("warning", "regression"),
        ("warning", "threshold"),
        ("warning", "baseline"),
    ]
    assert [one.of_gate for one in found] == [False, True, False, False, False, True, True, True]


def test_the_largest_drop_comes_first() -> None:
    baseline = baseline_of(run_of(CASES[:3]))
    now = [c.with_(got=["x"] * rank + ["refunds.md"], thresholds={"mrr@10": 0.9}) for rank, c in enumerate(CASES[:3])]
    run = run_of(now, baseline=baseline)
    titles = [one.title for one in without_gates(run, verdict_of(run, baseline=baseline))]
    assert titles == ["billing: case-2 newly failing", "billing: case-1 newly failing"]


def test_a_case_is_at_its_line_with_all_its_problems() -> None:
    (one,) = without_gates(*changed(BAD))
    assert (one.path, one.line, one.key) == (GOLDEN, 10, "billing|case|case-0")
    first, *problems = one.message.splitlines()
    assert first.startswith("retrieval: refunds.md fell out")
    assert problems[0] == "recall@5 0.00, wanted >= 0.5"
    assert one.told.startswith("billing: case-0 newly failing: retrieval: refunds.md fell out")
    assert "\n" not in one.told


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("", (GOLDEN, 0)),
        ("outputs.jsonl", ("outputs.jsonl", 0)),
        ("C:\\shop\\a.golden.yaml:7", ("C:\\shop\\a.golden.yaml", 7)),
        ("a.golden.yaml:?", ("a.golden.yaml:?", 0)),
        (":7", (":7", 0)),
    ],
)
def test_a_place_without_a_line(where: str, place: tuple[str, int]) -> None:
    run, verdict = changed(BAD)
    run.cases["case-0"].where = where
    (one,) = without_gates(run, verdict)
    assert (one.path, one.line) == place


def test_cases_of_the_same_error_are_one() -> None:
    refused, other = {"error": "ConnectionError: refused\n  at a"}, {"error": "KeyError: 'x'"}
    found = without_gates(*changed(refused, refused, other, refused, refused))
    assert [(one.title, one.message, one.line) for one in found] == [
        ("billing: 4 cases errored (case-0, case-1, case-3 and 1 more)", "error: ConnectionError: refused", 10),
        ("billing: case-2", "error: KeyError: 'x'", 12),
    ]


def test_who_answers_for_it_is_told() -> None:
    run, verdict = changed(BAD)
    run.metrics["recall@5"].owner = "index-team"
    verdict.gates = [
        GateOutcome("recall@5", "threshold", "failed", "too low", owner="index-team", culprits=tuple("abcdef")),
        GateOutcome("3 of 4 ran", "coverage", "failed", "too few", culprits=("a",)),
    ]
    gate, coverage, case = findings([run], [verdict])
    assert gate.message == "too low\nCases that cost most: a, b, c, d, e\nOwner: index-team"
    assert coverage.message == "too few"
    assert case.message.endswith("\nOwner: index-team")


def test_keys_are_of_the_configuration_and_not_of_the_line() -> None:
    first, second = (run_of([CASES[0].with_(**BAD, line=line)], variant="dense") for line in (12, 80))
    keys = [[one.key for one in findings([run], [verdict_of(run, {"recall@5": 0.9})])] for run in (first, second)]
    assert keys[0] == keys[1] == ["billing[dense]|threshold|recall@5", "billing[dense]|case|case-0"]


@pytest.mark.parametrize(
    ("title", "message", "told"),
    [
        ("billing: recall@5", "too low", "billing: recall@5: too low"),
        ("billing: recall@5", "recall@5 0.3 is not >= 0.9", "billing: recall@5 0.3 is not >= 0.9"),
        ("billing: recall@5", "recall@50 is low", "billing: recall@5: recall@50 is low"),
        ("baseline", "baseline: none", "baseline: none"),
        ("a: b", "a: b: c", "a: b: c"),
        ("a: b", "", "a: b: "),
    ],
)
def test_a_subject_is_said_once(title: str, message: str, told: str) -> None:
    assert titled(title, message) == told


def test_runs_and_verdicts_go_together() -> None:
    run = run_of(CASES)
    with pytest.raises(ValueError, match="argument"):
        findings([run], [])
