"""A calibration in words: the decision first, figures with where their intervals are from, no line too wide."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.calibration.study import Study
from pytest_auepora.cli.calibrate import study_text
from pytest_auepora.regression.guards.calibration import Estimate, JudgeChange
from pytest_auepora.reporting.text import text_width


def found(**more: Any) -> Study:
    given: dict[str, Any] = {
        "figures": {"kappa": Estimate(0.8125, 0.7, 0.9, "bootstrap", 4)},
        "labels": {"a": (True, True), "b": (True, False), "c": (False, False)},
    }
    return Study("llm_faithfulness", 0.5, **{**given, **more})


def test_a_judge_that_may_gate() -> None:
    assert study_text(found()) == (
        "llm_faithfulness: may gate: people agree with the judge\n"
        "3 labels, 2 yes and 1 no; the judge says yes from 0.5\n"
        "\n"
        "  kappa  0.812  95 % 0.700 to 0.900 (bootstrap)\n"
    )


def test_all_that_keeps_a_judge_from_gating() -> None:
    text = study_text(found(shortfalls=["3 labels, at least 100 are wanted", "κ is 0.31, at least 0.6 is wanted"]))
    told = "stays advisory: 3 labels, at least 100 are wanted; κ is 0.31, at least 0.6 is wanted"
    assert " ".join(text.split()).startswith(f"llm_faithfulness: {told} 3 labels, ")


def test_figures_stand_in_columns_each_as_far_as_it_is_known() -> None:
    figures = {
        "kappa": Estimate(None),
        "alpha": Estimate(-0.1, None, 0.25, "bootstrap", 9),
        "parse failures": Estimate(0.0, 0.0, 0.0369, "Wilson", 100),
        "alpha of grades": Estimate(0.5, n=9),
    }
    assert study_text(found(figures=figures)).split("\n\n")[1].splitlines() == [
        "  kappa            n/a",
        "  alpha            -0.100  95 % ? to 0.250 (bootstrap)",
        "  parse failures   0.000  95 % 0.000 to 0.037 (Wilson)",
        "  alpha of grades  0.500",
    ]


@pytest.mark.parametrize(
    ("fixed", "broken", "p", "outcome"),
    [(9, 1, 0.0117, "better"), (1, 9, 0.0117, "worse"), (3, 2, 0.6875, "no clear difference")],
)
def test_the_judge_before(fixed: int, broken: int, p: float, outcome: str) -> None:
    text = " ".join(study_text(found(change=JudgeChange(40, fixed, broken, p))).split())
    assert text.endswith(
        f"against the judge calibrated before, on 40 items: {fixed} now right, {broken} now wrong, {outcome} "
        f"(mid-p McNemar {p})"
    )


LONG = "12 replies of the judge were no score (the judge's reply is not JSON: '返金はいつまで'); " * 3


def test_no_sentence_is_wider_than_100_columns() -> None:
    text = study_text(found(remarks=[LONG], shortfalls=[LONG]))
    assert [line for line in text.splitlines() if text_width(line) > 100] == []
    assert " ".join(text.split()).count(" ".join(LONG.split())) == 2


def test_remarks_cannot_steer_the_terminal_or_a_ci_runner() -> None:
    text = study_text(found(remarks=["\x1b[2J\u202e", "x\n::error::y", "\n"], shortfalls=["##[error]z"]))
    assert all(line.isprintable() for line in text.splitlines())
    assert "note: x ::error::y\n" in text
    assert "##[" not in text
    assert text.endswith("note:\n")
