"""Repeats of single cases: which answer a failure shows, which cases are flaky, where noise comes from."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult
from pytest_auepora.evaluation.case_flow import merge_repeats
from pytest_auepora.history.compare import as_baseline, as_run
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.baseline_file import parse_baseline
from pytest_auepora.regression.checks import CaseRules
from pytest_auepora.regression.guards.steadiness import note_worst
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Bound
from pytest_auepora.regression.verdict import Verdict, judge
from pytest_auepora.reporting.relevant_docs import as_shown

from .. import runs
from ..runs import case, metrics, run

M = metrics("recall@1", "mrr")


def asked(name: str, /, **singles: list[float]) -> CaseResult:
    """A case that was repeated, with the single values."""
    result = case(name, **singles)  # type: ignore[arg-type]
    result.repeats = len(next(iter(singles.values())))
    for metric, values in singles.items():
        result.scores[metric.replace("_at_", "@")].value = sum(values) / len(values)
    return result


def judged(baseline: Baseline, *cases: CaseResult) -> Verdict:
    return judge(run(*cases), [], RegressionPolicy(policy="statistical"), M, baseline=baseline)


def test_a_failed_case_shows_its_worst_repeat_and_keeps_means() -> None:
    singles = [
        replace(case("a", recall_at_1=value, mrr=value), texts=CaseTexts(outputs={"answer": text}), ranks={"d": rank})
        for value, text, rank in ((1.0, "good", 1), (0.4, "poor", 3), (0.0, "wrong", None))
    ]
    result = merge_repeats(singles, run(*singles).metrics)
    result.state = "failed"
    rules = CaseRules({"mrr": [Bound("min", 0.5)], "recall@1": [Bound("min", 0.3)]})
    note_worst(result, singles, rules)
    shown = as_shown(result)
    assert (shown.outputs, shown.ranks) == ({"answer": "wrong"}, {"d": None})
    assert (result.outputs["answer"], result.ranks) == ("good", {"d": 1})
    assert shown.scores["mrr"].value == result.scores["mrr"].value == pytest.approx(1.4 / 3)
    worst = result.worst_repeat
    assert worst is not None
    assert (worst.repeat, worst.of, worst.failing) == (3, 3, 2)


def test_of_repeats_that_all_pass_none_is_the_worst() -> None:
    singles = [case("a", mrr=1.0), case("a", mrr=1.0)]
    result = merge_repeats(singles, run(*singles).metrics)
    result.state = "failed"
    note_worst(result, singles, CaseRules())
    assert as_shown(result) is result


def test_the_baseline_keeps_the_answers_in_few_lines() -> None:
    new = runs.accepted(run(asked("a", recall_at_1=[1.0, 1.0, 1.0], mrr=[1.0, 0.5, 1 / 3]), case("b", mrr=1.0)))
    text = new.dumps()
    assert '   "answers": 3,\n' in text
    assert '    "mrr": [1.0, 0.5, 0.3333],\n    "recall@1": 1.0\n' in text
    read = parse_baseline(text, "b.json")
    assert read == new
    assert read.dumps() == text
    assert read.cases["a"].values("recall@1") == [1.0, 1.0, 1.0]
    assert read.cases["a"].values("mrr") == [1.0, 0.5, 0.3333]
    assert (read.cases["b"].values("mrr"), read.cases["b"].values("token_f1")) == ([1.0], [])


FIRST = """{"format": 1, "suite": "suite", "variant": "", "provenance": {},
 "metrics": {"mrr": {"version": 1, "params": {}, "steady": false, "pairs": 9}}, "cases": {
 "a": {"hash": "h", "state": "passed", "scores": {"mrr": 0.75}, "ranks": {}, "repeats": 2, "varied": {"mrr": [1, 0.5]}},
 "b": {"hash": "h", "state": "failed", "scores": {"mrr": 1, "assertion_pass": 0}}}}"""


def test_a_baseline_of_the_first_format_is_read() -> None:
    old = parse_baseline(FIRST, "b.json")
    assert old.is_old
    assert old.cases["a"].values("mrr") == [1.0, 0.5]
    assert (old.cases["b"].answers, old.cases["b"].held("must_contain")) == (1, [False])


def test_repeats_survive_the_way_between_runs_and_baselines() -> None:
    held = as_baseline(run(asked("a", mrr=[1.0, 0.0]), case("b", mrr=0.5)))
    assert held.cases["a"].values("mrr") == [1.0, 0.0]
    assert as_run(held).cases["a"].values("mrr") == [1.0, 0.0]
    assert as_run(held).cases["b"].repeats == 1


def test_cases_are_flaky_of_which_some_accepted_answers_pass() -> None:
    now = [case(name, mrr=1.0) for name in "abc"]
    for one in now:
        one.thresholds = {"mrr": [("min", 0.5)]}
    before = runs.accepted(run(case("a", mrr=[1.0, 0.0, 1.0, 0.0]), case("b", mrr=[1.0] * 4), case("c", mrr=[0.0] * 4)))
    assert judged(before, *now).flaky == {"a": 0.5}


def noisy(n: int, rng: random.Random, shift: float, within: float, repeats: int) -> list[CaseResult]:
    return [asked(f"c{i}", mrr=[0.5 + shift + rng.gauss(0, within) for _ in range(repeats)]) for i in range(n)]


def test_noise_is_split_where_cases_were_repeated() -> None:
    rng = random.Random(4)
    before = runs.accepted(run(*noisy(30, rng, 0, 0.3, 3)))
    found = judged(before, *noisy(30, rng, -0.05, 0.3, 3))
    assert set(found.noise) == {"mrr"}
    assert found.noise["mrr"].within_candidate == pytest.approx(0.09, abs=0.03)
    alone = judged(runs.accepted(run(case("a", mrr=1.0))), case("a", mrr=1.0))
    assert (alone.flaky, alone.noise) == ({}, {})
