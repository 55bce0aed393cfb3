"""A judge held against people: when it may gate, what it goes by, and a threshold that flatters nobody."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pytest_auepora.calibration.agreement import apply_threshold, best_threshold
from pytest_auepora.calibration.labels import Item, LabelSet
from pytest_auepora.calibration.study import study
from pytest_auepora.errors import MetricError


def labels(
    n: int, *, right: float = 0.95, yes: float = 0.5, seed: int = 1, change: Callable[[Item, bool], None] | None = None
) -> LabelSet:
    """*n* items on which a judge is right with probability *right*."""
    draw = random.Random(seed)
    items = []
    for number in range(n):
        people = draw.random() < yes
        judge = people if draw.random() < right else not people
        item = Item(f"i{number}", [people], [0.9 if judge else 0.1], answer="x" * draw.randint(10, 200))
        if change is not None:
            change(item, people)
        items.append(item)
    return LabelSet(items, "boolean")


def test_a_judge_people_agree_with_may_gate() -> None:
    found = study("m", labels(200))
    assert found.gate
    assert found.reason == "people agree with the judge"
    kappa = found.figures["kappa"]
    assert kappa.value is not None
    assert kappa.low is not None
    assert kappa.low < kappa.value
    made = found.calibration({"version": 1, "params": {}})
    assert made.gate
    assert len(made.labels) == 200
    assert made.statistics["figures"]["kappa"]["interval"] == "bootstrap"
    assert made.statistics["figures"]["sensitivity"]["interval"] == "Wilson"
    assert study("m", labels(200)).calibration({}).dumps() == found.calibration({}).dumps()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (labels(99, right=1.0), "99 labels, at least 100 are wanted"),
        (labels(150, right=1.0, yes=0.08), "of them yes, at least 20 are wanted"),
        (labels(150, right=1.0, yes=0.92), "of them no, at least 20 are wanted"),
        (labels(200, right=0.75), "at least 0.6 is wanted"),
        (labels(200, right=0.6), "sensitivity + specificity - 1 is"),
    ],
)
def test_what_keeps_a_judge_from_gating_is_said(made: LabelSet, said: str) -> None:
    found = study("m", made)
    assert not found.gate
    assert said in found.reason


def test_a_judge_that_misses_half_of_the_rare_may_not_gate() -> None:
    """Its κ is high enough, because nearly all is no and it says so."""
    made = labels(500, right=1.0, yes=0.0)
    for number, item in enumerate(made.items[:25]):
        item.people, item.scores = [True], [0.9 if number < 12 else 0.1]
    found = study("m", made)
    assert found.figures["kappa"].value == pytest.approx(0.637, abs=0.01)
    assert found.reason.endswith("sensitivity + specificity - 1 is 0.48, at least 0.5 is wanted")


def test_a_kappa_just_too_low_reads_so() -> None:
    made = labels(105, right=1.0)
    cells = [(True, True)] * 40 + [(False, True)] * 9 + [(True, False)] * 12 + [(False, False)] * 44
    for item, (people, judge) in zip(made.items, cells, strict=True):
        item.people, item.scores = [people], [0.9 if judge else 0.1]
    found = study("m", made)
    assert found.figures["kappa"].value == pytest.approx(0.599746, abs=1e-6)
    assert "κ is 0.5997, at least 0.6 is wanted" in found.reason


def test_a_kappa_that_may_be_much_lower_does_not_gate() -> None:
    """All errors are in three of eight groups, of which chance could have given more."""
    made = labels(160, right=1.0)
    for number, item in enumerate(made.items):
        item.group = f"g{number // 20}"
        if number < 60 and number % 20 < 10:
            item.scores = [1 - item.scores[0]]
    found = study("m", made)
    kappa = found.figures["kappa"]
    assert kappa.value is not None
    assert kappa.low is not None
    assert kappa.value > 0.6
    assert 0.2 < kappa.low < 0.4
    assert found.shortfalls == [f"the lower bound of κ is {kappa.low:.2f}, at least 0.4 is wanted"]


def test_items_of_one_group_are_not_as_good_as_independent_ones() -> None:
    def alike(item: Item, _: bool) -> None:
        item.group = f"g{int(item.id[1:]) // 25}"

    alone, grouped = study("m", labels(200)), study("m", labels(200, change=alike))
    assert grouped.figures["sensitivity"].source == "bootstrap"
    assert grouped.figures["kappa"].value == alone.figures["kappa"].value
    assert grouped.figures["kappa"].low != alone.figures["kappa"].low


def test_replies_that_are_no_score_are_counted_and_in_no_figure() -> None:
    made = labels(120)
    for item in made.items[:12]:
        item.scores, item.error = [], "the judge's reply is not JSON: 'Sure!'"
    found = study("m", made)
    assert found.figures["parse failures"].value == 0.1
    assert len(found.labels) == 108
    assert any("12 replies of the judge were no score (the judge's reply" in r for r in found.remarks)


def test_people_who_are_divided_or_agree_little_are_told_of() -> None:
    draw = random.Random(3)
    made = labels(120)
    for item in made.items:
        item.people = [draw.random() < 0.5, draw.random() < 0.5]
    found = study("m", made)
    assert any("people are divided" in r for r in found.remarks)
    assert any("people agree little with each other" in r for r in found.remarks)
    assert "alpha among people (nominal)" in found.figures


def test_grades_are_compared_as_grades_too() -> None:
    draw = random.Random(2)
    items = []
    for n in range(120):
        grade = draw.randint(1, 5)
        seen = min(5, max(1, grade + draw.choice([0, 0, 0, 1, -1])))
        items.append(Item(f"i{n}", [grade], [(seen - 1) / 4]))
    found = study("m", LabelSet(items, "grade", frozenset({4, 5})), threshold="0.75")
    for name in ("kappa of grades (quadratic)", "alpha of grades (ordinal)", "alpha of grades (interval)"):
        value = found.figures[name].value
        assert value is not None
        assert value > 0.8


def test_a_threshold_chosen_on_noise_fails_on_other_labels() -> None:
    """Scores that say nothing: the best threshold seems to, the held-out labels know better."""
    honest, flattered = [], []
    for seed in range(30):
        draw = random.Random(seed)
        people = [draw.random() < 0.5 for _ in range(60)]
        scores = [draw.random() for _ in range(60)]
        ids = [str(i) for i in range(60)]
        cut = apply_threshold("cv", people, scores, ids)
        measured = [people[i] for i in cut.measured]
        honest.append(sum(a == b for a, b in zip(measured, cut.yes, strict=True)) / 60)
        best = best_threshold(people, scores)
        flattered.append(sum((s >= best) == p for s, p in zip(scores, people, strict=True)) / 60)
    assert sum(flattered) / 30 > 0.56
    assert abs(sum(honest) / 30 - 0.5) < 0.05


def test_ways_to_cut() -> None:
    people, scores = [False, False, True, True], [0.1, 0.2, 0.6, 0.9]
    assert best_threshold(people, scores) == pytest.approx(0.4)
    assert best_threshold(people, [0.5] * 4) == 0.5
    fixed = apply_threshold("0.6", people, scores, list("abcd"))
    assert (fixed.yes, fixed.threshold) == ([False, False, True, True], 0.6)
    split = apply_threshold("split", [*people] * 5, [*scores] * 5, [str(i) for i in range(20)])
    assert len(split.measured) == 10
    whole = apply_threshold("cv", [*people] * 5, [*scores] * 5, [str(i % 10) for i in range(20)])
    assert sorted(whole.measured) == list(range(20))
    with pytest.raises(MetricError, match="a number, cv or split, got 'best'"):
        apply_threshold("best", people, scores, list("abcd"))
    with pytest.raises(MetricError, match="labels of both kinds"):
        apply_threshold("cv", [True] * 4, scores, list("abcd"))


def test_nothing_to_compare() -> None:
    with pytest.raises(MetricError, match="no item has both"):
        study("m", LabelSet([Item("a", [True])], "boolean"))
