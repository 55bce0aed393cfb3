"""Repeats of single cases: stored in the baseline, held to it, flaky ones named, and where noise comes from."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult
from pytest_auepora.evaluation.case_flow import merge_repeats
from pytest_auepora.history.compare import as_baseline, as_run
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.baseline import Baseline, parse_baseline
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.guards.case_guard import judge_case
from pytest_auepora.regression.guards.steadiness import as_shown, note_worst, shown_repeat
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge
from pytest_auepora.reporting.formats.json_report import json_report, read_json_report
from pytest_auepora.reporting.notes import flaky_line, noise_lines, repeats_line
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.terminal.failure import failure_text

from ..runs import case, metrics, run

M = metrics("recall@1", "mrr")


def asked(name: str, /, **singles: list[float]) -> CaseResult:
    """A case with the single values of its repeats."""
    means: dict[str, Any] = {n: sum(v) / len(v) for n, v in singles.items()}
    result = case(name, **means)
    result.extra["repeats"] = {n.replace("_at_", "@"): v for n, v in singles.items()}
    return result


def accepted(*cases: CaseResult) -> Baseline:
    """The baseline that accepting *cases* gives, after a trip through its file."""
    return parse_baseline(merge(None, run(*cases), {"all"})[0].dumps(), "b.json")


def judged(baseline: Baseline, *cases: CaseResult, **policy: object) -> Verdict:
    now, terms = run(*cases), RegressionPolicy(**policy)  # type: ignore[arg-type]
    found = compare(now, baseline)
    for result in now.cases.values():
        judge_case(result, {}, now.metrics, found.cases[result.case_id], terms)
    return judge(now, [], terms, M, baseline=baseline)


def test_a_failed_case_shows_its_worst_repeat_and_keeps_means() -> None:
    baseline = accepted(asked("a", recall_at_1=[1.0] * 5, mrr=[1.0] * 5))
    singles = [
        replace(case("a", recall_at_1=value, mrr=value), texts=CaseTexts(outputs={"answer": text}), ranks={"d": rank})
        for value, text, rank in ((1.0, "good", 1), (0.4, "poor", 3), (0.0, "wrong", None))
    ]
    result = merge_repeats(singles, run(*singles).metrics)
    result.outputs["retrieved"] = [{"id": "d", "grade": 1}]
    now = run(result)
    comparison = compare(now, baseline).cases["a"]
    judge_case(result, {}, now.metrics, comparison, RegressionPolicy(), steady={"mrr", "recall@1"})
    note_worst(result, singles, comparison, now.metrics, policy=RegressionPolicy())
    assert result.state == "failed"
    shown = as_shown(CaseResult.from_dict(json.loads(json.dumps(result.to_dict()))))
    assert (shown.outputs, shown.ranks) == ({"answer": "wrong"}, {"d": None})
    assert (result.outputs["answer"], result.ranks) == ("good", {"d": 1})
    assert shown.scores["mrr"].value == result.scores["mrr"].value == pytest.approx(1.4 / 3)
    text = failure_text(result, comparison, now.metrics)
    assert "2 of 3 fail; shown is number 3" in " ".join(text.split())
    assert "wrong" in text
    assert "good" not in text
    assert text.startswith("retrieval: nothing was returned")


def test_of_repeats_that_all_pass_none_is_the_worst() -> None:
    singles = [case("a", mrr=1.0), case("a", mrr=1.0)]
    result = merge_repeats(singles, run(*singles).metrics)
    result.state, result.problems = "failed", ["bleu: the metric raised ValueError"]
    note_worst(result, singles, None, run(*singles).metrics, policy=RegressionPolicy())
    assert as_shown(result) is result
    assert shown_repeat(result) == ""


def test_the_baseline_keeps_the_repeats_in_few_lines() -> None:
    new, _ = merge(
        None, run(asked("a", recall_at_1=[1.0, 1.0, 1.0], mrr=[1.0, 0.5, 1 / 3]), case("b", mrr=1.0)), {"all"}
    )
    text = new.dumps()
    assert '   "repeats": 3,\n' in text
    assert '   "varied": {\n    "mrr": [1.0, 0.5, 0.3333]\n   }\n' in text
    assert "repeats" not in json.loads(text)["cases"]["b"], "a case asked once looks as it always did"
    read = parse_baseline(text, "b.json")
    assert read == new
    assert read.dumps() == text
    assert read.cases["a"].values("recall@1") == [1.0, 1.0, 1.0]
    assert read.cases["a"].values("mrr") == [1.0, 0.5, 0.3333]
    assert read.cases["b"].values("mrr") == [1.0]
    assert read.cases["b"].values("token_f1") == []


def test_a_baseline_from_before_repeats_were_kept_loads() -> None:
    old = (
        Baseline("suite", cases={})
        .dumps()
        .replace('"cases": {}', '"cases": {"a": {"hash": "h", "scores": {"mrr": 1}}}')
    )
    assert parse_baseline(old, "b.json").cases["a"].repeats == 1


def test_repeats_survive_the_way_between_runs_and_baselines() -> None:
    before = run(asked("a", mrr=[1.0, 0.0]), case("b", mrr=0.5))
    held = as_baseline(before)
    assert held.cases["a"].values("mrr") == [1.0, 0.0]
    assert as_run(held).cases["a"].values("mrr") == [1.0, 0.0]
    assert as_run(held).cases["b"].repeats == 1


def test_flaky_cases_come_from_the_baseline_or_the_run() -> None:
    steady, flipping = [1.0] * 4, [1.0, 0.0, 1.0, 0.0]
    found = judged(
        accepted(asked("a", recall_at_1=flipping), asked("b", recall_at_1=steady), case("c", recall_at_1=1.0)),
        asked("a", recall_at_1=steady), asked("b", recall_at_1=flipping), asked("c", recall_at_1=flipping),
    )  # fmt: skip
    why = "passes in 2 of 4 repeats and recall@1 varies by 0.58 (standard deviation) between repeats"
    assert found.flaky == {"a": f"{why} of the baseline", "c": why}
    assert flaky_line(found, most=1) == "2 flaky cases: a (passes in 2 of 4 repeats) and 1 more"


def test_the_repeats_of_the_baseline_count_as_well() -> None:
    baseline = accepted(asked("a", recall_at_1=[1.0, 0.0] * 2), case("b", recall_at_1=1.0))
    found = judge(
        run(case("a", recall_at_1=1.0), case("b", recall_at_1=1.0)), [], RegressionPolicy(), M, baseline=baseline
    )
    assert found.comparison is not None
    assert list(found.flaky) == ["a"]


def test_a_case_that_passes_sometimes_is_flaky() -> None:
    found = judged(Baseline("suite"), asked("a", recall_at_1=[1.0, 0.0, 0.0]))
    assert found.flaky["a"].startswith("passes in 1 of 3 repeats and recall@1 varies by 0.58")
    assert not judged(Baseline("suite"), case("a", recall_at_1=1.0)).flaky


def noisy(n: int, rng: random.Random, shift: float, within: float, repeats: int) -> list[CaseResult]:
    return [asked(f"c{i}", mrr=[0.5 + shift + rng.gauss(0, within) for _ in range(repeats)]) for i in range(n)]


def test_inconclusive_says_how_many_repeats_would_decide() -> None:
    rng = random.Random(4)
    found = judged(accepted(*noisy(30, rng, 0, 0.3, 3)), *noisy(30, rng, -0.05, 0.3, 3), policy="statistical")
    (gate,) = (g for g in found.gates if g.kind == "regression")
    assert gate.state == "inconclusive"
    assert ", or these cases asked " in gate.message
    assert set(found.noise) == {"mrr"}
    assert noise_lines(found)[0].startswith("mrr: variance between cases 0.0")
    again = read_json_report(json_report(Report([run()], [found]))).verdicts[0]
    assert (again.flaky, again.noise) == (found.flaky, found.noise)


def test_where_cases_differ_more_repeats_do_not_help() -> None:
    rng = random.Random(1)
    level = [rng.gauss(0, 0.4) for _ in range(30)]
    then = accepted(*(asked(f"c{i}", mrr=[0.5, 0.5, 0.5001]) for i in range(30)))
    now = [asked(f"c{i}", mrr=[0.5 + x] * 3) for i, x in enumerate(level)]
    (gate,) = (g for g in judged(then, *now, policy="statistical").gates if g.metric == "mrr")
    assert "but not more repeats of these" in gate.message


def test_without_repeats_nothing_is_said() -> None:
    found = judged(accepted(case("a", mrr=1.0)), case("a", mrr=1.0))
    assert (found.flaky, found.noise, repeats_line(run(case("a", mrr=1.0)))) == ({}, {}, "")
    assert (flaky_line(found), noise_lines(found)) == ("", [])


def test_how_often_cases_were_asked() -> None:
    assert repeats_line(run(asked("a", mrr=[1, 1]), provenance={"seed": 0})) == "each case asked 2 times, seed 0"
    assert repeats_line(run(asked("a", mrr=[1, 1]), case("b", mrr=1.0))) == "asked 1 to 2 times"
