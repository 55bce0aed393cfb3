"""Two stages: failing takes both, either alone is inconclusive, and the level holds."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.scores import Score
from pytest_auepora.core.scoring import FURTHER, aggregate
from pytest_auepora.regression.baseline.accept import merge
from pytest_auepora.regression.baseline.model import Baseline
from pytest_auepora.regression.guards.gates import GateOutcome
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.repeat_plan import ONCE, RepeatPlan
from pytest_auepora.regression.statistics import significance
from pytest_auepora.regression.two_stage import confirm, first_repeats, first_stage, settled, wants_more
from pytest_auepora.regression.verdict import judge

from .runs import case, metrics, run

M = metrics("mrr")
PLAN = RepeatPlan()
POLICY = RegressionPolicy(policy="statistical", case_max_drop=1)


def asked(name: str, *values: float) -> CaseResult:
    result = case(name, mrr=sum(values) / len(values))
    if len(values) > 1:
        result.extra["repeats"] = {"mrr": list(values)}
    return result


def suite(*cases: CaseResult) -> Run:
    return run(*cases, names=("mrr",))


def accepted(*cases: CaseResult) -> Baseline:
    return merge(None, suite(*cases), {"all"})[0]


def perfect(n: int = 40) -> Baseline:
    return accepted(*(asked(f"c{i}", 1.0) for i in range(n)))


def losing(early: int, late: int, n: int = 40) -> Run:
    """Five answers each: the first *early* cases miss in the first three, the first *late* in the other two."""
    return suite(*(asked(f"c{i}", *[float(i >= early)] * 3, *[float(i >= late)] * 2) for i in range(n)))


def test_a_plan_is_read_from_a_word() -> None:
    assert RepeatPlan.read("5") == RepeatPlan.times(5)
    assert RepeatPlan.read("3-7") == RepeatPlan(7, 3, 7)
    assert (ONCE.two_stage, RepeatPlan.read("3-7").two_stage) == (False, True)


@pytest.mark.parametrize(
    ("gate", "bad"),
    [
        (GateOutcome("regression: mrr", "regression", "passed", "", p=0.199), True),
        (GateOutcome("regression: mrr", "regression", "failed", "", p=0.2), False),
        (GateOutcome("regression: mrr", "regression", "failed", ""), True),
        (GateOutcome("regression: mrr", "regression", "passed", ""), False),
        (GateOutcome("mrr", "threshold", "failed", ""), False),
    ],
)
def test_what_chance_gives_in_a_fifth_of_runs_looks_bad(gate: GateOutcome, bad: bool) -> None:
    assert RepeatPlan().looks_bad(gate) is bad


@pytest.mark.parametrize("text", ["", "x", "3-", "-3", "5-3", "0", "1.5", "3-5-7"])
def test_a_word_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        RepeatPlan.read(text)


@pytest.mark.parametrize("wrong", [{"baseline": 0}, {"first": 0}, {"first": 6}, {"trigger": 0.0}, {"trigger": 0.5}])
def test_a_plan_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must lie|needs"):
        RepeatPlan(**wrong)


@pytest.mark.parametrize(("losses", "wanted"), [(3, True), (1, False), (0, False)])  # p 0.06, 0.25, 0.5
def test_the_second_stage_starts_when_a_metric_looks_bad(losses: int, wanted: bool) -> None:
    assert wants_more(losing(losses, 0), perfect(), POLICY, PLAN) is wanted
    assert not wants_more(losing(losses, 0), None, POLICY, PLAN)
    assert not wants_more(losing(losses, 0), perfect(), POLICY, ONCE)


def test_below_the_clusters_of_statistics_a_drop_above_the_tolerance_looks_bad() -> None:
    few = RegressionPolicy(case_max_drop=1)
    assert wants_more(losing(1, 0, n=5), perfect(5), few, PLAN)
    assert not wants_more(losing(0, 0, n=5), perfect(5), few, PLAN)


def test_a_partial_run_is_not_asked_again() -> None:
    part = losing(6, 0)
    part.expected_ids = (*part.expected_ids, "another")
    assert not wants_more(part, perfect(), POLICY, PLAN)


def outcome(name: str, state: str, p: float | None = None) -> GateOutcome:
    return GateOutcome(name, "regression", state, "told", p=p)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        (("failed", 0.01), ("failed", 0.01), "failed"),
        (("inconclusive", 0.125), ("failed", 0.01), "failed"),  # looked bad, then failed
        (("inconclusive", 0.25), ("failed", 0.01), "inconclusive"),  # did not look bad at first
        (("failed", 0.01), ("inconclusive", 0.1), "inconclusive"),  # not confirmed
        (("failed", 0.01), ("passed", 0.4), "passed"),
        (("failed", None), ("failed", None), "failed"),  # tolerance
        (("passed", None), ("failed", None), "inconclusive"),
        (("failed", 0.01), None, "inconclusive"),
        (("passed", 0.4), None, "passed"),
    ],
)
def test_failing_takes_both_stages(first: Any, second: Any, state: str) -> None:
    (found,) = confirm([outcome("m", *first)], None if second is None else [outcome("m", *second)], POLICY, PLAN)
    assert found.state == state


def test_the_reason_says_how_to_confirm() -> None:
    (alone,) = confirm([outcome("m", "failed", 0.01)], None, POLICY, PLAN)
    assert alone.message == "told; not confirmed, as that takes more repeats (--auepora-repeat 5)"
    (late,) = confirm([outcome("m", "passed", 0.4)], [outcome("m", "failed", 0.01)], POLICY, PLAN)
    assert late.message == "told; not confirmed, as it did not look worse in the first 3 repeats"
    strict = RegressionPolicy(on_inconclusive="fail")
    (failed,) = confirm([outcome("m", "failed", 0.01)], None, strict, PLAN)
    assert (failed.state, failed.message) == ("failed", f"inconclusive (on_inconclusive: fail): {alone.message}")
    gate = GateOutcome("t", "threshold", "failed", "too low")
    assert confirm([gate], None, POLICY, PLAN) == [gate]


def test_what_neither_stage_can_decide_says_once_why_it_fails() -> None:
    strict = RegressionPolicy(on_inconclusive="fail")
    found = judge(losing(3, 3), [], strict, M, baseline=perfect(), plan=PLAN)
    (gate,) = [gate for gate in found.gates if gate.kind == "regression"]
    assert gate.state == "failed"
    assert gate.message.startswith("inconclusive (on_inconclusive: fail): worse by")
    assert gate.message.count("(on_inconclusive") == 1


@pytest.mark.parametrize(
    ("early", "late", "outcome"), [(8, 8, "failed"), (0, 30, "passed"), (0, 0, "passed"), (8, 0, "failed")]
)
def test_a_run_judged_whole(early: int, late: int, outcome: str) -> None:
    counted = settled(losing(early, late), perfect(), POLICY, PLAN)
    found = judge(counted, [], POLICY, M, baseline=perfect(), plan=PLAN)
    assert found.outcome == outcome
    (gate,) = (g for g in found.gates if g.kind == "regression")
    assert gate.p is not None


def test_the_first_stage_alone_cannot_fail() -> None:
    found = judge(first_stage(losing(8, 8), PLAN), [], POLICY, M, baseline=perfect(), plan=PLAN)
    assert found.outcome == "inconclusive"


def test_what_was_asked_without_reason_does_not_count() -> None:
    measured = losing(0, 30)  # good at first, then broken: a run that looks before it asks would never have seen it
    counted = settled(measured, perfect(), POLICY, PLAN)
    assert {c.repeats for c in counted.cases.values()} == {3}
    assert counted.cases["c0"].scores["mrr"].value == 1.0
    assert {c.repeats for c in measured.cases.values()} == {5}
    suspicious = losing(8, 8)
    assert settled(suspicious, perfect(), POLICY, PLAN) is suspicious


def test_the_first_repeats_of_a_case() -> None:
    infos = {**suite().metrics, **run(names=("mean_latency[end_to_end]", "distinct_2")).metrics}
    whole = asked("a", 1.0, 0.0, 0.5, 0.0, 0.0)
    whole.extra["repeats"] |= {"mean_latency[end_to_end]": [1, 2, 9, 9, 9], "late": [None, None, None, 1.0, 1.0]}
    whole.scores["mean_latency[end_to_end]"] = Score("number", 9.0)
    whole.scores["late"] = Score("number", 1.0)
    data = [[2, [1, 2]], [2, [1, 3]], [2, [5]], [2, [6, 7]], [2, [8, 9]]]
    whole.scores["distinct_2"] = Score("aggregate", data=data[0], details={FURTHER: data[1:]})
    cut = first_repeats(whole, 3, infos)
    assert cut.scores["mrr"].value == 0.5
    assert cut.scores["mean_latency[end_to_end]"].value == 2
    assert (cut.scores["late"].state, "late" in cut.extra["repeats"]) == ("n/a", False)
    assert cut.scores["distinct_2"].details[FURTHER] == data[1:3]
    metric = metrics("distinct_2")["distinct_2"]
    assert aggregate(metric, [cut.scores["distinct_2"]]).value == pytest.approx((1 + 1 + 0.5) / 3)
    assert cut.repeats == 3
    assert first_repeats(cut, 3, infos) is cut
    assert whole.repeats == 5


def test_two_stages_raise_fewer_false_alarms_than_one_and_see_nearly_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "judge_family", partial(significance.judge_family, draws=199))
    rng = random.Random(5)

    def failing(verdict: Any) -> bool:
        return any(g.kind == "regression" and g.state == "failed" for g in verdict.gates)

    def fails(shift: float) -> tuple[bool, bool]:
        level = [rng.random() for _ in range(40)]

        def side(by: float) -> list[CaseResult]:
            return [asked(f"c{i}", *(rng.gauss(x + by, 0.3) for _ in range(5))) for i, x in enumerate(level)]

        baseline, measured = accepted(*side(0.0)), suite(*side(shift))
        counted = settled(measured, baseline, POLICY, PLAN)
        two = judge(counted, [], POLICY, M, baseline=baseline, plan=PLAN)
        return failing(two), failing(judge(measured, [], POLICY, M, baseline=baseline))

    null = [fails(0.0) for _ in range(60)]
    worse = [fails(-0.1) for _ in range(30)]
    two_stage, one_stage = (sum(side) for side in zip(*null, strict=True))
    assert two_stage <= one_stage
    assert two_stage <= 8, "5 % of 60 are 3, and three standard deviations more are 8"
    assert sum(w[0] for w in worse) >= 0.9 * sum(w[1] for w in worse)
    assert sum(w[0] for w in worse) >= 12
