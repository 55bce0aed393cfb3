"""Systems that do not answer twice the same: what more repeats can gain, and which cases are flaky."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FLAKY_RATES = (0.1, 0.9)
"""A pass rate strictly between the two is flaky."""

FLAKY_SD = 0.15
"""A standard deviation above it, of the scores of one case, is flaky."""


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Where the noise of a mean difference comes from: other cases, or the same case asked again.

    All are variances of one case; ``total`` = s_d², that of the differences of case means.  ``between`` and
    ``within_*`` are None where no case was repeated on either side.
    """

    n_cases: int
    total: float
    between: float | None
    within_baseline: float | None
    within_candidate: float | None

    @property
    def most_shrink(self) -> float | None:
        """The largest share by which any number of repeats could shrink the standard error, 0 to 1."""
        if self.between is None:
            return None
        return 1.0 - math.sqrt(min(1.0, self.between / self.total)) if self.total else 0.0

    def repeats_instead_of(self, cases_needed: int) -> int | None:
        """Return how many repeats on both sides are worth as much as *cases_needed* cases.

        None where no number is: the differences between cases alone are too large, or are not known.
        """
        if self.between is None or self.within_baseline is None or self.within_candidate is None:
            return None
        room = self.total * self.n_cases / cases_needed - self.between
        if room <= 0.0:
            return None
        return max(1, math.ceil((self.within_baseline + self.within_candidate) / room - 1e-9))

    def __str__(self) -> str:
        if self.between is None or self.most_shrink is None:
            return "no case was repeated, so noise within and between cases cannot be told apart"
        within = max(0.0, self.total - self.between)
        return (
            f"variance between cases {self.between:.4f}, within cases {within:.4f}; "
            f"more repeats can shrink the standard error by at most {self.most_shrink * 100:.0f} %"
        )


def split_variance(baseline: Mapping[str, Sequence[float]], candidate: Mapping[str, Sequence[float]]) -> VarianceSplit:
    """Split the variance of paired differences: between = max(0, s_d² - within(base)/R_b - within(cand)/R_c).

    The variance within is pooled over the repeated cases of a side; a side never repeated is taken to be as
    noisy as the other.

    Args:
        baseline: case id → its score in each repeat.
        candidate: the same; cases that are not on both sides are ignored.

    Raises:
        ValueError: fewer than two cases on both sides, or one without any score.
    """
    cases = sorted(baseline.keys() & candidate.keys())
    sides = [[baseline[c] for c in cases], [candidate[c] for c in cases]]
    if len(cases) < 2 or not all(scores for side in sides for scores in side):
        raise ValueError("the split needs two cases or more, each with a score on both sides")
    differences = [_mean(after) - _mean(before) for before, after in zip(*sides, strict=True)]
    total = _squares(differences) / (len(cases) - 1)
    repeats = [len(cases) / math.fsum(1 / len(scores) for scores in side) for side in sides]
    within = [_pooled_variance(side) for side in sides]
    within = [w if w is not None else within[1 - i] for i, w in enumerate(within)]
    between = None
    if within[0] is not None and within[1] is not None:
        between = max(0.0, total - within[0] / repeats[0] - within[1] / repeats[1])
    return VarianceSplit(len(cases), total, between, *within)


def _pooled_variance(scores_by_case: Sequence[Sequence[float]]) -> float | None:
    degrees = sum(len(scores) - 1 for scores in scores_by_case)
    return math.fsum(_squares(scores) for scores in scores_by_case) / degrees if degrees else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _squares(values: Sequence[float]) -> float:
    """Return the sum of squared deviations from the mean."""
    mean = _mean(values)
    return math.fsum((v - mean) ** 2 for v in values)


def why_flaky(passed: Sequence[bool], scores: Mapping[str, Sequence[float]]) -> str:
    """Return why one case is too unsteady for the case guard, by the repeats of its baseline; empty where it is not.

    Args:
        passed: whether each repeat passed.
        scores: metric → its score in each repeat, for scores in [0, 1].
    """
    spread = {m: math.sqrt(_squares(s) / (len(s) - 1)) for m, s in scores.items() if len(s) > 1}
    noisiest = max(spread, key=lambda m: spread[m], default="")
    reasons = []
    if len(passed) > 1 and FLAKY_RATES[0] < sum(passed) / len(passed) < FLAKY_RATES[1]:
        reasons.append(f"passes in {sum(passed)} of {len(passed)} repeats")
    if noisiest and spread[noisiest] > FLAKY_SD:
        reasons.append(f"{noisiest} varies by {spread[noisiest]:.2f} (standard deviation) between repeats")
    return " and ".join(reasons)
