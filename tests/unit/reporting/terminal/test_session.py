"""What the session says at its head, and of an update."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.regression.accept import Accepted
from pytest_auepora.reporting.terminal.session import accepted_lines, header_lines


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
    refused = {f"case-{i:02}": f"errored: OSError: no route {i}" for i in range(12)} | {"later": "skipped"}
    done = Accepted(Path("/shop/b.json"), written=True, unchanged=3, refused=refused)
    assert accepted_lines(done, Path("/shop")) == [
        "baseline b.json written: what it says of metrics changed, 3 unchanged",
        "  not accepted: case-00, case-01, case-02, case-03, case-04, case-05, case-06, case-07, case-08, case-09 and "
        "2 more (errored)",
        "  not accepted: later (skipped)",
    ]
    done = Accepted(Path("/shop/b.json"), written=True, added=["a"], passed_over=2)
    assert accepted_lines(done, Path("/shop")) == ["baseline b.json written: 1 added (a), 2 not asked for"]
    assert accepted_lines(Accepted(Path("/shop/b.json")), Path("/shop")) == [
        "baseline b.json left as it was: nothing to accept"
    ]
