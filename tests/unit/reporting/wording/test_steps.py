"""What to do next, each only where the numbers allow it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.outcomes import BaselineNote, GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.text import Code
from pytest_auepora.reporting.wording.steps import next_steps
from pytest_auepora.reporting.wording.verdict import first_line, headline

from ..builders import Case, baseline_of, run_of, verdict_of
from .suites import CASES, REFUSAL, green, red_by_gates, refusing, sampled


def test_commands_are_parts_of_their_own() -> None:
    *_, intended, closer = next_steps(*red_by_gates())
    assert [part for part in intended.parts if isinstance(part, Code)] == ["pytest --auepora-update"]
    assert [part for part in closer.parts if isinstance(part, Code)] == ["pytest --auepora-report html:report.html"]


def test_the_hint_on_a_sampling_suite_names_the_setting() -> None:
    steps = next_steps(*red_by_gates())
    assert any("`assertions: report`" in step for step in steps)
    assert any(step.startswith("if nothing was changed here") for step in steps)
    assert any(step.startswith("if it was intended: accept it with `pytest --auepora-update`") for step in steps)


def test_the_setting_for_assertions_is_advice_on_nothing_else() -> None:
    """Where the run is red by its retrieval, it matters not that an assertion varied somewhere, or broke as well."""
    baseline = sampled()

    def again(case: Case) -> Case:
        return case.with_(again=[case.with_(answer=f"{case.answer} {i}") for i in range(9)])

    lost = again(CASES[0].with_(got=["x"]))
    refuses = again(CASES[0].with_(got=["x"], answer=REFUSAL))
    breaks = again(CASES[0].with_(answer="Within a month of purchase."))
    varies = CASES[1].with_(answer=REFUSAL, again=[CASES[1]])
    for now, is_told in (([lost, varies], False), ([refuses], False), ([breaks], True)):
        run = run_of([*now, *CASES[len(now) :]], baseline=baseline)
        run.cases["case-00"].findings = [replace(f, varied=9) for f in run.cases["case-00"].findings]
        verdict = verdict_of(run, baseline=baseline)
        assert verdict.failed_cases == 1
        assert any("`assertions: report`" in step for step in next_steps(run, verdict)) == is_told


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
