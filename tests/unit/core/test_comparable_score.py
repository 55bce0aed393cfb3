"""A score that tests compare: a number, or nothing that can be compared."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_auepora.core.comparable_score import ComparableScore
from pytest_auepora.core.scoring import Aggregate
from pytest_auepora.errors import NotMeasuredError


def test_comparable_scores() -> None:
    score = ComparableScore("m", 0.5)
    assert score >= 0.5
    assert score <= 0.5
    assert score > 0.4
    assert score < 0.6
    assert score == 0.5
    assert score != 0.4
    assert score > 0.4
    assert score == ComparableScore("other", 0.5)
    assert repr(score) == "<m 0.5000>"
    missing = ComparableScore("m", None, "no reference_answer")
    for compare in (lambda: missing >= 0, lambda: missing == 0, lambda: missing < 1, lambda: float(missing)):
        with pytest.raises(NotMeasuredError, match="no reference_answer"):
            compare()


def test_scores_calculate_like_numbers() -> None:
    score, other = ComparableScore("m", 0.75), ComparableScore("o", 0.5)
    assert (score - other, other - 0.25, 1 - score) == (0.25, 0.25, 0.25)
    assert (score + other, score + 1, sum([score, other])) == (1.25, 1.75, 1.25)
    assert (score * 2, 2 * score, score / other, 3 / score) == (1.5, 1.5, 1.5, 4)
    assert (-score, abs(score), round(score, 1), round(ComparableScore("m", 1.2))) == (-0.75, 0.75, 0.8, 1)
    assert score == pytest.approx(0.75 + 1e-9)
    assert pytest.approx(score) == 0.75 + 1e-9
    assert score != pytest.approx(0.76)
    assert max(score, other) is score
    assert f"{score:.1%} {score:5.2f} {score}" == "75.0%  0.75 <m 0.7500>"
    with pytest.raises(TypeError):
        _ = score >= "0.5"  # type: ignore[operator]
    with pytest.raises(TypeError):
        _ = score - "0.5"  # type: ignore[operator]


def test_zero_is_false_and_what_was_not_measured_is_neither() -> None:
    assert ComparableScore("m", 0.1)
    assert not ComparableScore("m", 0.0)
    errored = Aggregate("m", None, 1.0, 0, 2, 0, 2)
    for score in (
        ComparableScore("m", None, "the answer is empty"),
        ComparableScore("duplicate_rate@5", 1.0, "the answer is empty", aggregate=errored),  # the worst value
    ):
        with pytest.raises(NotMeasuredError, match=f"{score.name} has no value: the answer is empty"):
            bool(score)


@pytest.mark.parametrize(
    "use", [lambda s: s - 1, lambda s: 1 - s, round, abs, lambda s: -s, lambda s: sum([s]), lambda s: f"{s:.2f}"]
)
def test_what_was_not_measured_is_no_number(use: Callable[[ComparableScore], object]) -> None:
    with pytest.raises(NotMeasuredError, match="m has no value: no reference_answer"):
        use(ComparableScore("m", None, "no reference_answer"))


def test_what_was_not_measured_is_not_approximately_anything() -> None:
    with pytest.raises(NotMeasuredError):
        assert ComparableScore("m", None) == pytest.approx(0.5)
