"""Gates, coverage, guards: what fails a run, what does not, and what the reason says."""

from __future__ import annotations

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import Run
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.outcomes import BaselineNote
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Bound, Gate
from pytest_auepora.regression.verdict import Verdict, judge

from . import runs
from .runs import case, metrics, run, steady

M = metrics("recall@1", "mrr")


def baseline_of(measured: Run) -> Baseline:
    return steady(runs.accepted(measured))


def verdict(measured: Run, *gates: Gate, policy: RegressionPolicy | None = None, **more: object) -> Verdict:
    return judge(measured, gates, policy or RegressionPolicy(), M, **more)  # type: ignore[arg-type]


def failed(found: Verdict) -> list[str]:
    return [g.key for g in found.gates if g.state == "failed"]


def test_errors_fail_by_themselves() -> None:
    found = verdict(run(case("a", mrr=1.0), case("b", state="error", mrr="boom")))
    assert failed(found) == ["threshold: error_rate"]
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
    assert {g.reason for g in found.gates} == {"partial run"}


def test_tolerance_below_ten_clusters() -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(4))))
    same = verdict(run(*(case(str(i), mrr=0.991) for i in range(4))), baseline=before)
    assert failed(same) == []
    worse = verdict(run(*(case(str(i), mrr=0.98) for i in range(4))), baseline=before)
    assert failed(worse) == ["regression: mrr"]
    (gate,) = (g for g in worse.gates if g.state == "failed")
    assert (gate.method, gate.steady, gate.before) == ("tolerance", True, 1.0)
    assert gate.value == pytest.approx(0.98)


@pytest.mark.parametrize(("now", "fails"), [(0.99, []), (0.9895, ["regression: mrr"])])
def test_a_drop_of_min_effect_is_tolerated_and_no_more(now: float, fails: list[str]) -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(4))))
    assert failed(verdict(run(*(case(str(i), mrr=now) for i in range(4))), baseline=before)) == fails


def test_statistics_from_ten_clusters_up() -> None:
    before = baseline_of(run(*(case(str(i), mrr=1.0) for i in range(40))))
    noise = verdict(run(*(case(str(i), mrr=0.4 if i == 0 else 1.0) for i in range(40))), baseline=before)
    assert failed(noise) == []  # one case of forty is no evidence, though the mean fell by more than min_effect
    worse = verdict(run(*(case(str(i), mrr=0.4 if i < 12 else 1.0) for i in range(40))), baseline=before)
    assert failed(worse) == ["regression: mrr", "regression: pass rate"]
    clustered = [case(str(i), mrr=0.6 if i < 12 else 1.0, cluster=str(i // 12)) for i in range(40)]
    tolerant = verdict(run(*clustered), baseline=before, policy=RegressionPolicy(min_effect=0.5))
    assert failed(tolerant) == []  # four clusters only: tolerance


def wavering(n: int, by: float) -> tuple[Run, Baseline]:
    """A run in which every other case won and lost *by*, and its baseline, of a system that varies."""
    accepted = [case(f"{i:03}", mrr=[0.5 + by * s for s in (-1, -1, 0, 1, 1)], recall_at_1=1.0) for i in range(n)]
    return run(*(case(f"{i:03}", mrr=0.5 + by * (-1) ** i, recall_at_1=1.0) for i in range(n))), runs.accepted(
        run(*accepted)
    )


def test_how_small_a_loss_would_be_seen_is_told() -> None:
    now, before = wavering(60, 0.2)
    gates = {gate.metric: gate for gate in verdict(now, baseline=before).gates if gate.kind == "regression"}
    deviation = 0.2 * (60 / 59) ** 0.5 / 60**0.5
    shaky, alike = gates["mrr"].test, gates["recall@1"].test
    assert shaky is not None
    assert alike is not None
    assert shaky.detectable == pytest.approx((1.6 + 0.84) * deviation, rel=0.06)
    assert shaky.detectable_answers is not None
    assert alike.detectable == pytest.approx(1 / 60), "what one lost case costs a steady metric"
    assert alike.detectable_answers is None
    unclear, then = wavering(60, 0.3)
    told = next(g for g in verdict(unclear, baseline=then).gates if g.state == "inconclusive")
    assert told.test is not None
    assert (told.test.cases_needed or 0) > 60


def test_inconclusive_is_not_green_and_can_be_made_to_fail() -> None:
    before = baseline_of(run(*(case(str(i), mrr=0.5) for i in range(12))))
    after = run(*(case(str(i), mrr=0.0 if i < 2 else 1.0 if i < 4 else 0.5) for i in range(12)))
    assert verdict(after, baseline=before).outcome == "inconclusive"
    strict = verdict(after, baseline=before, policy=RegressionPolicy(on_inconclusive="fail"))
    assert failed(strict) == ["regression: mrr"]


def test_a_broken_baseline_fails_an_absent_one_if_required() -> None:
    assert failed(verdict(run(case("a", mrr=1.0)), baseline_note=BaselineNote("none"))) == []
    unreadable = verdict(run(case("a", mrr=1.0)), baseline_note=BaselineNote("unreadable", detail="x"))
    assert failed(unreadable) == ["baseline: unreadable"]
    required = verdict(run(case("a", mrr=1.0)), baseline_note=BaselineNote("none"), require_baseline=True)
    assert failed(required) == ["baseline: no baseline"]


def test_a_suspect_case_fails_where_a_baseline_is_required() -> None:
    before = baseline_of(run(case("a", mrr=1.0)))
    now = run(case("a", mrr=1.0))
    now.cases["a"].findings = [Finding("assertion", "must_contain", "suspect")]
    found = verdict(now, baseline=before)
    assert (found.suspects, failed(found)) == (["a"], [])
    assert failed(verdict(now, baseline=before, require_baseline=True)) == ["baseline: suspects"]


def test_a_loss_that_the_second_answers_do_not_share_is_none() -> None:
    before = runs.accepted(run(*(case(f"{i:02}", mrr=[1.0, 0.5, 1.0, 1.0, 0.5]) for i in range(30))))
    now = run(*(case(f"{i:02}", mrr=0.5 if i < 20 else 1.0) for i in range(30)))
    wants = verdict(now, baseline=before, can_look=True)
    assert (wants.wants_look, wants.look) == (True, "only")
    good = run(*(case(f"{i:02}", mrr=1.0) for i in range(30)))
    cleared = verdict(now, baseline=before, further=[good])
    assert (failed(cleared), cleared.look) == ([], "second")
    confirmed = verdict(now, baseline=before, further=[now])
    assert (failed(confirmed), confirmed.look) == (["regression: mrr"], "second")
    once = verdict(now, baseline=before)
    assert (failed(once), once.look) == (["regression: mrr"], "only")


def test_an_error_that_is_expected_fails_nothing() -> None:
    broken = case("b", state="error", mrr="boom")
    broken.xfail = "no index yet"
    found = verdict(run(case("a", mrr=1.0), broken), Gate("pass_rate", Bound("min", 0.5)))
    assert [(g.part, g.value) for g in found.gates] == [("pass_rate", 0.5), ("error_rate", 0.0)]
    assert found.outcome == "passed"
