"""The first line of a run, its causes and the next steps; each of the things once said wrongly is a test here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.outcomes import BaselineNote, GateOutcome, Test
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording import verdict as said
from pytest_auepora.reporting.wording.verdict import first_line, headline, next_steps

from ..builders import Case, accepted_of, baseline_of, run_of, verdict_of

LABELS = {"must_contain": ["30 days"]}
CASES = [Case(f"case-{n:02}", got=["refunds.md", "x"], labels=LABELS) for n in range(20)]
REFUSAL = "I do not know, sorry."


def sampled(*, varying: int = 20) -> Any:
    """Five accepted answers to each case, of which the last differs in its words."""
    others = "Within 30 days of buying it."
    return accepted_of([[c] * 4 + [c.with_(answer=others) if i < varying else c] for i, c in enumerate(CASES)])


def refusing(n: int, **changes: Any) -> list[Case]:
    """The first *n* cases refuse to answer, and answer when they are asked again."""
    lost = [c.with_(answer=f"{REFUSAL} {c.id}", again=[c], **changes) for c in CASES[:n]]
    return [*lost, *CASES[n:]]


def red_by_gates() -> tuple[Run, Verdict]:
    baseline = sampled()
    run = run_of(refusing(9), baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def green() -> tuple[Run, Verdict]:
    baseline = sampled()
    run = run_of(CASES, baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def test_a_suite_that_failed_alone_is_told_by_its_cause() -> None:
    run, verdict = red_by_gates()
    line = first_line(run, verdict)
    assert line.startswith("worse: no case failed by itself, 9 of 20 lost: 9 refused to answer; ")
    assert "gates failed (pass rate, token_f1" in line
    assert "unchanged" not in line, "it would read as the all-clear"


def test_no_line_weighs_gains_above_a_red_verdict() -> None:
    baseline = sampled()
    better = [c.with_(got=["refunds.md"]) for c in CASES[10:]]
    run = run_of([*refusing(9)[:10], *better], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    assert verdict.outcome == "failed"
    assert "about as many" not in first_line(run, verdict)


def test_cases_that_failed_are_told_with_their_causes() -> None:
    baseline = baseline_of(run_of(CASES))
    again = [CASES[0].with_(answer=f"{REFUSAL}{n}") for n in range(4)]
    now = [CASES[0].with_(answer=REFUSAL, again=again), *CASES[1:]]
    run = run_of(now, baseline=baseline)
    line = first_line(run, verdict_of(run, baseline=baseline))
    assert "1 newly failing (1 refused to answer), 19 unchanged" in line


def test_the_hint_on_a_sampling_suite_names_the_setting() -> None:
    steps = next_steps(*red_by_gates())
    assert any("`assertions: report`" in step for step in steps)
    assert any(step.startswith("if nothing was changed here") for step in steps)
    assert any(step.startswith("if it was intended: accept it with `pytest --auepora-update`") for step in steps)


def test_nobody_is_told_to_run_again_on_a_real_regression() -> None:
    baseline = baseline_of(run_of(CASES))
    run = run_of([c.with_(got=["x"]) for c in CASES], baseline=baseline)
    steps = next_steps(run, verdict_of(run, baseline=baseline))
    assert not any("run again" in step or "chance" in step for step in steps)


def test_a_changed_system_is_not_called_drift() -> None:
    baseline = sampled()
    run = run_of(refusing(9), baseline=baseline, provenance={"model": "m-2"})
    steps = next_steps(run, verdict_of(run, baseline=baseline))
    assert not any("nothing was changed" in step for step in steps)


def test_a_run_that_looked_once_says_how_often_that_is_chance() -> None:
    run, verdict = red_by_gates()
    verdict.look, verdict.gates = "only", [gate for gate in verdict.gates if not gate.steady]
    step = next(step for step in next_steps(run, verdict) if step.startswith("if nothing was changed"))
    assert "chance in up to 5 % of such runs" in step


def test_still_failing_is_one_word_and_not_red() -> None:
    bad = [c.with_(answer="Never.") for c in CASES[:2]]
    baseline = baseline_of(run_of([*bad, *CASES[2:]]))
    run = run_of([*bad, *CASES[2:]], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    assert verdict.outcome == "passed"
    assert first_line(run, verdict) == "same: 2 still failing, 18 unchanged"


def test_an_inconclusive_run_reads_as_no_problem() -> None:
    baseline = sampled()
    now = [c.with_(answer="Refunds: 30 days.") if i % 3 else c for i, c in enumerate(CASES)]
    run = run_of(now, baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    assert not any("would decide" in said for said in (first_line(run, verdict), *next_steps(run, verdict)))
    assert "inconclusive" not in headline([verdict], [run])


def test_a_better_system_is_told_how_to_accept_what_improved() -> None:
    baseline = baseline_of(run_of([c.with_(got=["x", "refunds.md"]) for c in CASES]))
    run = run_of(CASES, baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    assert (verdict.word, verdict.outcome) == ("better", "passed")
    assert next_steps(run, verdict)[0].startswith("got better: `pytest --auepora-update=improved`")


def test_single_cases_that_fell_make_a_mixed_run() -> None:
    baseline = baseline_of(run_of(CASES * 1))
    run = run_of([*CASES[:-1], CASES[-1].with_(answer=REFUSAL)], baseline=baseline)
    line = first_line(run, verdict_of(run, baseline=baseline))
    assert line.startswith(("mixed (the suite is the same): 1 newly failing", "worse: 1 newly failing"))


def test_an_outage_says_what_to_do() -> None:
    run = run_of([c.with_(error="ConnectionError: refused") for c in CASES])
    verdict = verdict_of(run)
    assert "20 errored (20 raised)" in headline([verdict], [run])
    assert next_steps(run, verdict)[0] == (
        "20 of 20 cases errored: fix that, then `pytest --auepora-resume` asks only those again"
    )


@pytest.mark.parametrize(("regressed", "words"), [([], "=anchor"), (["c"], "=all,anchor")])
def test_a_run_that_its_anchor_fails_needs_a_new_anchor(regressed: list[str], words: str) -> None:
    run, verdict = green()
    verdict.gates.append(GateOutcome("anchor", "failed", "token_f1", word="worse"))
    verdict.regressed_cases = regressed
    assert any(f"`pytest --auepora-update{words}`" in step for step in next_steps(run, verdict))


def first_run(**changes: Any) -> tuple[Run, Verdict]:
    run = run_of([replace(CASES[0], answer="Within 14 days.", **changes), *CASES[1:]])
    verdict = verdict_of(run)
    verdict.baseline_note = BaselineNote("none")
    return run, verdict


def test_a_first_run_whose_assertions_fail_says_how_to_begin() -> None:
    assert next_steps(*first_run())[0].startswith(
        "no baseline yet: mend these cases, or accept what the system does now"
    )
    run, verdict = first_run()
    verdict.gates.append(GateOutcome("threshold", "failed", "recall@1"))
    assert len(next_steps(run, verdict)) == 1, "an update would not make it green"
    run, verdict = first_run()
    run.cases["case-00"].must_pass = True
    assert len(next_steps(run, verdict)) == 1


def test_who_has_the_html_report_is_not_told_to_make_one() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, {"token_f1": {"max": 0.5}})
    assert next_steps(run, verdict) == ["look closer: `pytest --auepora-report html:report.html`"]
    assert next_steps(run, verdict, "out/r.html") == ["look closer: out/r.html"]
    assert next_steps(run, verdict, html="") == []


def test_a_failed_threshold_without_a_baseline() -> None:
    run = run_of(CASES)
    line = first_line(run, verdict_of(run, {"token_f1": {"max": 0.5}}))
    assert line == "no case failed by itself; 1 gate failed (token_f1); no baseline yet (billing.json)"


def test_a_configuration_without_a_name_is_not_told_to_accept() -> None:
    run = run_of(CASES)
    line = first_line(run, verdict_of(run, note=BaselineNote("unnamed")))
    assert line == "20 passed (no name of its own, so nothing is compared: thresholds only)"


def test_a_partial_run() -> None:
    run = run_of(CASES[:3], expected=[c.id for c in CASES])
    assert first_line(run, verdict_of(run)) == (
        "3 passed (no baseline yet (billing.json): thresholds only); 3 of 20 cases ran, gates not judged"
    )


def test_several_runs_are_summed_up_together() -> None:
    baseline = baseline_of(run_of(CASES))
    runs = [run_of(CASES, baseline=baseline), run_of(CASES[:2], variant="b")]
    verdicts = [verdict_of(runs[0], baseline=baseline), verdict_of(runs[1])]
    assert headline(verdicts, runs) == "20 unchanged; without a baseline 2 passed"
    assert headline([], []) == "nothing was measured"


def test_metrics_that_do_not_compare_are_counted() -> None:
    baseline = baseline_of(run_of(CASES, provenance={"chunker_version": 1}))
    run = run_of(CASES, baseline=baseline, provenance={"chunker_version": 2})
    line = headline([verdict_of(run, baseline=baseline)], [run])
    assert "2 metrics not comparable (chunker_version 1 → 2)" in line


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (BaselineNote("none", "billing.json"), ""),
        (
            BaselineNote("other variant", "a.json", "billing.json"),
            "no baseline yet (a.json; billing.json is of no variant)",
        ),
        (BaselineNote("replaced"), "an unreadable baseline was replaced"),
    ],
)
def test_why_there_is_no_baseline_is_said_once(note: BaselineNote, line: str) -> None:
    run = run_of(CASES)
    assert said.baseline_line(verdict_of(run, note=note)) == line


def test_how_small_a_loss_would_show() -> None:
    run, verdict = green()
    line = said.detectable_line(run, verdict)
    assert line.startswith("minimum detectable drop (80 % power): ")
    assert "one lost document costs 0.05 in recall@5" in line
    gate = next(gate for gate in verdict.gates if gate.metric == "token_f1")
    assert gate.test is not None
    verdict.gates = [replace(gate, test=replace(gate.test, detectable=0.05, detectable_answers=6))]
    assert said.detectable_line(run, verdict) == (
        "minimum detectable drop (80 % power): 0.05 if every answer gets a little worse; about 6 lost answers"
    )


def test_what_an_assertion_on_the_baseline_says() -> None:
    baseline = baseline_of(run_of(CASES))
    run = run_of([CASES[0].with_(got=["x"]), CASES[1].with_(error="E: down"), *CASES[2:]], baseline=baseline)
    text = said.got_worse_text(run, verdict_of(run, baseline=baseline, policy=RegressionPolicy()))
    assert text.splitlines()[0] == "billing got worse than its baseline"
    assert "  case-00: recall@5 fell from 1.00 to 0.00 (limit 0.5); mrr@10 fell" in text
    assert "  case-01: E: down" in text
    assert said.got_worse_text(*green()) == ""


def test_what_an_assertion_on_thresholds_says() -> None:
    run = run_of([CASES[0].with_(got=["x"], thresholds={"recall@5": 0.5}), *CASES[1:]])
    text = said.missed_thresholds_text(run, verdict_of(run, {"recall@5": 0.99}))
    assert text.splitlines() == [
        "billing misses its thresholds",
        "  recall@5: 0.9500 is not >= 0.99 (over 20 of 20 cases)",
        "  case-00: recall@5 0.000, wanted >= 0.5",
    ]


def test_a_test_of_the_family_is_no_test_of_pytest() -> None:
    assert Test.__test__ is False
