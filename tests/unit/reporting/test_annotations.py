"""Annotations: each with a place, the gravest first, and of one cause only one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_auepora.base.complaints import Problem
from pytest_auepora.core.run import Run
from pytest_auepora.regression.outcomes import GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.annotations import (
    Annotation,
    annotation_lines,
    annotations_of,
    escape_data,
    escape_property,
)
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.wording.cases import case_diagnosis
from pytest_auepora.reporting.wording.checks import problem_lines
from pytest_auepora.reporting.wording.gates import gate_sentence, reason_text

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


def without_gates(run: Run, verdict: Verdict) -> list[Annotation]:
    verdict.gates = []
    return annotations_of(Report([run], [verdict]))


def test_where_nothing_is_wrong_there_is_none() -> None:
    assert annotations_of(Report()) == []
    run = run_of(CASES)
    assert annotations_of(Report([run], [verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))])) == []


def test_the_gravest_come_first() -> None:
    baseline = baseline_of(run_of([*CASES, Case("old", got=["x"], thresholds={"recall@5": 0.5})]))
    now = [CASES[0].with_(**BAD), CASES[1].with_(error="E: x"), *CASES[2:], Case("old", got=["x"])]
    now[-1].thresholds = {"recall@5": 0.5}
    run = run_of(now, baseline=baseline)
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline)
    verdict.gates = [gate for gate in verdict.gates if gate.kind == "threshold" and gate.metric == "recall@5"]
    verdict.gates[:0] = [
        GateOutcome("threshold", "advisory", "recall@5", would_be="failed"),
        GateOutcome("regression", "inconclusive", "recall@5"),
        GateOutcome("baseline", "not judged", reason="nothing compares"),
    ]
    found = annotations_of(Report([run], [verdict], [Problem(GOLDEN, 2, 1, "unknown key")]))
    assert [(one.severity, one.kind) for one in found] == [
        ("error", "mistake"),
        ("error", "threshold"),
        ("error", "errored"),
        ("error", "newly failing"),
        ("error", "still failing"),
        ("warning", "threshold"),
        ("warning", "baseline"),
    ]


def test_the_largest_drop_comes_first() -> None:
    baseline = baseline_of(run_of(CASES[:3]))
    now = [c.with_(got=["x"] * rank + ["refunds.md"], thresholds={"mrr@10": 0.9}) for rank, c in enumerate(CASES[:3])]
    run = run_of(now, baseline=baseline)
    titles = [one.title for one in without_gates(run, verdict_of(run, baseline=baseline))]
    assert titles == ["billing: case-2 newly failing", "billing: case-1 newly failing"]


def test_a_case_is_at_its_line_with_all_its_problems() -> None:
    (one,) = without_gates(*changed(BAD))
    assert (one.path, one.line, one.title) == (GOLDEN, 10, "billing: case-0 newly failing")
    case = (run := changed(BAD)[0]).cases["case-0"]
    diagnosis, *problems = one.message.splitlines()
    assert diagnosis.startswith("retrieval: refunds.md ")
    assert problems == problem_lines(case, run.metrics)


@pytest.mark.parametrize("place", [("C:\\shop\\a.golden.yaml", 7), ("a.golden.yaml:9", 0), ("", 0)])
def test_a_case_is_placed_in_its_file_or_in_the_suite(place: tuple[str, int]) -> None:
    run, verdict = changed(BAD)
    run.cases["case-0"].path, run.cases["case-0"].line = place
    (one,) = without_gates(run, verdict)
    assert (one.path, one.line) == (place[0] or GOLDEN, place[1])


def test_cases_of_the_same_error_are_one() -> None:
    refused, other = {"error": "ConnectionError: refused\n  at a"}, {"error": "KeyError: 'x'"}
    found = without_gates(*changed(refused, refused, other, refused, refused))
    assert [(one.title, one.message, one.line) for one in found] == [
        ("billing: 4 cases (case-0, case-1 and 2 more) errored", "error: ConnectionError: refused", 10),
        ("billing: case-2 errored", "error: KeyError: 'x'", 12),
    ]


def test_who_answers_for_it_is_told() -> None:
    run, verdict = changed(BAD)
    run.metrics["recall@5"].owner = "index-team"
    verdict.gates = gates = [
        GateOutcome("threshold", "failed", "recall@5", reason="no case ran", owner="index-team",
                    worst_cases=tuple("abcdef")),
        GateOutcome("coverage", "failed", reason="cases vanished", names=("a",), worst_cases=("a",)),
    ]  # fmt: skip
    gate, coverage, case = annotations_of(Report([run], [verdict]))
    said, cost, owner = gate.message.splitlines()
    assert (said, cost.partition(": ")[2], owner) == (
        reason_text(gates[0], run),
        "a, b, c, d, e, f",
        "Owner: index-team",
    )
    assert coverage.message == reason_text(gates[1], run)
    assert case.message.splitlines()[-1] == owner


def test_runs_and_verdicts_go_together() -> None:
    run = run_of(CASES)
    with pytest.raises(ValueError, match="argument"):
        annotations_of(Report([run], []))


MANY = [Case(f"case-{i:02}", got=["refunds.md", "x"], line=10 + i) for i in range(30)]
COMMAND = re.compile(r"::(error|warning) ([^:]*)::(.*)")


def parsed(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read workflow commands as the runner does."""
    out = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        out.append((match[1], {k: _unescaped(v) for k, v in properties.items()}, _unescaped(match[3])))
    return out


def _unescaped(text: str) -> str:
    return re.sub("%(0D|0A|3A|2C|25)", lambda code: chr(int(code[1], 16)), text)


def run_with(n_bad: int) -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(MANY))
    bad = [c.with_(got=["x"], thresholds={"recall@5": 0.5}) for c in MANY[:n_bad]]
    run = run_of([*bad, *MANY[n_bad:]], baseline=baseline)
    return run, verdict_of(run, {"recall@5": 0.9, "mrr@10": 0.9}, baseline=baseline)


def told(run: Run, verdict: Verdict) -> str:
    return annotation_lines(Report([run], [verdict]))


def test_cases_are_marked_where_they_stand() -> None:
    run = run_of([MANY[0].with_(got=["x"], thresholds={"recall@5": 0.5}), *MANY[1:]])
    case = run.cases["case-00"]
    assert parsed(told(run, verdict_of(run))) == [
        (
            "error",
            {"file": "golden/billing.golden.yaml", "title": "billing: case-00 failed", "line": "10"},
            "\n".join([case_diagnosis(case, None, run.metrics), *problem_lines(case, run.metrics)]),
        )
    ]


def test_paths_start_at_the_root_of_the_repository() -> None:
    run = run_of([MANY[0].with_(got=["x"], thresholds={"recall@5": 0.5})])
    ((_, properties, _),) = parsed(annotation_lines(Report([run], [verdict_of(run)], prefix="services/rag/")))
    assert properties["file"] == "services/rag/golden/billing.golden.yaml"


def test_no_more_than_github_shows_and_the_last_one_says_so() -> None:
    found = parsed(told(*run_with(20)))
    errors = [f for f in found if f[0] == "error"]
    assert len(errors) == 10
    assert re.search(r"\b12 more\b", errors[-1][2])


def test_gates_make_room_for_cases() -> None:
    run, verdict = run_with(20)
    found = parsed(told(run, verdict))
    assert found[0][1]["title"].endswith(" gates")
    assert f"billing: {gate_sentence(verdict.gates[0], run)}" in found[0][2]
    assert [f[1]["title"] for f in found[1:3]] == ["billing: case-00 newly failing", "billing: case-01 newly failing"]
    few = parsed(told(*run_with(4)))
    assert few[0][1] == {"file": "golden/billing.golden.yaml", "title": "billing: recall@5", "line": "3"}


def test_an_inconclusive_gate_is_no_problem() -> None:
    run = run_of(MANY)
    verdict = verdict_of(run, {"recall@5": 0.8})
    verdict.gates[0].state = "inconclusive"
    assert told(run, verdict) == ""


def test_user_text_cannot_end_a_command_or_start_another() -> None:
    evil = "a,line=1::b\n::add-mask::x %0A\r::stop-commands::y\x1b[0m"
    case = MANY[0].with_(id=evil, got=["x"], answer=evil, thresholds={"recall@5": 0.5})
    run = run_of([case], suite="s,t:u")
    ((_, properties, message),) = parsed(text := told(run, verdict_of(run)))
    assert properties["file"] == "golden/s,t:u.golden.yaml"
    assert properties["line"] == "10"
    assert "\x1b" not in text
    assert message.startswith("retrieval: refunds.md was not found")


@example("50 %0A%25 done")
@given(st.text())
def test_escaping_loses_nothing(text: str) -> None:
    assert _unescaped(escape_property(text)) == text
    assert not set(escape_data(text)) & set("\r\n")
    assert not set(escape_property(text)) & set("\r\n:,")


def test_a_suite_that_was_skipped_whole_is_a_notice() -> None:
    run = run_of([Case("one"), Case("two")])
    for case in run.cases.values():
        case.state, case.error = "skipped", "no KEY"
    text = annotation_lines(Report([run], [verdict_of(run)]))
    assert text == f"::notice file={GOLDEN},title=billing%3A not judged::skipped: 2 cases (one, two): no KEY"
    run.cases["one"].state = "passed"
    assert annotation_lines(Report([run], [verdict_of(run)])) == ""
