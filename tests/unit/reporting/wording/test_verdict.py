"""The first line of a run and its causes; each of the things once said wrongly is a test here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.outcomes import HAS_NUMBER, BaselineNote, Test
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording import verdict as said
from pytest_auepora.reporting.wording.verdict import first_line, headline

from ..builders import Case, baseline_of, run_of, verdict_of
from .suites import CASES, REFUSAL, green, red_by_gates, refusing, sampled


def on(*first: Case, baseline: Baseline | None = None, **keys: Any) -> tuple[Run, Verdict]:
    """A run whose first cases are *first*, against the whole suite as it was."""
    baseline = baseline or baseline_of(run_of(CASES))
    run = run_of([*first, *CASES[len(first) :]], baseline=baseline, **keys)
    return run, verdict_of(run, baseline=baseline)


def gains_beside_losses() -> tuple[Run, Verdict]:
    """No line weighs them against each other: above a red verdict it would read as the all-clear."""
    better = [c.with_(got=["refunds.md"]) for c in CASES[10:]]
    return on(*refusing(9)[:10], *better, baseline=sampled())


def refuses_every_time() -> tuple[Run, Verdict]:
    again = [CASES[0].with_(answer=f"{REFUSAL}{n}") for n in range(4)]
    return on(CASES[0].with_(answer=REFUSAL, again=again))


def fails_as_when_accepted() -> tuple[Run, Verdict]:
    bad = [c.with_(answer="Never.") for c in CASES[:2]]
    return on(*bad, baseline=baseline_of(run_of([*bad, *CASES[2:]])))


def without_a_baseline(*, note: BaselineNote | None = None, **thresholds: Any) -> tuple[Run, Verdict]:
    run = run_of(CASES)
    return run, verdict_of(run, thresholds, note=note)


def partial() -> tuple[Run, Verdict]:
    run = run_of(CASES[:3], expected=[c.id for c in CASES])
    return run, verdict_of(run)


def other_chunks() -> tuple[Run, Verdict]:
    return on(baseline=baseline_of(run_of(CASES, provenance={"chunker_version": 1})), provenance={"chunker_version": 2})


LOST = (
    "worse: no case failed by itself, 9 of 20 lost: 9 refused to answer; "
    "3 gates failed (pass rate, token_f1, assertion_pass); 9 cases vary"
)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (red_by_gates, LOST),
        (gains_beside_losses, LOST),
        (refuses_every_time, "worse: 1 newly failing (1 refused to answer), 19 unchanged"),
        (fails_as_when_accepted, "same: 2 still failing, 18 unchanged"),
        (lambda: without_a_baseline(token_f1={"max": 0.5}),
         "no case failed by itself; 1 gate failed (token_f1); no baseline yet (billing.json)"),
        (lambda: without_a_baseline(note=BaselineNote("unnamed")),
         "20 passed (no name of its own, so nothing is compared: thresholds only)"),
        (partial, "3 passed (no baseline yet (billing.json): thresholds only); 3 of 20 cases ran, gates not judged"),
        (other_chunks, "same: 20 unchanged; 2 metrics not comparable (chunker_version 1 → 2)"),
    ],
)  # fmt: skip
def test_the_first_line_of_a_run(make: Callable[[], tuple[Run, Verdict]], line: str) -> None:
    assert first_line(*make()) == line


def test_a_mixed_run_says_how_the_suite_is() -> None:
    verdict = replace(on()[1], regressed_cases=["a"], improved_cases=["b"], failed_cases=1)
    assert said.comparison_word(verdict) == "mixed (the suite is the same, 1 rose)"


def test_several_runs_are_summed_up_together() -> None:
    (one, judged), other = on(), run_of(CASES[:2], variant="b")
    assert headline([judged, verdict_of(other)], [one, other]) == "20 unchanged; without a baseline 2 passed"


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


def varying_and_steady() -> tuple[Run, Verdict]:
    """Of a steady metric what one lost document costs; whether there is a number is no score that drops."""
    run, verdict = green()
    gate = next(gate for gate in verdict.gates if gate.metric == "token_f1")
    assert gate.test is not None
    verdict.gates = [replace(gate, test=replace(gate.test, detectable=0.05, detectable_answers=6))]
    verdict.gates.append(replace(gate, stat=HAS_NUMBER, test=replace(gate.test, detectable=0.39)))
    return run, verdict


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (green, "minimum detectable drop (80 % power): 0.20; one lost document costs 0.05 in recall@5, mrr@10"),
        (varying_and_steady,
         "minimum detectable drop (80 % power): 0.05 if every answer gets a little worse; about 6 lost answers"),
    ],
)  # fmt: skip
def test_how_small_a_loss_would_show(make: Callable[[], tuple[Run, Verdict]], line: str) -> None:
    assert said.detectable_line(*make()) == line


def misses_thresholds() -> tuple[Run, Verdict]:
    run = run_of([CASES[0].with_(got=["x"], thresholds={"recall@5": 0.5}), *CASES[1:]])
    return run, verdict_of(run, {"recall@5": 0.99})


@pytest.mark.parametrize(
    ("text_of", "shown", "lines"),
    [
        (said.got_worse_text, green(), []),
        (said.got_worse_text, on(CASES[0].with_(got=["x"]), CASES[1].with_(error="E: down")),
         ["billing got worse than its baseline",
          "  case-00: recall@5 fell from 1.00 to 0.00 (limit 0.5); mrr@10 fell from 1.00 to 0.00 (limit 0.5); "
          "held in 2 of 2 accepted answers, failed 1 of 1 today", "  case-01: E: down"]),
        (said.missed_thresholds_text, misses_thresholds(),
         ["billing misses its thresholds", "  recall@5: 0.9500 is not >= 0.99 (over 20 of 20 cases)",
          "  case-00: recall@5 0.000, wanted >= 0.5"]),
    ],
)  # fmt: skip
def test_what_an_assertion_of_a_test_says(
    text_of: Callable[[Run, Verdict], str], shown: tuple[Run, Verdict], lines: list[str]
) -> None:
    assert text_of(*shown).splitlines() == lines


def test_a_test_of_the_family_is_no_test_of_pytest() -> None:
    assert Test.__test__ is False


@pytest.mark.parametrize(("case_id", "counted"), [(CASES[0].id, False), (CASES[1].id, True)])
def test_a_case_that_failed_is_not_counted_as_suspect_too(case_id: str, counted: bool) -> None:
    run, verdict = refuses_every_time()
    verdict.suspects = [case_id]
    assert ("suspect" in headline([verdict], [run])) is counted
