"""Other programs are asked what they are asked on the page: each says red and green where it plainly should."""

from __future__ import annotations

import pytest

from ..verdict.other_rules import Scores
from .rivals import PROGRAMS, digline, installed


def answers(n: int, wrong: int = 0) -> Scores:
    """Whether each of *n* answers is right, the first of which are *wrong*."""
    return {"assertion_pass": [0.0] * wrong + [1.0] * (n - wrong)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_tells_a_loss_from_none(name: str) -> None:
    rule = next((rule for named, rule in installed().items() if named.startswith(f"{name} ")), None)
    if rule is None:
        pytest.skip(f"{name} is not installed (group proof)")
    assert rule(answers(60), answers(60, wrong=30))
    assert not rule(answers(60), answers(60))
    assert not rule(answers(60, wrong=30), answers(60)), "an improvement"


def test_digline_is_red_where_a_check_that_passed_fails() -> None:
    assert digline(answers(60), answers(60, wrong=1))
    assert not digline(answers(60, wrong=1), answers(60, wrong=1))
    assert not digline(answers(60, wrong=2), answers(60, wrong=1))
