"""What else a team would use to tell whether a system got worse: one accepted answer to each case against one of today.

Each rule takes the scores of both by metric, and says whether the run would be red.  None corrects for the number of
metrics, as nobody does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["RULES", "Rule", "Scores"]

ALPHA, DROP = 0.05, 0.02
Scores = Mapping[str, Sequence["float | None"]]
"""By metric, the score of each case, in the same order."""
Rule = Callable[[Scores, Scores], bool]
"""Of what was accepted and what came today, whether the run is red; its docstring says what it does."""


def differences(before: Scores, after: Scores) -> list[NDArray[np.float64]]:
    """Return by metric the differences of the cases that have a number in both."""
    pairs = (
        [(b, a) for b, a in zip(before[n], after[n], strict=True) if b is not None and a is not None] for n in before
    )
    return [np.array([a - b for b, a in of_metric]) for of_metric in pairs if of_metric]


def a_mean_fell(before: Scores, after: Scores) -> bool:
    """A mean fell by 0.02"""
    return any(d.mean() <= -DROP for d in differences(before, after))


def any_flip(before: Scores, after: Scores) -> bool:
    """A score fell by more than one half, or an assertion broke"""
    return any((d < -0.5).any() for d in differences(before, after))


def mcnemar(before: Scores, after: Scores) -> bool:
    """McNemar's exact test of each metric that is 0 or 1"""
    from scipy.stats import binom

    def p(d: NDArray[np.float64]) -> float:
        lost, won = int((d < 0).sum()), int((d > 0).sum())
        return float(binom.sf(lost - 1, lost + won, 0.5)) if lost + won else 1.0

    binary = {n: s for n, s in before.items() if {*s, *after[n]} <= {0.0, 1.0, None}}
    return any(p(d) <= ALPHA for d in differences(binary, after))


def wilcoxon(before: Scores, after: Scores) -> bool:
    """Wilcoxon's signed-rank test of each metric"""
    from scipy.stats import wilcoxon as test

    changed = (d for d in differences(before, after) if (d != 0).sum() > 1)
    return any(test(d, alternative="less", method="asymptotic").pvalue <= ALPHA for d in changed)


def bootstrap(before: Scores, after: Scores) -> bool:
    """A paired bootstrap of each metric: 95 % of the means are below 0"""
    rng = np.random.default_rng(0)

    def upper(d: NDArray[np.float64]) -> float:
        means = d[rng.integers(0, len(d), (999, len(d)))].mean(axis=1)
        return float(np.quantile(means, 1 - ALPHA))

    return any(upper(d) < 0 for d in differences(before, after))


RULES: Sequence[Rule] = (a_mean_fell, any_flip, mcnemar, wilcoxon, bootstrap)
