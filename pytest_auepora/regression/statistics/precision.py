"""Standard errors and bounds of a mean difference, and the minimum detectable effect of a number of cases."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

TIE = 1e-9
"""Differences up to this are rounding errors: such statistics are tied, such a change is none."""


def mean(values: Sequence[float]) -> float:
    """Return the mean of one or more values."""
    return math.fsum(values) / len(values)


def sum_of_squares(values: Sequence[float]) -> float:
    """Return the sum of squared deviations from the mean."""
    middle = mean(values)
    return math.fsum((v - middle) ** 2 for v in values)


def count_clusters(cases: Collection[str], clusters: Mapping[str, str]) -> int:
    """Return the number of clusters of *cases*; a case that *clusters* does not list is its own cluster."""
    return len({clusters.get(case, case) for case in cases}) if clusters else len(cases)


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean paired difference and its standard error.

    ``mean`` is None without cases; ``se`` is None below two clusters, which have no spread.
    """

    mean: float | None
    n_cases: int
    n_clusters: int
    se: float | None

    @classmethod
    def of(cls, differences: Mapping[str, float], clusters: Mapping[str, str]) -> MeanEstimate:
        """Estimate from *differences* by case; a case that *clusters* does not list is its own cluster.

        SE = √(G/(G-1) · Σ(D_g - n_g·d̄)²) / n, the cluster-robust standard error of a mean.
        """
        sums, counts = defaultdict[str, float](float), Counter[str]()
        for case in sorted(differences):  # so that rounding does not depend on the order in which cases finished
            cluster = clusters.get(case, case)
            sums[cluster] += differences[case]
            counts[cluster] += 1
        n, g = len(differences), len(sums)
        if not n:
            return cls(None, 0, 0, None)
        mean = math.fsum(sums.values()) / n
        if g < 2:
            return cls(mean, n, g, None)
        squares = math.fsum((total - counts[cluster] * mean) ** 2 for cluster, total in sums.items())
        return cls(mean, n, g, math.sqrt(g / (g - 1) * squares) / n)

    def lower_bound(self, alpha: float) -> float | None:
        """Return the one-sided 1 - *alpha* lower bound d̄ - t(1 - alpha, G - 1)·SE; None without ``se``."""
        if self.mean is None or self.se is None:
            return None
        return self.mean - t_quantile(1.0 - alpha, self.n_clusters - 1) * self.se


def hall_t(sums: Sequence[float]) -> float:
    """Return the skewness-corrected t statistic of the mean of *sums*, one per cluster, two or more.

    T = √G · (t + s·t²/3 + s²·t³/27 + s/6G) with t = mean / sd (divisor G - 1) and s the skewness m₃ / m₂^1.5.
    It is 0 or infinite if the sums do not differ.

    Source: Hall (1992), *On the removal of skewness by transformation*, J. R. Statist. Soc. B 54, 221-228.
    """
    g = len(sums)
    mean = math.fsum(sums) / g
    squares = math.fsum((x - mean) ** 2 for x in sums)
    if squares <= g * TIE**2:
        return 0.0 if abs(mean) <= TIE else math.copysign(math.inf, mean)
    t = mean / math.sqrt(squares / (g - 1))
    skewness: float = math.fsum((x - mean) ** 3 for x in sums) / g / math.pow(squares / g, 1.5)
    return math.sqrt(g) * (t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * g))


def minimum_detectable_effect(critical_value: float, se: float) -> float:
    """Return the smallest true drop that would fail in 80 % of runs: (c + 0.84)·SE, a normal quantile."""
    return (critical_value + 0.84) * se


def detectable_losses(n: int, lost: float, se: float) -> int | None:
    """Return how many lost answers of *n* would be seen in 80 % of runs; None if not even all of them would.

    It is the smallest whole k with k·s - 0.84·E ≥ 1.7·√(k·s² + E²), where *lost* = s is what one lost answer costs and
    E = n·*se* is the standard error of the sum of all differences, which clusters make larger.
    """
    noise = n * se
    enough = (k for k in range(1, n + 1) if k * lost - 0.84 * noise >= 1.7 * math.sqrt(k * lost**2 + noise**2))
    return next(enough, None)


def planned_mde(n: int) -> float:
    """Return the minimum detectable effect to expect of *n* independent cases, before any run.

    It is 0.125, 0.088 and 0.062 at 50, 100 and 200 cases.  0.3 is a typical spread of differences of RAG scores in
    [0, 1], 2.1 the critical value of about four correlated metrics.
    """
    return minimum_detectable_effect(2.1, 0.3 / math.sqrt(n))


def cases_for_effect(n: int, mde: float, effect: float) -> int:
    """Return how many cases would detect *effect*, if *n* cases detect *mde*: n·(MDE/δ)², rounded up."""
    return math.ceil(n * (mde / effect) ** 2 - 1e-9)


@lru_cache(maxsize=256)
def t_quantile(p: float, df: int) -> float:
    """Return the *p* quantile (0.5 ≤ p < 1) of Student's t with *df* ≥ 1 degrees of freedom.

    The distribution has a closed form at whole degrees of freedom.  Newton's method never overshoots: above 0 the
    function is concave.
    """
    log_peak = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    t = 0.0
    for _ in range(200):
        density = math.exp(log_peak - (df + 1) / 2 * math.log1p(t * t / df))
        step = (p - 0.5 - _t_central(t, df) / 2) / density
        t += step
        if step <= 1e-13 * t:
            break
    return t


def _t_central(t: float, df: int) -> float:
    """Return P(|T| < t) at whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = df % 2
    term = cosine if odd else 1.0
    total = term if df > 1 else 0.0
    for k in range(2 + odd, df - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    return 2.0 / math.pi * (angle + sine * total) if odd else sine * total
