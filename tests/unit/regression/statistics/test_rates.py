"""How often a family is wrong, counted: chance alone by one look and by two, lost answers by the figure a run names.

Seeded, so each figure is the same everywhere; what a whole run comes to is counted in `tests/benchmarks/verdict`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from statistics import fmean

import pytest

from pytest_auepora.regression.statistics.family import Member, judge_family, look_at
from pytest_auepora.regression.statistics.precision import detectable_losses

N_CASES, N_ACCEPTED, SPREAD = 12, 5, 0.15


def unchanged(runs: int, *, lost: float = 0.0) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """Yield the differences of two looks at a system that samples, whose answers lost so much since accepted."""
    rng = Random(0)
    for _ in range(runs):
        centres = [fmean(rng.gauss(0, SPREAD) for _ in range(N_ACCEPTED)) for _ in range(N_CASES)]
        first, second = ({f"c{i:02}": rng.gauss(0, SPREAD) - lost - c for i, c in enumerate(centres)} for _ in range(2))
        yield first, second


def shares_worse(runs: int, *, lost: float = 0.0) -> tuple[float, float]:
    """Return the shares of runs in which the suite is worse by one look, and by as many as it asks for, two at most."""
    once = twice = 0
    for first, second in unchanged(runs, lost=lost):
        members = [Member("m", first)]
        seen = look_at(members, [], {})
        once += "worse" in seen.outcomes
        if seen.wants_another:
            seen = look_at(members, [[second]], {})
        twice += "worse" in seen.outcomes
    return once / runs, twice / runs


@pytest.mark.slow
def test_the_second_look_halves_false_alarms_and_more() -> None:
    once, twice = shares_worse(500)
    assert 0.03 <= once <= 0.06, "alpha"
    assert 0 < twice <= once / 2


@pytest.mark.slow
def test_the_second_look_loses_no_real_drop() -> None:
    assert shares_worse(100, lost=1.5 * SPREAD) == (1.0, 1.0)


@pytest.mark.parametrize("n", [10, 20])
def test_as_many_lost_answers_as_named_are_seen(n: int) -> None:
    """In four of five runs, where they lose all they scored, and the other answers scatter."""
    spread, rng = 0.2, Random(n)
    named = detectable_losses(n, 1.0, spread / math.sqrt(n))
    assert named is not None

    def seen(losses: int) -> bool:
        differences = {f"c{i:02}": rng.gauss(0, spread) - (i < losses) for i in range(n)}
        return judge_family([Member("m", differences)], {})[0].outcome == "worse"

    assert fmean(seen(named) for _ in range(150)) >= 0.78
    assert fmean(seen(named - 2) for _ in range(150)) < 0.6, "two less are not enough"
