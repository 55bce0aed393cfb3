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


FIGURES = {
    "kappa": Estimate(None),
    "alpha": Estimate(-0.1, None, 0.25, "bootstrap", 9),
    "parse failures": Estimate(0.0, 0.0, 0.0369, "Wilson", 100),
    "alpha of grades": Estimate(0.5, n=9),
}
SHORTFALLS = ["3 labels, at least 100 are wanted", "κ is 0.31, at least 0.6 is wanted"]
HEAD = """\
llm_faithfulness: may gate: people agree with the judge
3 labels, 2 yes and 1 no; the judge says yes from 0.5
"""
KAPPA = "  kappa  0.812  95 % 0.700 to 0.900 (bootstrap)\n"


@pytest.mark.parametrize(
    ("study", "screen"),
    [
        (found(), f"{HEAD}\n{KAPPA}"),
        (
            found(shortfalls=SHORTFALLS),
            "llm_faithfulness: stays advisory: 3 labels, at least 100 are wanted; κ is 0.31, at least 0.6 is\n"
            f"  wanted\n{HEAD.splitlines()[1]}\n\n{KAPPA}",
        ),
        (
            found(figures=FIGURES),
            f"{HEAD}\n"
            "  kappa            n/a\n"
            "  alpha            -0.100  95 % ? to 0.250 (bootstrap)\n"
            "  parse failures   0.000  95 % 0.000 to 0.037 (Wilson)\n"
            "  alpha of grades  0.500\n",
        ),
        (
            found(change=JudgeChange(40, 9, 1, 0.0117)),
            f"{HEAD}\n{KAPPA}"
            "against the judge calibrated before, on 40 items: 9 now right, 1 now wrong, better (mid-p McNemar\n"
            "  0.0117)\n",
        ),
    ],
)
def test_a_calibration_on_the_screen(study: Study, screen: str) -> None:
    assert study_text(study) == screen


@pytest.mark.parametrize(
    ("fixed", "broken", "p", "outcome"), [(1, 9, 0.0117, "worse"), (3, 2, 0.6875, "no clear difference")]
)
def test_the_judge_before(fixed: int, broken: int, p: float, outcome: str) -> None:
    text = " ".join(study_text(found(change=JudgeChange(40, fixed, broken, p))).split())
    assert text.endswith(f", {outcome} (mid-p McNemar {p})")


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
