"""What the session says at its head."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.reporting.terminal.session import header_lines


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
