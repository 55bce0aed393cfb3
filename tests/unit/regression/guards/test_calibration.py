"""A judge's scores fail nothing until a calibration of this very judge says that they may."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_auepora.base.files import write_atomically
from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.metrics.pairs import SlicedMetric
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.compare import compare_case
from pytest_auepora.regression.guards.calibration import (
    Calibration,
    CalibrationError,
    JudgeStanding,
    advisory_notes,
    calibration_path,
    load_calibration,
    standing_of,
)
from pytest_auepora.regression.guards.case_guard import judge_case
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Bound, Gate
from pytest_auepora.regression.verdict import Verdict, judge
from pytest_auepora.reporting.findings import findings
from pytest_auepora.reporting.formats.json_report import json_report, read_json_report
from pytest_auepora.reporting.formats.markdown_report import markdown_report
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.tally import headline


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
    made = Calibration("opinion", gate, "κ is 0.31, at least 0.6 is wanted", info.judge, labels={"x": (True, False)})
    write_atomically(calibration_path(folder, "opinion"), replace(made, **more).dumps())  # type: ignore[arg-type]
    return folder


def verdict_of(run: Run, folder: Path | None, policy: RegressionPolicy | None = None) -> Verdict:
    gates = [Gate("opinion", Bound("min", 0.8))]
    return judge(run, gates, policy or RegressionPolicy(), {"opinion": Opinion()}, calibrations=folder)


def test_an_uncalibrated_gate_is_advisory(tmp_path: Path) -> None:
    run = run_of(0.2, 0.4)
    verdict = verdict_of(run, tmp_path)
    gate = verdict.gates[0]
    assert (gate.state, gate.would_be, verdict.outcome) == ("advisory", "failed", "passed")
    assert gate.message.startswith("advisory: would fail: opinion 0.3000 is not >= 0.8")
    assert "there is no" in gate.message
    assert verdict.notes[0].startswith("advisory: would fail: opinion 0.3000")
    assert verdict.notes[1].startswith("advisory: cannot fail the run: opinion (judge not calibrated")
    assert headline([verdict], [run]).endswith("1 advisory gate would fail")
    assert [(f.severity, f.kind) for f in findings(Report([run], [verdict]))] == [("warning", "threshold")]
    for text in (markdown_report(Report([run], [verdict])), json_report(Report([run], [verdict]))):
        assert "advisory: would fail: opinion 0.3000" in text
    assert read_json_report(json_report(Report([run], [verdict]))).verdicts[0].gates == verdict.gates


def test_of_a_partial_run_a_judge_would_fail_nothing(tmp_path: Path) -> None:
    run = run_of(0.2)
    run.expected_ids = ("a", "b")
    verdict = verdict_of(run, tmp_path)
    assert (verdict.gates[0].state, verdict.gates[0].would_be) == ("not judged", "")
    assert not any("would fail" in note for note in verdict.notes)


def test_a_gate_that_holds_is_advisory_as_well_and_no_finding(tmp_path: Path) -> None:
    run = run_of(0.9, 0.9)
    verdict = verdict_of(run, tmp_path)
    assert (verdict.gates[0].state, verdict.gates[0].would_be) == ("advisory", "passed")
    assert not findings(Report([run], [verdict]))


def test_a_calibration_that_says_gate_lets_it_fail(tmp_path: Path) -> None:
    verdict = verdict_of(run_of(0.2, 0.4), calibrated(tmp_path))
    assert (verdict.gates[0].state, verdict.outcome, verdict.notes) == ("failed", "failed", [])


def test_a_calibration_that_says_advisory_gives_its_reason(tmp_path: Path) -> None:
    verdict = verdict_of(run_of(0.2, 0.4), calibrated(tmp_path, gate=False))
    assert verdict.outcome == "passed"
    assert "judge not calibrated: κ is 0.31, at least 0.6 is wanted" in verdict.notes[1]


def test_another_model_is_not_the_one_that_was_calibrated(tmp_path: Path) -> None:
    metric = Opinion()
    metric.model = "m2"
    verdict = verdict_of(run_of(0.2, metric=metric), calibrated(tmp_path))
    assert verdict.outcome == "passed"
    assert "the calibration is of another one (judge model m1 → m2)" in verdict.notes[1]


@pytest.mark.parametrize("labels", [False, True])
def test_a_calibrated_judge_that_is_gone_fails_the_run(tmp_path: Path, labels: bool) -> None:
    metric = Opinion()
    metric.labels = labels
    known = MetricInfo.of(metric).judge
    metric.model = ""
    verdict = verdict_of(run_of(0.9, metric=metric), calibrated(tmp_path, judge=known))
    assert verdict.outcome == "failed"
    (gate,) = [g for g in verdict.gates if g.state == "failed"]
    assert gate.title == "calibration: opinion"
    assert gate.message.startswith("the judge that was calibrated is not there: no model is named now")


@pytest.mark.parametrize("gated", [True, False])
def test_a_judge_of_which_every_reply_failed_fails(tmp_path: Path, gated: bool) -> None:
    run = run_of(0.9, 0.9)
    for case in run.cases.values():
        case.scores["opinion"] = Score.failed("JudgeCallError: out of reach")
    folder = calibrated(tmp_path) if gated else tmp_path
    verdict = judge(run, [], RegressionPolicy(), {"opinion": Opinion()}, calibrations=folder)
    assert verdict.outcome == "failed"
    (gate,) = [g for g in verdict.gates if g.state == "failed"]
    assert gate.message == "every reply of the judge failed, in 2 cases: JudgeCallError: out of reach"
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
    assert [g.title for g in verdict.gates if g.state == "failed"] == ["calibration: opinion"]


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        ({"threshold": "high"}, 'threshold: expected a finite number, found "high"'),
        ({"threshold": None}, "threshold: expected a finite number, found null"),
        ({"gate": 1}, "gate: expected true or false, found 1"),
        ({"judge": {"params": [1]}}, "judge.params: expected a mapping, found [1]"),
        ({"labels": {"x": "yes"}}, 'labels.x: expected one of yes yes, yes no, no yes, no no, found "yes"'),
        ({"labels": ["x"]}, 'labels: expected a mapping, found ["x"]'),
    ],
)
def test_an_edited_calibration_tells_the_key(tmp_path: Path, edited: dict[str, object], told: str) -> None:
    path = calibration_path(calibrated(tmp_path), "opinion")
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | edited), encoding="utf-8")
    why = f"{path}: not a calibration file: {told}; run auepora calibrate again"
    assert [g.message for g in verdict_of(run_of(0.9), tmp_path).gates if g.state == "failed"] == [why]


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
    baseline, _ = merge(None, both(0, 1.0), {"all"})
    for opinion in (1.0, 0.5):
        verdict = judge(both(5, opinion), [], RegressionPolicy(), metrics, baseline=baseline, calibrations=tmp_path)
        by = {g.metric: g for g in verdict.gates if g.kind == "regression"}
        assert by["plain"].state == "failed"
        assert "corrected for 2 metrics" in by["plain"].message, "itself and net flips"
        assert by["opinion"].state == "advisory"
    assert by["opinion"].would_be == "failed"


def test_a_case_is_not_held_to_what_a_judge_thinks(tmp_path: Path) -> None:
    before, after = run_of(1.0), run_of(0.0)
    baseline, _ = merge(None, before, {"all"})
    infos, case = after.metrics, after.cases["a"]
    comparison = compare_case(case, baseline.cases["a"], infos)
    bound = {"opinion": [Bound("min", 0.5)]}
    judge_case(case, {}, infos, comparison, RegressionPolicy())  # calibrated or not: never the case guard
    assert not case.problems
    judge_case(case, bound, infos, comparison, RegressionPolicy(), advisory={"opinion"})
    assert (case.problems, case.extra["advisory"]) == ([], ["opinion 0.00, wanted >= 0.5"])
    note = verdict_of(after, tmp_path).notes[1]
    assert note == "advisory: would fail cases: a: opinion 0.00, wanted >= 0.5"
    judge_case(case, bound, infos, comparison, RegressionPolicy())  # calibrated: a bound people wrote counts
    assert case.state == "failed"


def test_judges_that_fail_cases_alike_say_so_once(tmp_path: Path) -> None:
    failed = run_of(None, None, 0.5)
    for case in failed.cases.values():
        judge_case(case, {}, failed.metrics, None, RegressionPolicy(), advisory={"opinion"})
    line = "opinion: the metric raised JudgeReplyError: not JSON"
    assert f"advisory: would fail cases: 2 cases (a, b): {line}" in verdict_of(failed, tmp_path).notes
    silent = run_of(None, None, None)
    for case in silent.cases.values():
        judge_case(case, {}, silent.metrics, None, RegressionPolicy(), advisory={"opinion"})
    found = judge(silent, [], RegressionPolicy(), {"opinion": Opinion()}, calibrations=tmp_path)
    assert [g.title for g in found.gates if g.state == "failed"] == ["judge: opinion"]
    assert not any("would fail" in note for note in found.notes), "the failed gate says it"


def test_an_unreadable_judge_fails_a_case_only_when_it_counts() -> None:
    infos = run_of(None).metrics
    case = run_of(None).cases["a"]
    judge_case(case, {}, infos, None, RegressionPolicy(), advisory={"opinion"})
    assert case.extra["advisory"] == ["opinion: the metric raised JudgeReplyError: not JSON"]
    assert not case.problems
    judge_case(case, {}, infos, None, RegressionPolicy())
    assert case.problems


def test_a_metric_made_of_a_judged_one_goes_by_its_calibration(tmp_path: Path) -> None:
    sliced = SlicedMetric(Opinion(), "scenario:typo")
    info = MetricInfo.of(sliced)
    assert info.judge["metric"] == "opinion"
    assert standing_of({sliced.name: info}, RegressionPolicy(), tmp_path).advisory
    assert not standing_of({sliced.name: info}, RegressionPolicy(), calibrated(tmp_path)).advisory


def test_a_calibration_survives_its_file(tmp_path: Path) -> None:
    path = calibration_path(calibrated(tmp_path), "opinion")
    found = load_calibration(path)
    assert found is not None
    assert found.labels == {"x": (True, False)}
    text = path.read_text(encoding="utf-8")
    write_atomically(path, found.dumps())
    assert path.read_text(encoding="utf-8") == text
    assert json.loads(text)["format"] == 1
    assert load_calibration(tmp_path / "none" / "x.json") is None
    assert calibration_path(tmp_path, "a/b[x=1|2]").name == "a%2Fb[x=1%7C2].json"


def test_metrics_without_a_calibration_are_told_together() -> None:
    why = {
        name: f"judge not calibrated: there is no __calibrations__/{name}.json; see auepora calibrate" for name in "ab"
    }
    told = "(judge not calibrated: there is no __calibrations__/{}.json; see auepora calibrate)"
    both = advisory_notes(Run("s"), [], JudgeStanding({**why, "c": "judge: advisory"}, {}))
    assert both == [
        f"advisory: cannot fail the run: a, b {told.format('<metric>')}",
        "advisory: cannot fail the run: c (judge: advisory)",
    ]
    assert advisory_notes(Run("s"), [], JudgeStanding({"a": why["a"]}, {})) == [
        f"advisory: cannot fail the run: a {told.format('a')}"
    ]
