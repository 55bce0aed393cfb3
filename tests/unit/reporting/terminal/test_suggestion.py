"""A suggestion for people: a row for each metric, and what no threshold mends."""

from __future__ import annotations

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.suggest import MetricNoise, Suggestion
from pytest_auepora.regression.thresholds import Bound, Gate
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.terminal.suggestion import noise_table, suggestion_notes

NOISE = MetricNoise("mrr", 8, 0.75, 0.06, 32, 5.0, 0.5)


def lines(found: Suggestion, width: int) -> list[str]:
    return ["".join(cell.text for cell in line) for line in noise_table(found, width=width)]


def test_a_row_has_the_noise_and_the_threshold() -> None:
    found = Suggestion([NOISE], 5, [Gate("mrr", Bound("min", 0.41))])
    assert lines(found, 80)[2].split() == ["mrr", "0.750", "8", "0.060", "0.0212", "50.0", "%", ">=", "0.41"]
    assert lines(Suggestion(), 80) == []


def test_notes_tell_what_no_threshold_mends() -> None:
    run = Run("suite")
    run.add([CaseResult("a"), CaseResult("b", state="error")])
    verdict = Verdict("suite", flaky={"a": "passes in 2 of 5 repeats"})
    found = Suggestion([NOISE], 5, [], ["mrr >= 0.9"], ["recall@5 >= 0.5"], ["a"], ["mrr"])
    told = suggestion_notes(run, verdict, found)
    assert told[0] == "learned from 5 answers to each of 2 cases"
    for word in (
        "1 case errored", "2 of 5 repeats", "some answers only: a", "left as they are: mrr >= 0.9",
        "no bound leaves room for it: recall@5 >= 0.5", "policy: tolerance takes noise for loss: mrr",
    ):  # fmt: skip
        assert [word for line in told if word in line] == [word]
    assert "ask more often" in suggestion_notes(run, Verdict("suite"), Suggestion())[-1]
