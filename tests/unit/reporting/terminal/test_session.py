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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"concurrency": 8}, ["auepora: concurrency 8"]),
        ({"concurrency": 8, "spread": True}, ["auepora: one call at a time in each worker"]),
        ({"concurrency": 8, "seed": 7}, ["auepora: seed 7, one call at a time"]),
        ({"concurrency": 8, "seed": 7, "spread": True}, ["auepora: seed 7, one call at a time in each worker"]),
        ({"spread": True}, []),
        ({}, []),
        ({"files": ["*.golden.yaml"], "concurrency": 8, "timeout": 2.5, "accepting": "new", "baseline": "b"},
         ["auepora: golden files *.golden.yaml, concurrency 8, timeout 2.5 s, baselines in b",
          "auepora: accepting results into the baseline (new)"]),
    ],
)  # fmt: skip
def test_the_header_names_what_was_set(given: dict[str, Any], said: list[str]) -> None:
    assert header_lines(**given) == said


def accepted(**changes: Any) -> Accepted:
    return Accepted(Path("/shop/b.json"), **changes)


RAISED: dict[str, Refused] = {**dict.fromkeys([f"case-{i:02}" for i in range(12)], "raised"), "later": "skipped"}


@pytest.mark.parametrize(
    ("done", "lines"),
    [
        (accepted(), ["baseline b.json left as it was: nothing to accept"]),
        (accepted(written=True, added=["a"], not_selected=2),
         ["baseline b.json written: commit it: 1 added (a), 2 not asked for"]),
        (accepted(written=True, unchanged=3, refused=RAISED),
         ["baseline b.json written: commit it: what it says of metrics changed, 3 unchanged",
          "  not accepted: case-00, case-01, case-02, case-03, case-04, case-05, case-06, case-07, case-08, case-09 "
          "and 2 more (raised in all answers)",
          "  not accepted: later (skipped)"]),
        (accepted(kept=["a", "b"], falls={"mrr": Falls(3, 0.8, 0.74)}),
         ["baseline b.json left as it was: 2 unchanged",
          "  2 cases answered differently by no more than chance, so they stay as they are: "
          "`pytest --auepora-update=anew` writes them",
          "  mrr: 3 accepted falls in a row add up from 0.800 to 0.740; an anchor keeps steps from adding up: "
          "`pytest --auepora-update=anchor`"]),
    ],
)  # fmt: skip
def test_what_an_update_wrote_and_what_not(done: Accepted, lines: list[str]) -> None:
    assert accepted_lines(done, Path("/shop")) == lines
    said = [line.replace("written: commit it", "would be written") for line in lines]
    assert accepted_lines(done, Path("/shop"), preview=True) == said


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


LEARNED = "learned from {} answers to each of 2 cases"
ERRORED = "1 case errored and could teach nothing"


@pytest.mark.parametrize(
    ("found", "notes"),
    [
        (Suggestion(repeats=1),
         ["learned from 1 answer to each of 2 cases", ERRORED,
          "one answer to each shows no noise: ask more often with --auepora-repeat",
          "1 flaky case: a (passes in 40 % of the answers); fix them, or quarantine them for a while"]),
        (Suggestion([NOISE], 5, [], ["mrr >= 0.9"], ["recall@5 >= 0.5"], ["a"], ["mrr"]),
         [LEARNED.format(5), ERRORED,
          "1 flaky case: a (passes in 40 % of the answers); fix them, or quarantine them for a while",
          "assertions that hold in some answers only: a; assert what every right answer says, or let "
          "`assertions: report` judge them over all cases",
          "missed, and not by noise, so left as they are: mrr >= 0.9",
          "missed by noise now and then, and no bound leaves room for it: recall@5 >= 0.5",
          "policy: tolerance takes noise for loss: mrr; policy: auto does not"]),
    ],
)  # fmt: skip
def test_notes_tell_what_no_threshold_mends(found: Suggestion, notes: list[str]) -> None:
    run = Run("suite")
    run.add([CaseResult("a"), CaseResult("b", state="error")])
    assert suggestion_notes(run, Verdict("suite", flaky={"a": 0.4}), found) == notes
