"""A judge that likes long answers, is inconsistent, or got worse lately."""

from __future__ import annotations

import random

from pytest_auepora.calibration.labels import Item
from pytest_auepora.calibration.study import study

from .test_study import labels


def test_a_judge_that_likes_long_answers_is_found_out() -> None:
    def long_is_good(item: Item, people: bool) -> None:
        item.answer = "x" * random.Random(item.id).randint(10, 400)
        item.scores = [min(1.0, (0.5 if people else 0.1) + len(item.answer) / 800)]

    biases = {b.name: b for b in study("m", labels(240, change=long_is_good)).biases}
    assert biases["length"].suspicious
    assert biases["verbosity"].suspicious
    fair = {b.name: b for b in study("m", labels(240)).biases}
    assert not fair["length"].suspicious
    assert not fair["verbosity"].suspicious


def test_a_biased_or_inconsistent_judge_is_found_out() -> None:
    def lax(item: Item, people: bool) -> None:
        lucky = random.Random(item.id).random()
        item.scores = [0.9 if people or lucky < 0.3 else 0.1, 0.9 if lucky < 0.5 else 0.1]
        item.swapped = item.scores[0]
        item.batch = "june" if int(item.id[1:]) < 120 else "july"

    biases = {b.name: b for b in study("m", labels(240, change=lax)).biases}
    assert biases["base rate"].suspicious
    assert biases["repeats"].suspicious
    assert not biases["position"].suspicious
    assert {"drift of the judge", "drift of the labels"} <= set(biases)


def test_a_judge_that_got_worse_lately_is_found_out() -> None:
    def tired(item: Item, people: bool) -> None:
        late = int(item.id[1:]) >= 120
        item.batch = "july" if late else "june"
        wrong = random.Random(item.id).random() < (0.4 if late else 0.02)
        item.scores = [0.9 if people != wrong else 0.1]

    biases = {b.name: b for b in study("m", labels(240, change=tired)).biases}
    assert biases["drift of the judge"].suspicious
    assert not biases["drift of the labels"].suspicious
