"""Agreement and its intervals: by hand, by property; against scikit-learn and others in tests/oracles."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.calibration.agreement import Table, krippendorff_alpha, quadratic_kappa, table_of, wilson
from pytest_auepora.calibration.study import compare_judges, mid_p_mcnemar

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


def test_the_textbook_table() -> None:
    table = Table(tp=20, fp=10, fn=5, tn=15)
    assert table.kappa == pytest.approx(0.4)
    assert table.sensitivity == 0.8
    assert table.specificity == 0.6
    assert table.youden_j == pytest.approx(0.4)
    assert table.balanced_accuracy == pytest.approx(0.7)


@given(pairs)
def test_kappa_and_alpha_of_a_table_are_those_of_its_items(items: list[tuple[bool, bool]]) -> None:
    people, judge = [a for a, _ in items], [b for _, b in items]
    table = table_of(people, judge)
    assert table.kappa == pytest.approx(quadratic_kappa(people, judge))
    assert table.alpha == pytest.approx(krippendorff_alpha(items))


@given(pairs)
def test_agreement_is_at_most_one_and_symmetric(items: list[tuple[bool, bool]]) -> None:
    table, turned = table_of(*zip(*items, strict=True)), table_of(*zip(*[(b, a) for a, b in items], strict=True))
    assert table.kappa == pytest.approx(turned.kappa)
    for value in (table.kappa, table.alpha):
        assert value is None or value <= 1 + 1e-12
    same = table_of([a for a, _ in items], [a for a, _ in items])
    assert same.kappa in (None, 1.0)


@given(pairs)
def test_what_yes_means_changes_neither_kappa_nor_j(items: list[tuple[bool, bool]]) -> None:
    table = table_of(*zip(*items, strict=True))
    turned = table_of(*zip(*[(not a, not b) for a, b in items], strict=True))
    assert table.kappa == pytest.approx(turned.kappa)
    assert table.youden_j == pytest.approx(turned.youden_j)


@pytest.mark.parametrize(("first", "second"), [([], [True]), ([True], []), ([True, False], [True])])
def test_raters_of_different_numbers_of_items_are_refused(first: list[bool], second: list[bool]) -> None:
    for of in (quadratic_kappa, table_of):
        with pytest.raises(ValueError, match=r"is (shorter|longer) than argument 1"):
            of(first, second)
    assert quadratic_kappa([], []) is None


def test_krippendorffs_own_example() -> None:
    """Data and results of 'Computing Krippendorff's Alpha-Reliability' (2011): four observers, twelve units."""
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[v for v in column if v is not None] for column in zip(*rows, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(units, "interval") == pytest.approx(0.849, abs=5e-4)


def test_what_cannot_be_told_is_none() -> None:
    assert Table().kappa is None
    assert Table(tp=5).kappa is None
    assert Table(tp=5).alpha is None
    assert Table(tp=5).specificity is None
    assert Table(tp=5).youden_j is None
    assert krippendorff_alpha([[1], []]) is None
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert quadratic_kappa([], []) is None
    assert wilson(0, 0).value is None


@given(st.integers(0, 30), st.integers(0, 30))
def test_mid_p_is_what_counting_all_outcomes_gives(b: int, c: int) -> None:
    n = b + c
    shares = [math.comb(n, k) / 2**n for k in range(n + 1)]
    far = abs(b - n / 2)
    beyond = sum(p for k, p in enumerate(shares) if abs(k - n / 2) > far + 1e-9)
    at = sum(p for k, p in enumerate(shares) if abs(abs(k - n / 2) - far) <= 1e-9)
    assert mid_p_mcnemar(b, c) == pytest.approx(beyond + at / 2 if n else 1.0)
    assert mid_p_mcnemar(b, c) == mid_p_mcnemar(c, b)


def test_thousands_of_discordant_pairs_are_not_too_many() -> None:
    assert mid_p_mcnemar(2000, 1000) < 1e-60
    assert mid_p_mcnemar(1500, 1500) > 0.98


def test_two_judges_are_compared_on_what_both_were_held_against() -> None:
    before = {"a": (True, True), "b": (True, False), "c": (False, True), "d": (True, True), "e": (True, True)}
    now = {"a": (True, True), "b": (True, True), "c": (False, False), "d": (False, True), "f": (True, True)}
    change = compare_judges(before, now)
    assert change is not None
    assert (change.n, change.fixed, change.broken, change.outcome) == (3, 2, 0, "no clear difference")
    assert compare_judges({}, now) is None
    many = {str(i): (True, False) for i in range(8)}
    worse = compare_judges(dict.fromkeys(many, (True, True)), many)
    assert worse is not None
    assert worse.outcome == "worse"


def test_kappa_weighted_counts_near_misses_less() -> None:
    near, far = ([1, 2, 3, 4, 5], [2, 3, 4, 5, 4]), ([1, 2, 3, 4, 5], [5, 1, 1, 1, 1])
    close, wide = (quadratic_kappa(*pair) for pair in (near, far))
    assert close is not None
    assert wide is not None
    assert close > 0.5 > wide
