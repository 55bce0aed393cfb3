from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_auepora.regression.guards.gates import GateOutcome
from pytest_auepora.reporting.tally import cases_of, headline, headline_style, long_note, tally

from .builders import Case, baseline_of, run_of, verdict_of

GOOD = Case("a", thresholds={"recall@5": 0.5})
CASES = [GOOD.with_(id=f"case-{i}") for i in range(6)]
BAD = {"got": ["x"]}


def changed(**by_id: Mapping[str, object]) -> list[Case]:
    return [c.with_(**by_id.get(c.id.replace("-", "_"), {})) for c in CASES]


def test_against_a_baseline() -> None:
    old = run_of(changed(case_0=BAD, case_1=BAD))
    baseline = baseline_of(old)
    now = changed(case_1=BAD, case_2=BAD, case_3={"error": "E: x"})
    now += [GOOD.with_(id="new"), GOOD.with_(id="new-bad", got=[])]
    run = run_of(now, baseline=baseline)
    run.cases["case-4"].content_hash = "edited"
    verdict = verdict_of(run, baseline=baseline)
    assert headline([verdict], [run]).startswith(
        "1 newly failing, 1 errored, 1 new and failing, 1 still failing, 1 fixed, 1 unchanged, 1 new, "
        "1 not comparable (edited); "
    )
    assert [c.case_id for c in cases_of(run, verdict)["fixed"]] == ["case-0"]
    assert sum(tally(run, verdict).values()) == len(run.cases)
    assert headline_style([verdict]) == ("red", "bold")


def test_nothing_changed() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, baseline=baseline_of(run))
    assert headline([verdict], [run]) == "6 unchanged"
    assert headline_style([verdict]) == ("green",)


def test_unchanged_cases_that_vary_are_counted_beside() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, baseline=baseline_of(run))
    verdict.varies = ["case-0", "case-1"]
    assert headline([verdict], [run]).startswith("6 unchanged; 2 cases vary")
    verdict.varies = ["case-0"]
    assert headline([verdict], [run]).startswith("6 unchanged; 1 case varies")


def test_without_a_baseline() -> None:
    run = run_of(changed(case_0=BAD, case_1={"skipped": True}))
    verdict = verdict_of(run)
    assert headline([verdict], [run]) == (
        "1 failed, 4 passed, 1 skipped (no baseline yet (billing.json): thresholds only)"
    )
    verdict.baseline_note = ""
    assert headline([verdict], [run]).endswith("(no baseline yet: thresholds only)")


def test_a_long_reason_has_a_line_of_its_own() -> None:
    run = run_of(CASES)
    note = "no baseline for the configuration 'large-embeddings' (golden/__baselines__/billing.json)"
    verdict = verdict_of(run, note=note)
    assert "(no baseline: thresholds only)" in headline([verdict], [run])
    assert long_note(verdict) == note
    assert long_note(verdict_of(run, note="no baseline yet (b.json)")) == ""


def test_a_baseline_that_cannot_be_read_is_not_called_missing() -> None:
    run = run_of(CASES)
    note = "broken: golden/__baselines__/billing.json:12: merge-conflict markers; keep one side"
    verdict = verdict_of(run, note=note)
    assert "(a baseline cannot be read: thresholds only)" in headline([verdict], [run])
    assert [g.message for g in verdict.gates if g.state == "failed"] == [note]
    assert long_note(verdict) == ""
    verdict.gates = []
    assert long_note(verdict) == note


def test_a_partial_run_says_that_gates_were_not_judged() -> None:
    run = run_of(CASES[:2], expected=[c.id for c in CASES])
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run_of(CASES)))
    assert headline([verdict], [run]) == "2 unchanged; 2 of 6 cases ran, gates not judged"
    assert headline_style([verdict]) == ("yellow",)


def test_gates_that_failed_or_could_not_be_judged_are_counted() -> None:
    run = run_of(CASES)
    verdict = verdict_of(run, {"mrr@10": 0.9})
    assert headline([verdict], [run]).endswith("; 1 gate failed")
    verdict.gates = [GateOutcome("g", "regression", "inconclusive", "") for _ in range(2)]
    assert headline([verdict], [run]).endswith("; 2 gates inconclusive")
    assert headline_style([verdict]) == ("yellow",)


def test_what_changed_about_the_provenance() -> None:
    baseline = baseline_of(run_of(CASES, provenance={"chunker_version": 3}))
    run = run_of(CASES, baseline=baseline, provenance={"chunker_version": 4})
    verdict = verdict_of(run, baseline=baseline)
    assert headline([verdict], [run]) == "6 unchanged; 2 metrics not comparable (chunker_version 3 → 4)"
    assert verdict.comparison is not None
    verdict.comparison.incomparable = {
        "faithfulness": "another prompt: 1:0123abcd → 2:4567abcd", "taste": "judge m1 → m2",
        "quality": "another prompt: 1:aaaaaaaa → 2:bbbbbbbb",
    }  # fmt: skip
    told = "6 unchanged; 2 metrics not comparable (another prompt); 1 metric not comparable (judge m1 → m2)"
    assert headline([verdict], [run]).startswith(told), "hashes stand in the note below"


def test_several_runs_are_added_up() -> None:
    first = run_of(CASES)
    second = run_of(changed(case_0=BAD), suite="other")
    verdicts = [verdict_of(first, baseline=baseline_of(first)), verdict_of(second)]
    assert headline(verdicts, [first, second]) == "6 unchanged; without a baseline 1 failed, 5 passed"
    assert headline([], []) == "nothing was measured"
    assert headline_style([]) == ("yellow",)


def test_an_expected_failure_is_no_failure() -> None:
    run = run_of(changed(case_0=BAD))
    run.cases["case-0"].extra["xfail"] = "known"
    verdict = verdict_of(run)
    assert headline([verdict], [run]).startswith("5 passed, 1 expected to fail")


def test_runs_and_verdicts_go_together() -> None:
    run = run_of(CASES)
    with pytest.raises(ValueError, match="argument"):
        headline([verdict_of(run)], [run, run])
