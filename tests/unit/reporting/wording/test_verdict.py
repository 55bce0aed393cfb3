"""The first line of a run and its causes; each of the things once said wrongly is a test here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_auepora.regression.outcomes import HAS_NUMBER, BaselineNote, Test
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.reporting.wording import verdict as said
from pytest_auepora.reporting.wording.verdict import first_line, headline

from ..builders import baseline_of, run_of, verdict_of
from .suites import CASES, REFUSAL, green, red_by_gates, refusing, sampled


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


def test_still_failing_is_one_word_and_not_red() -> None:
    bad = [c.with_(answer="Never.") for c in CASES[:2]]
    baseline = baseline_of(run_of([*bad, *CASES[2:]]))
    run = run_of([*bad, *CASES[2:]], baseline=baseline)
    verdict = verdict_of(run, baseline=baseline)
    assert verdict.outcome == "passed"
    assert first_line(run, verdict) == "same: 2 still failing, 18 unchanged"


def test_single_cases_that_fell_make_a_mixed_run() -> None:
    baseline = baseline_of(run_of(CASES * 1))
    run = run_of([*CASES[:-1], CASES[-1].with_(answer=REFUSAL)], baseline=baseline)
    line = first_line(run, verdict_of(run, baseline=baseline))
    assert line.startswith(("mixed (the suite is the same): 1 newly failing", "worse: 1 newly failing"))


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
    verdict.gates.append(replace(gate, stat=HAS_NUMBER, test=replace(gate.test, detectable=0.39)))
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
