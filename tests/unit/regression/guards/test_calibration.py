"""A judge's scores fail nothing until a calibration of this very judge says that they may."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_auepora.base.files import write_atomically
from pytest_auepora.base.records import record_text
from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.metrics.pairs import SlicedMetric
from pytest_auepora.regression.checks import case_rules
from pytest_auepora.regression.compare import Change, compare_case
from pytest_auepora.regression.guards.calibration import (
    Calibration,
    CalibrationError,
    advisory_metrics,
    calibration_path,
    load_calibration,
)
from pytest_auepora.regression.guards.case_trial import CaseTrial
from pytest_auepora.regression.outcomes import Advisory
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Bound, Gate
from pytest_auepora.regression.verdict import Verdict, judge

from .. import runs


class Opinion(Metric):
    """What a model thinks; called deterministic on purpose: that must not help it."""

    name = "opinion"
    target = TargetCategory.GENERATION_RELEVANCE
    judged = True
    model = "m1"
    labels = False

    def params(self) -> dict[str, object]:
        said: dict[str, object] = {"judge": {"model": self.model} if self.model else {}, "prompt": "abc"}
        return {"labels": said} if self.labels else said

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        return Measurement(0.0)


def run_of(*values: float | None, metric: Metric | None = None, names: tuple[str, ...] = ("a", "b", "c")) -> Run:
    metric = metric or Opinion()
    run = Run("s", "s.golden.yaml", metrics={metric.name: MetricInfo.of(metric)}, expected_ids=names[: len(values)])
    for name, value in zip(names, values, strict=False):
        score = Score.failed("JudgeReplyError: not JSON") if value is None else Score("number", value)
        run.add([CaseResult(name, "passed", {metric.name: score}, content_hash=name, cluster=name)])
    return run


def calibrated(folder: Path, *, gate: bool = True, **more: object) -> Path:
    info = MetricInfo.of(Opinion())
    made = Calibration("opinion", gate, "κ = 0.31", info.judge, labels={"x": "yes no"})
    write_atomically(calibration_path(folder, "opinion"), record_text(replace(made, **more)))  # type: ignore[arg-type]
    return folder


def verdict_of(run: Run, folder: Path | None, policy: RegressionPolicy | None = None) -> Verdict:
    gates = [Gate("opinion", Bound("min", 0.8))]
    return judge(run, gates, policy or RegressionPolicy(), {"opinion": Opinion()}, calibrations=folder)


def test_an_uncalibrated_gate_is_advisory(tmp_path: Path) -> None:
    verdict = verdict_of(run_of(0.2, 0.4), tmp_path)
    gate = verdict.gates[0]
    assert (gate.state, gate.would_be, verdict.outcome) == ("advisory", "failed", "passed")
    assert verdict.advisory == {"opinion": Advisory("no calibration", f"{tmp_path.name}/opinion.json")}


def test_of_a_partial_run_a_judge_would_fail_nothing(tmp_path: Path) -> None:
    run = run_of(0.2)
    run.expected_ids = ("a", "b")
    verdict = verdict_of(run, tmp_path)
    assert (verdict.gates[0].state, verdict.gates[0].would_be) == ("not judged", "")


def test_a_gate_that_holds_is_advisory_as_well_and_no_finding(tmp_path: Path) -> None:
    run = run_of(0.9, 0.9)
    verdict = verdict_of(run, tmp_path)
    assert (verdict.gates[0].state, verdict.gates[0].would_be) == ("advisory", "passed")


def test_a_calibration_that_says_gate_lets_it_fail(tmp_path: Path) -> None:
    verdict = verdict_of(run_of(0.2, 0.4), calibrated(tmp_path))
    assert (verdict.gates[0].state, verdict.outcome, verdict.advisory) == ("failed", "failed", {})


def test_a_calibration_that_says_advisory_gives_its_reason(tmp_path: Path) -> None:
    verdict = verdict_of(run_of(0.2, 0.4), calibrated(tmp_path, gate=False))
    assert verdict.outcome == "passed"
    assert verdict.advisory["opinion"] == Advisory("not good enough", detail="κ = 0.31")


def test_another_model_is_not_the_one_that_was_calibrated(tmp_path: Path) -> None:
    metric = Opinion()
    metric.model = "m2"
    verdict = verdict_of(run_of(0.2, metric=metric), calibrated(tmp_path))
    assert verdict.outcome == "passed"
    assert verdict.advisory["opinion"] == Advisory("another judge", changes=(Change("judge model", "m1", "m2"),))


@pytest.mark.parametrize("labels", [False, True])
def test_a_calibrated_judge_that_is_gone_fails_the_run(tmp_path: Path, labels: bool) -> None:
    metric = Opinion()
    metric.labels = labels
    known = MetricInfo.of(metric).judge
    metric.model = ""
    verdict = verdict_of(run_of(0.9, metric=metric), calibrated(tmp_path, judge=known))
    assert verdict.outcome == "failed"
    (gate,) = [g for g in verdict.gates if g.state == "failed"]
    assert (gate.key, gate.reason) == ("calibration: opinion", "judge gone")
    assert verdict.advisory["opinion"] == Advisory("judge gone")


@pytest.mark.parametrize("gated", [True, False])
def test_a_judge_of_which_every_reply_failed_fails(tmp_path: Path, gated: bool) -> None:
    run = run_of(0.9, 0.9)
    for case in run.cases.values():
        case.scores["opinion"] = Score.failed("JudgeCallError: out of reach")
    folder = calibrated(tmp_path) if gated else tmp_path
    verdict = judge(run, [], RegressionPolicy(), {"opinion": Opinion()}, calibrations=folder)
    assert verdict.outcome == "failed"
    (gate,) = [g for g in verdict.gates if g.state == "failed"]
    assert (gate.reason, gate.n, gate.detail) == ("judge silent", 2, "JudgeCallError: out of reach")
    run.cases["a"].scores["opinion"] = Score("number", 0.9)
    assert judge(run, [], RegressionPolicy(), {"opinion": Opinion()}, calibrations=folder).outcome == "passed"


@pytest.mark.parametrize(
    ("word", "gate", "outcome"),
    [("gate", False, "failed"), ("advisory", True, "passed"), ("calibrated", True, "failed")],
)
def test_the_golden_file_has_the_last_word(tmp_path: Path, word: str, gate: bool, outcome: str) -> None:
    folder = calibrated(tmp_path, gate=gate)
    for policy in (RegressionPolicy(judge=word), RegressionPolicy(metrics={"opinion": {"judge": word}})):  # type: ignore[arg-type]
        assert verdict_of(run_of(0.2), folder, policy).outcome == outcome


@pytest.mark.parametrize(
    "text", ["<<<<<<< ours\n{", "[]", '{"format": 99}', '{"format": 1, "metric": "opinion"}', "[" * 100_000]
)
def test_a_broken_calibration_fails_the_run_lest_a_gate_vanish(tmp_path: Path, text: str) -> None:
    path = calibration_path(tmp_path, "opinion")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"opinion\.json"):
        load_calibration(path)
    verdict = verdict_of(run_of(0.9), tmp_path)
    assert verdict.outcome == "failed"
    assert [g.key for g in verdict.gates if g.state == "failed"] == ["calibration: opinion"]


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        ({"threshold": "high"}, 'threshold: expected a finite number, found "high"'),
        ({"threshold": None}, "threshold: expected a finite number, found null"),
        ({"gate": 1}, "gate: expected true or false, found 1"),
        ({"judge": {"params": [1]}}, 'judge: expected a mapping with the judge\'s params, found {"params": [1]}'),
        ({"labels": {"x": "yes"}}, 'labels.x: expected one of yes yes, yes no, no yes, no no, found "yes"'),
        ({"labels": ["x"]}, 'labels: expected a mapping, found ["x"]'),
    ],
)
def test_an_edited_calibration_tells_the_key(tmp_path: Path, edited: dict[str, object], told: str) -> None:
    path = calibration_path(calibrated(tmp_path), "opinion")
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | edited), encoding="utf-8")
    why = f"{path}: {told}; run auepora calibrate again"
    assert [g.detail for g in verdict_of(run_of(0.9), tmp_path).gates if g.state == "failed"] == [why]


def test_a_calibration_may_lack_what_has_a_default(tmp_path: Path) -> None:
    path = calibration_path(tmp_path, "opinion")
    path.write_text(json.dumps({"format": 1, "metric": "opinion", "gate": True, "reason": "", "judge": {}}))
    assert load_calibration(path) == Calibration("opinion", True, "", {})


def test_the_suite_guard_keeps_judges_in_a_family_of_their_own(tmp_path: Path) -> None:
    """A judge's metric that may not fail must not make it harder for the others to."""
    names = tuple(f"c{i}" for i in range(20))
    plain = type("Plain", (Opinion,), {"judged": False, "name": "plain"})()

    def both(drop: int, opinion: float) -> Run:
        run = run_of(*[0.0 if i < drop else 1.0 for i in range(20)], metric=plain, names=names)
        run.metrics["opinion"] = MetricInfo.of(Opinion())
        for i, case in enumerate(run.cases.values()):
            case.scores["opinion"] = Score("number", opinion if i % 2 else 1.0)
        return run

    metrics = {"plain": plain, "opinion": Opinion()}
    baseline = runs.accepted(both(0, 1.0))
    for opinion in (1.0, 0.5):
        verdict = judge(both(5, opinion), [], RegressionPolicy(), metrics, baseline=baseline, calibrations=tmp_path)
        by = {g.metric: g for g in verdict.gates if g.kind == "regression"}
        assert by["plain"].state == "failed"
        assert by["plain"].test is not None
        assert by["plain"].test.members == 1, "the judge is in another family"
        assert by["opinion"].state == "advisory"
    assert by["opinion"].would_be == "failed"


def checked(case: CaseResult, *, advisory: Collection[str] = ()) -> list[str]:
    """The statuses of what the first answer to *case* fails, by checks of thresholds and errors."""
    rules = case_rules(case, None, run_of(0.0).metrics, RegressionPolicy(), advisory=advisory)
    trial = CaseTrial(case, rules)
    trial.begin([case.as_answer()])
    trial.settle()
    return [finding.status for finding in case.findings]


def test_a_case_is_not_held_to_what_a_judge_thinks() -> None:
    before, after = run_of(1.0), run_of(0.0)
    case = after.cases["a"]
    comparison = compare_case(case, runs.accepted(before).cases["a"], after.metrics)
    assert case_rules(case, comparison, after.metrics, RegressionPolicy()).guards == {}, "calibrated or not"
    case.thresholds = {"opinion": [("min", 0.5)]}
    assert (checked(case, advisory={"opinion"}), case.state) == (["advisory"], "passed")
    case.findings.clear()
    assert (checked(case), case.state) == (["failed"], "failed"), "calibrated: a bound that people wrote counts"


def test_a_judge_without_any_reply_fails_the_run_calibrated_or(tmp_path: Path) -> None:
    found = judge(run_of(None, None, None), [], RegressionPolicy(), {"opinion": Opinion()}, calibrations=tmp_path)
    assert [(g.key, g.reason) for g in found.gates if g.state == "failed"] == [("calibration: opinion", "judge silent")]


def test_an_unreadable_judge_fails_a_case_only_when_it_counts() -> None:
    assert checked(run_of(None).cases["a"], advisory={"opinion"}) == ["advisory"]
    assert checked(run_of(None).cases["a"]) == ["failed"]


def test_a_metric_made_of_a_judged_one_goes_by_its_calibration(tmp_path: Path) -> None:
    sliced = SlicedMetric(Opinion(), "scenario:typo")
    info = MetricInfo.of(sliced)
    assert info.judge["metric"] == "opinion"
    assert advisory_metrics({sliced.name: info}, RegressionPolicy(), tmp_path)
    assert not advisory_metrics({sliced.name: info}, RegressionPolicy(), calibrated(tmp_path))


def test_a_calibration_survives_its_file(tmp_path: Path) -> None:
    path = calibration_path(calibrated(tmp_path), "opinion")
    found = load_calibration(path)
    assert found is not None
    assert found.pairs == {"x": (True, False)}
    text = path.read_text(encoding="utf-8")
    write_atomically(path, record_text(found))
    assert path.read_text(encoding="utf-8") == text
    assert json.loads(text)["format"] == 1
    assert load_calibration(tmp_path / "none" / "x.json") is None
    assert calibration_path(tmp_path, "a/b[x=1|2]").name == "a%2Fb[x=1%7C2].json"
