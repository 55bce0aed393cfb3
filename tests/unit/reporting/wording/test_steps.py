"""What to do next, each only where the numbers allow it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.evaluation.further import Purpose
from pytest_auepora.regression.outcomes import BaselineNote, GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.text import Code
from pytest_auepora.reporting.wording.steps import ASKED_FOR, next_steps

from ..builders import Case, baseline_of, run_of, verdict_of
from .suites import CASES, REFUSAL, green, red_by_gates, refusing, sampled

DRIFT = "if nothing was changed here: a hosted model or an index may have drifted: `auepora help non-deterministic`"
VARIES = (
    "if must_contain holds in some right answers only: `assertions: report` in the golden file judges it over all "
    "cases: `auepora help non-deterministic`"
)
INTENDED = "if it was intended: accept it with `pytest --auepora-update`, and commit the baseline"
CLOSER = "look closer: `pytest --auepora-report html:report.html` shows each case beside its baseline"


def unchanged() -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(CASES))
    run = run_of(CASES, baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def lost_documents() -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of(CASES))
    run = run_of([c.with_(got=["x"]) for c in CASES], baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def another_model() -> tuple[Run, Verdict]:
    baseline = sampled()
    run = run_of(refusing(9), baseline=baseline, provenance={"model": "m-2"})
    return run, verdict_of(run, baseline=baseline)


def looked_once() -> tuple[Run, Verdict]:
    run, verdict = red_by_gates()
    verdict.look, verdict.gates = "only", [gate for gate in verdict.gates if not gate.steady]
    return run, verdict


def better() -> tuple[Run, Verdict]:
    baseline = baseline_of(run_of([c.with_(got=["x", "refunds.md"]) for c in CASES]))
    run = run_of(CASES, baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def outage() -> tuple[Run, Verdict]:
    run = run_of([c.with_(error="ConnectionError: refused") for c in CASES])
    return run, verdict_of(run)


def below_its_anchor(*regressed: str) -> tuple[Run, Verdict]:
    run, verdict = green()
    verdict.gates.append(GateOutcome("anchor", "failed", "token_f1", word="worse"))
    verdict.regressed_cases = [*regressed]
    return run, verdict


def first_run(**changes: Any) -> tuple[Run, Verdict]:
    run = run_of([replace(CASES[0], answer="Within 14 days.", **changes), *CASES[1:]])
    verdict = verdict_of(run)
    verdict.baseline_note = BaselineNote("none")
    return run, verdict


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (unchanged, []),
        (red_by_gates, [DRIFT, VARIES, INTENDED, CLOSER]),
        (lost_documents, [DRIFT, INTENDED, CLOSER]),  # nobody is told to run again on a real regression
        (another_model, [VARIES, INTENDED, CLOSER]),  # what was changed did not drift
        (looked_once,
         ["if nothing was changed: today's answers alone decided, which is chance in up to 5 % of such runs; "
          "a run in one process looks again: `auepora help non-deterministic`", VARIES, INTENDED, CLOSER]),
        (better,
         ["got better: `pytest --auepora-update=improved` accepts what improved, and later runs are held to it; "
          "commit the baseline"]),
        (outage, ["20 of 20 cases errored: fix that, then `pytest --auepora-resume` asks only those again"]),
        (below_its_anchor, [DRIFT, INTENDED.replace("update", "update=anchor"), CLOSER]),
        (lambda: below_its_anchor("c"), [DRIFT, INTENDED.replace("update", "update=all,anchor"), CLOSER]),
        (first_run,
         ["no baseline yet: mend these cases, or accept what the system does now with `pytest --auepora-update`: "
          "they are *still failing* then, and only what gets worse is red"]),
    ],
)  # fmt: skip
def test_what_to_do_next(make: Callable[[], tuple[Run, Verdict]], steps: list[str]) -> None:
    assert next_steps(*make()) == steps


def test_commands_are_parts_of_their_own() -> None:
    parts = [part for step in next_steps(*red_by_gates()) for part in step.parts if isinstance(part, Code)]
    help_page = "auepora help non-deterministic"
    assert parts == [
        help_page, "assertions: report", help_page, "pytest --auepora-update",
        "pytest --auepora-report html:report.html",
    ]  # fmt: skip


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


def test_a_first_run_that_an_update_leaves_red_is_not_told_to() -> None:
    accept = next_steps(*first_run())
    run, verdict = first_run()
    verdict.gates.append(GateOutcome("threshold", "failed", "recall@1"))
    assert next_steps(run, verdict) != accept
    run, verdict = first_run()
    run.cases["case-00"].must_pass = True
    assert next_steps(run, verdict) != accept


def test_who_has_the_html_report_is_not_told_to_make_one() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, {"token_f1": {"max": 0.5}})
    make, show = (next_steps(run, verdict, html)[0].parts[1] for html in (None, "out/r.html"))
    assert (make, show) == ("pytest --auepora-report html:report.html", "out/r.html")
    assert next_steps(run, verdict, html="") == []


def test_every_purpose_of_calls_has_words() -> None:
    assert set(ASKED_FOR) == set(get_args(Purpose))
