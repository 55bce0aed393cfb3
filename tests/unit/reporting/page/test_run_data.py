"""A run for the page: the cases to look at first, what the chips count, the gates."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.cause import CaseCause, Cause, Effect, MetricCause
from pytest_auepora.regression.outcomes import GateOutcome, Note
from pytest_auepora.regression.statistics.intervals import Difference
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.formats.markdown_report import markdown_report
from pytest_auepora.reporting.page.case_data import case_details
from pytest_auepora.reporting.page.case_rows import FIRST, CaseRows
from pytest_auepora.reporting.page.run_data import MOST_WORST, history_data, run_data, slice_labels, slice_rows
from pytest_auepora.reporting.report import OtherRun, Report
from pytest_auepora.reporting.wording.cause import cause_lines

from ..builders import Case, baseline_of, run_of, verdict_of
from .pages import red

GONE = {"got": ["index.md"]}


def worst(data: dict[str, Any]) -> list[str]:
    return [row["id"] for row in data["worst"]]


def told(run: Run, verdict: Verdict) -> dict[str, Any]:
    return run_data(CaseRows(run, verdict), lambda ids: [{"of": case_id} for case_id in ids])


def test_the_worst_cases_come_first_one_of_each_cause() -> None:
    data = told(*red())
    assert worst(data) == ["fell-out", "wrong-answer", "raises"]
    assert data["changed"] == ["model m-1 → m-2"]
    assert data["worstDetails"] == [{"of": "fell-out"}, {"of": "wrong-answer"}, {"of": "raises"}]
    assert data["outcome"] == "failed"


def test_a_large_run_begins_with_its_worst_rows() -> None:
    cases = [Case(f"c{i:03}") for i in range(FIRST + 50)]
    baseline = baseline_of(run_of(cases))
    cases[-1] = cases[-1].with_(got=["index.md", "terms.md", "refunds.md"])
    run = run_of([*cases[:-1], cases[-1]], baseline=baseline)
    data = told(run, verdict_of(run, baseline=baseline))
    assert (len(data["rows"]), data["total"]) == (FIRST, FIRST + 50)
    assert [(row["id"], row["index"]) for row in data["rows"][:2]] == [("c149", 149), ("c000", 0)]


def test_an_outage_is_told_once() -> None:
    run = run_of([Case(f"c{i}", error="ConnectionError: refused") for i in range(30)])
    assert worst(told(run, verdict_of(run))) == ["c0"]


def test_there_are_not_more_than_fit_on_a_screen() -> None:
    cases = [Case(f"c{i}", relevant=[f"d{i}.md"], got=[f"d{i}.md"], thresholds={"recall@5": 0.5}) for i in range(10)]
    baseline = baseline_of(run_of(cases))
    run = run_of([case.with_(**GONE) for case in cases], baseline=baseline)
    assert len(worst(told(run, verdict_of(run, baseline=baseline)))) == MOST_WORST


def test_nothing_is_worst_where_all_is_well() -> None:
    run = run_of([Case("a")])
    assert worst(told(run, verdict_of(run, {"recall@5": 0.5}))) == []


def test_chips_count_what_the_verdict_counts() -> None:
    run, verdict = red()
    counts = told(run, verdict)["counts"]
    assert counts == {
        "failed": verdict.failed_cases, "worse": len(verdict.regressed_cases), "improved": len(verdict.improved_cases),
    }  # fmt: skip


@pytest.mark.parametrize("word", ["varies", "suspects"])
def test_what_varies_is_counted_as_the_verdict_does(word: str) -> None:
    run = run_of([Case("a"), Case("b")])
    verdict: Verdict = verdict_of(run)
    setattr(verdict, word, ["b"])
    assert told(run, verdict)["counts"] == {word.removesuffix("s") if word == "suspects" else word: 1}


def test_the_metrics_have_baseline_change_and_gate() -> None:
    recall = told(*red())["metrics"][0]
    assert (recall["name"], recall["value"], recall["baseline"]) == ("recall@5", "0.750", "0.800")
    assert (recall["gate"], recall["state"], recall["change"]) == ("0.600 >= 0.9", "failed", "-0.200")
    assert recall["interval"]["value"] == pytest.approx(-0.2)


def test_gates_say_why_in_groups() -> None:
    failed = told(*red())["gates"][0]
    assert failed["state"] == "failed"
    assert {"recall@5", "error_rate"} <= {gate["title"] for gate in failed["gates"]}


def test_slices_are_labels_with_several_values() -> None:
    run, verdict = red()
    rows = CaseRows(run, verdict)
    assert slice_labels(rows) == ["scenario", "tag"]
    found = slice_rows(rows, "scenario")
    assert [(one["metric"], one["slice"], one["n"]) for one in found[:2]] == [
        ("recall@5", "plain", 2), ("recall@5", "typo", 1),
    ]  # fmt: skip


def test_trends_show_a_full_run_between_those_beside_it() -> None:
    run = run_of([Case("a")], ["token_f1", "recall@5", "mean_latency"], provenance={"index": "v2"})
    verdict = verdict_of(run)
    nothing: dict[str, Any] = {"metrics": [], "runs": []}
    assert history_data(run, verdict, ()) == nothing
    before = OtherRun("r1", "2026-01-01", {"token_f1": 0.25, "mean_latency": 3.0}, {"index": "v1"})
    after = OtherRun("r3", "2026-01-03", {"token_f1": None}, {"index": "v2"})
    history = history_data(run, verdict, (before,), (after,), run_id="r2")
    assert history["metrics"] == [{"name": "token_f1", "values": [0.25, 1.0, None]}]
    assert [(one["id"], one["changed"]) for one in history["runs"]] == [
        ("r1", []), ("r2", ["index v1 → v2"]), ("r3", []),
    ]  # fmt: skip
    run.expected_ids = ("a", "b")
    assert history_data(run, verdict, (before,)) == nothing


def test_commands_of_notes_gates_and_cause_stand_apart() -> None:
    run, verdict = red()
    verdict.notes.append(Note("looked once", detail="workers"))
    verdict.gates.append(GateOutcome("baseline", "failed", reason="no baseline"))
    verdict.cause = Cause(refusal="workers")
    data = told(run, verdict)
    gates = [gate["brief"] for group in data["gates"] for gate in group["gates"]]
    for said, command in [
        (data["notes"], "pytest --auepora -p no:xdist"),
        (gates, "pytest --auepora-update"),
        (data["cause"], "auepora why last"),
    ]:
        assert [command] in [part for parts in said for part in parts]


def test_the_cause_is_told_of_the_run_and_of_its_cases() -> None:
    run, verdict = red()
    assert told(run, verdict)["cause"] == []
    effect = Effect(1.0, 0.0, 0.0)
    found = CaseCause("generator", "token_f1", {"token_f1": effect}, calls=1, answer="<b>no</b>")
    part, none = Difference(-1.0, -1.0, -0.5, 3, 3, 3, 0.05), Difference(0.0, 0.0, 0.0, 3, 3, 0, 0.05)
    metric = MetricCause(3, effect, part, none)
    verdict.cause = Cause("generator", "token_f1", {"wrong-answer": found}, {"token_f1": metric}, calls=1)
    assert told(run, verdict)["effects"] == [
        ["token_f1", "-1.000", [["generator", "-1.000", "[-1.000, -0.500]"], ["retrieval", "0.000", ""]]]
    ]
    lines = cause_lines(verdict.cause, run, effects=False)
    assert told(run, verdict)["cause"] == [[line] for line in lines]
    said, answer = case_details(run.cases["wrong-answer"], run, verdict)["cause"]
    assert (said.partition(":")[0], answer) == ("generator", "<b>no</b>")
    assert "cause" not in case_details(run.cases["fell-out"], run, verdict)
    assert f"**{lines[0]}**" in markdown_report(Report([run], [verdict]))
