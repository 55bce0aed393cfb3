"""Agreement, its intervals and the mid-p against scikit-learn, krippendorff, statsmodels and scipy."""

from __future__ import annotations

import random
import warnings

import pytest

from pytest_auepora.calibration.agreement import (
    Level,
    bootstrap,
    krippendorff_alpha,
    quadratic_kappa,
    table_of,
    wilson,
)
from pytest_auepora.calibration.study import mid_p_mcnemar

stats = pytest.importorskip("scipy.stats")
metrics = pytest.importorskip("sklearn.metrics")
krippendorff = pytest.importorskip("krippendorff")
proportion = pytest.importorskip("statsmodels.stats.proportion")
inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")


def labels(draw: random.Random, n: int) -> tuple[list[bool], list[bool]]:
    people = [draw.random() < 0.6 for _ in range(n)]
    return people, [p if draw.random() < 0.85 else not p for p in people]


@pytest.mark.parametrize("seed", range(30))
def test_a_table(seed: int) -> None:
    draw = random.Random(seed)
    people, judge = labels(draw, draw.randint(20, 200))
    table = table_of(people, judge)
    assert table.kappa == pytest.approx(metrics.cohen_kappa_score(people, judge), abs=1e-12)
    assert quadratic_kappa(people, judge) == pytest.approx(table.kappa, abs=1e-12)
    assert table.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(people, judge), abs=1e-12)
    assert table.sensitivity == pytest.approx(metrics.recall_score(people, judge), abs=1e-12)
    assert table.alpha == pytest.approx(
        krippendorff.alpha([list(map(int, people)), list(map(int, judge))], level_of_measurement="nominal"), abs=1e-12
    )


@pytest.mark.parametrize("seed", range(20))
def test_kappa_of_grades(seed: int) -> None:
    draw = random.Random(seed)
    first = [draw.randint(1, 5) for _ in range(60)]
    second = [min(5, max(1, grade + draw.choice([-1, 0, 0, 0, 1]))) for grade in first]
    weighted = metrics.cohen_kappa_score(first, second, weights="quadratic")
    assert quadratic_kappa(first, second) == pytest.approx(weighted, abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(10))
def test_alpha_of_several_raters_with_gaps(level: Level, seed: int) -> None:
    draw = random.Random(seed)
    rows = [[draw.choice([1, 2, 3, 3, 4, 5, float("nan")]) for _ in range(30)] for _ in range(4)]
    units = [[v for v in column if v == v] for column in zip(*rows, strict=True)]
    expected = krippendorff.alpha(rows, level_of_measurement=level)
    assert krippendorff_alpha(units, level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (3, 7), (95, 100), (12, 12)])
def test_wilson(hits: int, n: int) -> None:
    found = wilson(hits, n)
    assert (found.low, found.high) == pytest.approx(proportion.proportion_confint(hits, n, method="wilson"), abs=1e-12)


@pytest.mark.parametrize(("b", "c"), [(0, 1), (3, 3), (1, 9), (12, 25), (200, 240)])
def test_mid_p(b: int, c: int) -> None:
    exact = stats.binomtest(b, b + c, 0.5).pvalue
    point = float(stats.binom.pmf(b, b + c, 0.5))
    assert mid_p_mcnemar(b, c) == pytest.approx(exact - (point if b != c else point / 2), abs=1e-12)


def test_bootstrap_of_kappa_is_near_its_large_sample_interval() -> None:
    people, judge = labels(random.Random(1), 400)
    table = table_of(people, judge)
    found = bootstrap(lambda ids: table_of([people[i] for i in ids], [judge[i] for i in ids]).kappa, range(400))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        large = inter_rater.cohens_kappa([[table.tp, table.fn], [table.fp, table.tn]])
    assert (found.low, found.high) == pytest.approx((large.kappa_low, large.kappa_upp), abs=0.02)
