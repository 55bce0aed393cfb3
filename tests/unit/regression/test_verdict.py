"""Gates, coverage, guards: what fails a run, what does not, and what the reason says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.guards.case_guard import guard_case, judge_case
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.statistics.precision import planned_mde
from pytest_auepora.regression.thresholds import Bound, Gate
from pytest_auepora.regression.verdict import Verdict, judge

from .runs import case, metrics, run, steady

M = metrics("recall@1", "mrr")


def baseline_of(measured: Run) -> Baseline:
    return steady(merge(None, measured, {"all"})[0])


def verdict(measured: Run, *gates: Gate, policy: RegressionPolicy | None = None, **more: object) -> Verdict:
    return judge(measured, gates, policy or RegressionPolicy(), M, **more)  # type: ignore[arg-type]


def failed(found: Verdict) -> list[str]:
    return [g.title for g in found.gates if g.state == "failed"]


def test_errors_fail_by_themselves() -> None:
    found = verdict(run(case("a", mrr=1.0), case("b", state="error", mrr="boom")))
    assert failed(found) == ["error_rate"]
    loose = verdict(
        run(case("a", mrr=1.0), case("b", state="error", mrr="boom")), Gate("error_rate", Bound("max", 0.5))
    )
    assert failed(loose) == []
    assert loose.outcome == "failed"  # the case itself


def test_a_partial_run_judges_no_suite_gate() -> None:
    before = baseline_of(run(case("a", mrr=1.0), case("b", mrr=1.0)))
    found = verdict(run(case("a", mrr=0.5), expected=("a", "b")), Gate("mrr", Bound("min", 0.9)), baseline=before)
    assert found.outcome == "not judged"
    assert {g.state for g in found.gates} == {"not judged"}
    assert all("1 of 2" in g.message for g in found.gates)


def test_tolerance_below_ten_clusters() -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(4))))
    same = verdict(run(*(case(str(i), mrr=0.991) for i in range(4))), baseline=before)
    assert failed(same) == []
    worse = verdict(run(*(case(str(i), mrr=0.98) for i in range(4))), baseline=before)
    assert failed(worse) == ["regression: mrr"]
    assert "fell by 0.0200" in next(g.message for g in worse.gates if g.state == "failed")


def test_what_is_beyond_a_limit_never_reads_as_within_it() -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(4))))
    now = run(*(case(str(i), mrr=0.98996) for i in range(4)))
    (gate,) = (g for g in verdict(now, baseline=before).gates if g.state == "failed")
    assert "fell by 0.01004, more than the tolerated 0.01" in gate.message
    old = baseline_of(run(case("a", mrr=0.7042, recall_at_1=1.0)))
    one = run(case("a", mrr=0.2004, recall_at_1=0.499))
    judge_case(
        one.cases["a"], {}, one.metrics, compare(one, old).cases["a"], RegressionPolicy(), steady={"mrr", "recall@1"}
    )
    assert one.cases["a"].problems == [
        "mrr fell from 0.704 to 0.200 since the baseline, limit 0.5",
        "recall@1 fell from 1.000 to 0.499 since the baseline, limit 0.5",
    ]


@pytest.mark.parametrize(("now", "fails"), [(0.99, []), (0.9895, ["regression: mrr"])])
def test_a_drop_of_min_effect_is_tolerated_and_no_more(now: float, fails: list[str]) -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(4))))
    assert failed(verdict(run(*(case(str(i), mrr=now) for i in range(4))), baseline=before)) == fails


def test_statistics_from_ten_clusters_up() -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(40))))
    noise = verdict(run(*(case(str(i), mrr=0.4 if i == 0 else 1.0) for i in range(40))), baseline=before)
    assert failed(noise) == []  # one case of forty is no evidence, though the mean fell by more than min_effect
    worse = verdict(run(*(case(str(i), mrr=0.4 if i < 12 else 1.0) for i in range(40))), baseline=before)
    assert failed(worse) == ["regression: mrr", "regression: net flips"]
    clustered = [case(str(i), mrr=0.4 if i < 12 else 1.0, cluster=str(i // 12)) for i in range(40)]
    tolerant = verdict(run(*clustered), baseline=before, policy=RegressionPolicy(min_effect=0.5))
    assert failed(tolerant) == []  # four clusters only: tolerance


def wavering(n: int, by: float) -> tuple[Run, Baseline]:
    """A run in which every other case won and lost *by*, and its baseline."""
    before = baseline_of(run(*(case(f"{i:03}", mrr=0.5, recall_at_1=1.0) for i in range(n))))
    return run(*(case(f"{i:03}", mrr=0.5 + by * (-1) ** i, recall_at_1=1.0) for i in range(n))), before


def test_how_small_a_loss_would_be_seen_is_always_said() -> None:
    now, before = wavering(60, 0.2)
    found = verdict(now, baseline=before)
    gates = {gate.metric: gate for gate in found.gates if gate.kind == "regression"}
    deviation = 0.2 * (60 / 59) ** 0.5 / 60**0.5
    assert gates["mrr"].state == "passed"
    assert gates["mrr"].mde == pytest.approx((1.6 + 0.84) * deviation, rel=0.04)
    assert gates["recall@1"].mde == pytest.approx(planned_mde(60))
    (note,) = found.notes
    assert note.startswith("mrr: minimum detectable drop 0.06")
    assert "over 60 cases, above the margin 0.05: about" in note
    assert verdict(now, baseline=before, policy=RegressionPolicy(margin=0.07)).notes == []
    unclear, then = wavering(60, 0.3)
    told = verdict(unclear, baseline=then)
    assert "cases like these would decide it" in next(g.message for g in told.gates if g.state == "inconclusive")
    assert told.notes == [], "the message of such a gate is shown anyway"
    few, old = wavering(8, 0.004)  # judged by the tolerance: there is nothing to tell a chance by
    assert {gate.mde for gate in verdict(few, baseline=old).gates} == {None}


def test_inconclusive_is_not_green_and_can_be_made_to_fail() -> None:
    before = baseline_of(run(*(case(str(i), mrr=0.5) for i in range(12))))
    after = run(*(case(str(i), mrr=0.0 if i < 2 else 1.0 if i < 4 else 0.5) for i in range(12)))
    assert verdict(after, baseline=before).outcome == "inconclusive"
    strict = verdict(after, baseline=before, policy=RegressionPolicy(on_inconclusive="fail"))
    assert failed(strict) == ["regression: mrr"]


def test_a_broken_baseline_fails_an_absent_one_if_required() -> None:
    assert failed(verdict(run(case("a", mrr=1.0)), baseline_note="no baseline yet")) == []
    assert failed(verdict(run(case("a", mrr=1.0)), baseline_note="broken: x")) == ["baseline"]
    required = verdict(run(case("a", mrr=1.0)), baseline_note="no baseline yet", require_baseline=True)
    assert required.gates[-1].message == "no baseline yet; accept a run with --auepora-update, and commit the file"
    assert failed(required) == ["baseline"]


@pytest.mark.parametrize(
    ("before", "after", "drop", "state"),
    [
        (1.0, 0.5, 0.5, "passed"),
        (1.0, 0.49, 0.5, "failed"),
        (1.0, 0.0, 1.0, "passed"),
        (0.0, 1.0, 0.0, "passed"),
        (0.6, 0.5, 0.05, "failed"),
    ],
)
def test_the_case_guard(before: float, after: float, drop: float, state: str) -> None:
    old = baseline_of(run(case("a", mrr=before)))
    now = run(case("a", mrr=after))
    policy = RegressionPolicy(case_max_drop=drop)
    judge_case(now.cases["a"], {}, now.metrics, compare(now, old).cases["a"], policy, steady={"mrr", "recall@1"})
    assert now.cases["a"].state == state


def test_the_case_guard_holds_deterministic_metrics_only() -> None:
    before = baseline_of(run(case("a", mrr=1.0)))
    now = run(case("a", mrr=0.0))
    found = compare(now, before).cases["a"]
    shaky = {"mrr": replace(now.metrics["mrr"], deterministic=False)}
    assert len(guard_case(found, now.metrics, RegressionPolicy(), steady={"mrr"})) == 1
    assert guard_case(found, shaky, RegressionPolicy(), steady={"mrr"}) == []
    assert guard_case(found, now.metrics, RegressionPolicy(), steady=()) == []


def test_per_metric_policies() -> None:
    old = baseline_of(run(case("a", mrr=1.0, recall_at_1=1.0)))
    now = run(case("a", mrr=0.0, recall_at_1=0.0))
    policy = RegressionPolicy(metrics={"mrr": {"policy": "report"}})
    judge_case(now.cases["a"], {}, now.metrics, compare(now, old).cases["a"], policy, steady={"mrr", "recall@1"})
    assert now.cases["a"].problems == ["recall@1 fell from 1.00 to 0.00 since the baseline, limit 0.5"]


def test_case_thresholds_ignore_na_and_never_read_as_equal() -> None:
    found = case("a", mrr=0.4999999, recall_at_1=None)
    judge_case(
        found,
        {"mrr": [Bound("min", 0.5)], "recall@1": [Bound("min", 1.0)]},
        run(found).metrics,
        None,
        RegressionPolicy(),
    )
    assert found.problems == ["mrr 0.4999999, wanted >= 0.5"]
    assert found.state == "failed"


def test_a_metric_that_raised_fails_its_case() -> None:
    found = case("a", mrr="boom")
    judge_case(found, {}, run(found).metrics, None, RegressionPolicy(), steady={"mrr", "recall@1"})
    assert found.problems == ["mrr: the metric raised boom"]


def test_an_error_that_is_expected_fails_nothing() -> None:
    broken = case("b", state="error", mrr="boom")
    broken.extra["xfail"] = "no index yet"
    found = verdict(run(case("a", mrr=1.0), broken), Gate("pass_rate", Bound("min", 0.5)))
    assert [(g.title, g.value) for g in found.gates] == [("pass_rate", 0.5), ("error_rate", 0.0)]
    assert found.outcome == "passed"
