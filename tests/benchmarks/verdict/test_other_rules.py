"""What else a team would use: each rule by hand."""

from __future__ import annotations

import pytest

from .other_rules import Scores, a_mean_fell, any_flip, bootstrap, mcnemar, wilcoxon

pytest.importorskip("scipy", reason="other rules are counted with scipy (group oracles)")


def hits(n: int, lost: int = 0, won: int = 0) -> tuple[Scores, Scores]:
    """Scores before and after of a metric that is 0 or 1."""
    return {"hit@5": [0.0] * won + [1.0] * (n - won)}, {"hit@5": [1.0] * (n - lost) + [0.0] * lost}


def test_a_mean_that_fell() -> None:
    assert a_mean_fell(*hits(50, 1))
    assert not a_mean_fell(*hits(51, 1))
    assert not a_mean_fell(*hits(50, 1, 1))


def test_any_flip() -> None:
    assert any_flip(*hits(500, 1, 20))
    assert not any_flip({"f1": [0.9, None]}, {"f1": [0.4, 0.0]})
    assert any_flip({"f1": [0.9]}, {"f1": [0.3]})


@pytest.mark.parametrize(
    ("lost", "won", "red"), [(5, 0, True), (4, 0, False), (7, 1, True), (6, 1, False), (0, 0, False)]
)
def test_mcnemar(lost: int, won: int, *, red: bool) -> None:
    """P(k or more of n fair coins): 1/32, 1/16, 9/256, 8/128."""
    assert mcnemar(*hits(50, lost, won)) is red


def test_mcnemar_leaves_scores_alone_that_are_neither_0_nor_1() -> None:
    assert not mcnemar({"f1": [0.9] * 20}, {"f1": [0.1] * 20})


@pytest.mark.parametrize("rule", [wilcoxon, bootstrap])
def test_tests_of_each_metric(rule: object) -> None:
    assert callable(rule)
    before = {"f1": [0.5 + i / 100 for i in range(20)]}
    assert rule(before, {"f1": [0.45 + i / 110 for i in range(20)]})
    assert not rule(before, before)
    assert not rule(before, {"f1": [0.55 + i / 100 for i in range(20)]})
