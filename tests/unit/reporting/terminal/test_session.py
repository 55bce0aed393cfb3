"""What the session says at its head, and of an update."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.accept import Accepted, Falls, Refused
from pytest_auepora.regression.suggest import MetricNoise, Suggestion
from pytest_auepora.regression.thresholds import Bound, Gate
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.terminal.session import (
    accepted_lines,
    accepted_worse,
    header_lines,
    noise_table,
    suggestion_notes,
)

from ..builders import Case, baseline_of, run_of, verdict_of


def test_header() -> None:
    assert header_lines(files=["*.golden.yaml"], concurrency=8, timeout=2.5, accepting="new", baseline="b") == [
        "auepora: golden files *.golden.yaml, concurrency 8, timeout 2.5 s, baselines in b",
        "auepora: accepting results into the baseline (new)",
    ]
    assert header_lines() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"concurrency": 8}, ["auepora: concurrency 8"]),
        ({"concurrency": 8, "spread": True}, ["auepora: one call at a time in each worker"]),
        ({"concurrency": 8, "seed": 7}, ["auepora: seed 7, one call at a time"]),
        ({"concurrency": 8, "seed": 7, "spread": True}, ["auepora: seed 7, one call at a time in each worker"]),
        ({"spread": True}, []),
    ],
)
def test_header_says_how_many_calls_at_a_time(given: dict[str, Any], said: list[str]) -> None:
    assert header_lines(**given) == said


def test_what_an_update_wrote_and_what_not() -> None:
    refused: dict[str, Refused] = dict.fromkeys([f"case-{i:02}" for i in range(12)], "raised")
    refused["later"] = "skipped"
    done = Accepted(Path("/shop/b.json"), written=True, unchanged=3, refused=refused)
    assert accepted_lines(done, Path("/shop")) == [
        "baseline b.json written: commit it: what it says of metrics changed, 3 unchanged",
        "  not accepted: case-00, case-01, case-02, case-03, case-04, case-05, case-06, case-07, case-08, case-09 and "
        "2 more (raised in all answers)",
        "  not accepted: later (skipped)",
    ]
    done = Accepted(Path("/shop/b.json"), written=True, added=["a"], not_selected=2)
    assert accepted_lines(done, Path("/shop")) == ["baseline b.json written: commit it: 1 added (a), 2 not asked for"]
    assert accepted_lines(Accepted(Path("/shop/b.json")), Path("/shop")) == [
        "baseline b.json left as it was: nothing to accept"
    ]


def test_what_an_update_left_to_chance_and_what_falls_add_up() -> None:
    done = Accepted(Path("b.json"), kept=["a", "b"], falls={"mrr": Falls(3, 0.8, 0.74)})
    _, kept, falls = accepted_lines(done, Path("/shop"))
    assert kept.startswith("  2 cases answered differently by no more than chance")
    assert falls.startswith("  mrr: 3 accepted falls in a row add up from 0.800 to 0.740; an anchor")
    preview = Accepted(Path("/shop/b.json"), written=True, added=["a"])
    assert accepted_lines(preview, Path("/shop"), preview=True) == ["baseline b.json would be written: 1 added (a)"]


def test_what_still_fails_is_not_called_failed_in_an_update() -> None:
    bad = Case("one", labels={"must_contain": ["never said"]})
    run = run_of([bad], baseline=baseline_of(run_of([bad])))
    done = Accepted(Path("b.json"), written=True, changed=["one"])
    assert accepted_worse(done, run, verdict_of(run)) == "accepted billing: 1 still failing (one)"


def test_an_update_that_accepted_no_case_accepted_no_gate() -> None:
    run = run_of([Case("one")])
    verdict = verdict_of(run, {"mrr@10": 1.1})
    for added, text in ([], ""), (["one"], "accepted billing: 1 gate failed"):
        assert accepted_worse(Accepted(Path("b.json"), written=True, added=added), run, verdict) == text


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
    verdict = Verdict("suite", flaky={"a": 0.4})
    found = Suggestion([NOISE], 5, [], ["mrr >= 0.9"], ["recall@5 >= 0.5"], ["a"], ["mrr"])
    told = suggestion_notes(run, verdict, found)
    assert told[0] == "learned from 5 answers to each of 2 cases"
    for word in (
        "1 case errored", "40 % of the answers", "some answers only: a", "left as they are: mrr >= 0.9",
        "no bound leaves room for it: recall@5 >= 0.5", "policy: tolerance takes noise for loss: mrr",
    ):  # fmt: skip
        assert [word for line in told if word in line] == [word]
    assert "ask more often" in suggestion_notes(run, Verdict("suite"), Suggestion())[-1]
