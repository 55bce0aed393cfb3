from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.judge.usage import USAGE
from pytest_auepora.regression.compare import Comparison
from pytest_auepora.regression.guards.gates import GateOutcome, GateWord
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.metric_rows import metric_rows
from pytest_auepora.reporting.notes import (
    cost_text,
    judge_lines,
    judge_usage_dict,
    latency_line,
    missing_notes,
    next_steps,
)

from .builders import Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"]) for i in range(10)]


def test_what_nobody_labelled_is_told_beside_scores_over_labels() -> None:
    labels = [{"id": "refunds.md", "topically_relevant": True, "evidence_sufficient": True}]
    names = ["topical_precision@3", "sufficiency_hit@3", "recall@5"]
    run = run_of([Case("a", labels={"chunk_labels": labels}), Case("b", labels={"chunk_labels": labels})], names)
    verdict = verdict_of(run)
    notes = list(missing_notes(run, verdict, metric_rows(run, verdict)))
    assert notes == ["labelled: judged@3 0.333 beside topical_precision@3, sufficiency_hit@3"]


def test_how_small_a_loss_would_show_is_said_of_what_was_tested() -> None:
    baseline = baseline_of(run_of(CASES))
    run = run_of([CASES[0].with_(answer="Within 30 days."), *CASES[1:]], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    sizes = {g.metric: f"{g.mde:.3f}" for g in verdict.gates if g.mde is not None}
    assert sizes["recall@5"] == sizes["mrr@10"] == "0.279", "nothing differs: by the usual spread of ten cases"
    told = f"minimum detectable drop (80 % power): 0.279 in recall@5, mrr@10; {sizes['token_f1']} in token_f1"
    assert told in missing_notes(run, verdict, metric_rows(run, verdict))
    part = run_of(CASES[:2], expected=[c.id for c in CASES], baseline=baseline)
    half = verdict_of(part, baseline=baseline)
    assert not any("minimum detectable" in note for note in missing_notes(part, half, metric_rows(part, half)))


def test_times_without_a_gate_share_a_line() -> None:
    run = run_of(CASES)
    assert latency_line(run, verdict_of(run)) == (
        "latency: mean 20 ms, p95 20 ms (needs at least 59 cases) over 10 cases"
    )
    assert latency_line(run, verdict_of(run, {"p95_latency": 2})) == "latency: mean 20 ms over 10 cases"
    notes = list(missing_notes(run, v := verdict_of(run, {"p95_latency": 2}), metric_rows(run, v)))
    assert "p95_latency: needs at least 59 values, got 10" in notes
    only = run_of(CASES, ["recall@5"])
    assert latency_line(only, verdict_of(only)) == ""


def test_who_has_the_html_report_is_not_told_to_make_one() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, {"token_f1": {"max": 0.5}})
    assert verdict.outcome == "failed"
    assert next_steps(verdict) == ["look closer: `pytest --auepora-report html:report.html`"]
    assert next_steps(verdict, "out/r.html") == ["look closer: out/r.html"]
    assert next_steps(verdict, html="") == []


def worse_or(word: GateWord, *more: GateOutcome, **said: list[str]) -> Verdict:
    gate = GateOutcome("regression: m", "regression", "failed" if word == "worse" else "passed", "", "m", word=word)
    return Verdict("shop", [gate, *more], failed_cases=1, **said)  # type: ignore[arg-type]


def test_a_run_that_chance_may_have_made_red_says_so() -> None:
    only = worse_or("worse")
    only.failed_cases, only.gates[0].p = 0, 0.04
    told = next_steps(only)
    assert [step.partition(":")[0] for step in told] == ["nothing changed", "intended", "look closer"]
    assert "`alpha`" in told[0]
    steady = replace(only, comparison=Comparison(steady=("m",)))
    missed = replace(only, gates=[*only.gates, GateOutcome("m", "threshold", "failed", "", "m", 0.5)])
    clear, untested = (replace(only, gates=[replace(only.gates[0], p=p)]) for p in (0.0005, None))
    for verdict in (steady, missed, clear, untested, replace(only, failed_cases=1)):
        assert next_steps(verdict)[0].startswith("intended")


def test_what_to_do_about_a_red_run() -> None:
    beside = "look closer: `pytest --auepora-report html:report.html` shows each case beside its baseline"
    told = next_steps(worse_or("same", regressed_cases=["c"], varies=["d"]))
    assert [step.partition(":")[0] for step in told] == ["intended", "varies", "look closer"]
    assert told[1].startswith("varies: 1 case answered differently"), "the notes name it"
    assert told[2] == beside
    assert len(next_steps(worse_or("worse"))) == 2
    assert next_steps(worse_or("same", varies=["d"])) == [told[1]]
    assert next_steps(worse_or("worse"), "r.html")[-1] == "look closer: r.html"
    errors = GateOutcome("error_rate", "threshold", "failed", "", "error_rate", 0.05, n=20)
    told = next_steps(worse_or("worse", errors))
    assert [step.partition(":")[0] for step in told] == ["1 of 20 cases errored", "look closer"]
    errors.state = "not judged"
    assert next_steps(worse_or("worse", errors)) == told, "nor is it intended in a partial run"
    errors.value = 0.0
    assert next_steps(worse_or("worse", errors))[0].startswith("intended")


@pytest.mark.parametrize(
    ("word", "fell", "words"), [("same", [], " anchor"), ("same", ["c"], " all,anchor"), ("worse", [], " all,anchor")]
)
def test_a_run_that_its_anchor_fails_needs_a_new_anchor(word: GateWord, fell: list[str], words: str) -> None:
    verdict = worse_or(word, regressed_cases=fell)
    verdict.gates.append(GateOutcome("anchor: m", "anchor", "failed", "", "m", word="worse"))
    assert any(f"`pytest --auepora-update{words}`" in step for step in next_steps(verdict))


def run_that_spent(*spent: dict[str, dict[str, Any]]) -> Run:
    run = Run("s")
    run.add(CaseResult(str(i), extra={USAGE: usage}) for i, usage in enumerate(spent))
    return run


def test_a_run_without_a_judge_says_nothing() -> None:
    run = Run("s")
    run.add([CaseResult("1")])
    assert judge_lines(run) == []
    assert judge_usage_dict(run) == {}


def test_one_metric_is_one_line() -> None:
    one = {"rubric": {"requests": 1, "prompt_tokens": 1_200, "completion_tokens": 30, "cost": 0.00125}}
    assert judge_lines(run_that_spent(one)) == ["judge: 1 request, 1,200 + 30 tokens, cost 0.00125"]


def test_several_metrics_are_told_apart() -> None:
    run = run_that_spent(
        {
            "a": {
                "requests": 3,
                "retries": 1,
                "prompt_tokens": 30,
                "completion_tokens": 3,
                "notes": ["m: seed left out"],
            }
        },
        {"a": {"cache_hits": 2}, "b": {"requests": 1, "unreported": 1}},
    )
    assert judge_lines(run) == [
        "judge: 4 requests (1 retry, 2 more from the cache), 30 + 3 tokens, 1 reply without token counts",
        "judge by metric: a 3 requests (1 retry, 2 more from the cache), 30 + 3 tokens; "
        "b 1 request, 1 reply without token counts",
        "m: seed left out",
    ]
    said = judge_usage_dict(run)
    assert said["total"]["requests"] == 4
    assert said["metrics"]["b"] == {"requests": 1, "unreported": 1}


def test_a_budget_that_stopped_is_told() -> None:
    run = run_that_spent({"a": {"requests": 2, "prompt_tokens": 9, "completion_tokens": 1}})
    reason = "JudgeBudgetError: the judge's budget is used up: requests 2 of 2"
    run.add([CaseResult(i, "passed", {"a": Score.failed(reason)}) for i in "xyz"])
    assert judge_lines(run)[-1] == "the judge's budget is used up: requests 2 of 2: 3 scores not judged"


def test_costs_are_exact_to_the_millionth() -> None:
    assert [cost_text(c) for c in (0.0, 1.5, 0.000022, 1234.5678914)] == ["0", "1.5", "0.000022", "1,234.567891"]
