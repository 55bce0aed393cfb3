"""A judge held against people: when it may gate, and what it goes by."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from pytest_auepora.base.records import read_record, record_schema, record_text
from pytest_auepora.calibration.labels import Item, LabelSet
from pytest_auepora.calibration.study import study
from pytest_auepora.errors import MetricError
from pytest_auepora.regression.guards.calibration import Calibration


def labels(
    n: int, *, right: float = 0.95, yes: float = 0.5, seed: int = 1, change: Callable[[Item, bool], None] | None = None
) -> LabelSet:
    """*n* items on which a judge is right with probability *right*."""
    draw = random.Random(seed)
    items = []
    for number in range(n):
        people = draw.random() < yes
        judge = people if draw.random() < right else not people
        item = Item(f"i{number}", people, score=0.9 if judge else 0.1)
        if change is not None:
            change(item, people)
        items.append(item)
    return LabelSet(items, "boolean")


def test_a_judge_people_agree_with_may_gate() -> None:
    found = study("m", labels(200))
    assert (found.gate, found.shortfalls) == (True, [])
    kappa = found.figures["kappa"]
    assert kappa.value is not None
    assert kappa.low is not None
    assert kappa.low < kappa.value
    made = found.calibration({"version": 1, "params": {}})
    assert made.gate
    assert len(made.labels) == 200
    assert made.figures["kappa"].interval == "bootstrap"
    assert made.figures["sensitivity"].interval == "Wilson"
    assert record_text(study("m", labels(200)).calibration({"version": 1, "params": {}})) == record_text(made)
    assert read_record(Calibration, record_text(made)) == made


def test_every_key_of_the_file_says_what_it_means() -> None:
    schema = record_schema(Calibration)
    for kind in (schema, *schema["$defs"].values()):
        assert all(field["description"] for field in kind["properties"].values())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (labels(99, right=1.0), "99 labels, at least 100 are wanted"),
        (labels(150, right=1.0, yes=0.08), "of them yes, at least 20 are wanted"),
        (labels(150, right=1.0, yes=0.92), "of them no, at least 20 are wanted"),
        (labels(200, right=0.7), "at least 0.6 is wanted"),
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
        item.label, item.score = True, 0.9 if number < 12 else 0.1
    found = study("m", made)
    assert found.figures["kappa"].value == pytest.approx(0.637, abs=0.01)
    (shortfall,) = found.shortfalls
    assert re.findall(r"\d\.\d+", shortfall) == ["0.48", "0.5"]


def test_a_kappa_just_too_low_reads_so() -> None:
    made = labels(105, right=1.0)
    cells = [(True, True)] * 40 + [(False, True)] * 9 + [(True, False)] * 12 + [(False, False)] * 44
    for item, (people, judge) in zip(made.items, cells, strict=True):
        item.label, item.score = people, 0.9 if judge else 0.1
    found = study("m", made)
    assert found.figures["kappa"].value == pytest.approx(0.599746, abs=1e-6)
    assert re.findall(r"\d\.\d+", found.shortfalls[0]) == ["0.5997", "0.6"]


def test_a_kappa_that_may_be_much_lower_does_not_gate() -> None:
    """All errors are in three of eight groups, of which chance could have given more."""
    made = labels(160, right=1.0)
    for number, item in enumerate(made.items):
        item.group = f"g{number // 20}"
        if number < 60 and number % 20 < 10:
            item.score = 1 - (item.score or 0)
    found = study("m", made)
    kappa = found.figures["kappa"]
    assert kappa.value is not None
    assert kappa.low is not None
    assert kappa.value > 0.6
    assert 0.2 < kappa.low < 0.4
    (shortfall,) = found.shortfalls
    assert re.findall(r"\d\.\d+", shortfall) == [f"{kappa.low:.2f}", "0.4"]


def test_items_of_one_group_are_not_as_good_as_independent_ones() -> None:
    def alike(item: Item, _: bool) -> None:
        item.group = f"g{int(item.name[1:]) // 25}"

    alone, grouped = study("m", labels(200)), study("m", labels(200, change=alike))
    assert grouped.figures["sensitivity"].interval == "bootstrap"
    assert grouped.figures["kappa"].value == alone.figures["kappa"].value
    assert grouped.figures["kappa"].low != alone.figures["kappa"].low


def test_replies_that_are_no_score_are_counted_and_in_no_figure() -> None:
    made = labels(120)
    for item in made.items[:12]:
        item.score, item.error = None, "the judge's reply is not JSON: 'Sure!'"
    found = study("m", made)
    assert found.figures["parse failures"].value == 0.1
    assert len(found.labels) == 108
    assert any(r.startswith("12 ") and "Sure!" in r for r in found.remarks)


def test_people_who_are_divided_or_agree_little_are_told_of() -> None:
    draw = random.Random(3)
    made = labels(120)
    for item in made.items:
        item.label, item.labels = draw.random() < 0.5, [draw.random() < 0.5]
    found = study("m", made)
    alpha = found.figures["alpha among people (nominal)"].value
    assert alpha is not None
    divided, little = found.remarks
    assert (divided.split()[0], f"{alpha:.2f}" in little) == (str(120 - len(found.labels)), True)


def test_grades_are_compared_as_grades_too() -> None:
    draw = random.Random(2)
    items = []
    for n in range(120):
        grade = draw.randint(1, 5)
        seen = min(5, max(1, grade + draw.choice([0, 0, 0, 1, -1])))
        items.append(Item(f"i{n}", grade, score=(seen - 1) / 4))
    found = study("m", LabelSet(items, "grade", frozenset({4, 5})), threshold=0.75)
    for name in ("kappa of grades (quadratic)", "alpha of grades (ordinal)", "alpha of grades (interval)"):
        value = found.figures[name].value
        assert value is not None
        assert value > 0.8


def test_nothing_to_compare() -> None:
    with pytest.raises(MetricError, match="no item has both"):
        study("m", LabelSet([Item("a", True)], "boolean"))
