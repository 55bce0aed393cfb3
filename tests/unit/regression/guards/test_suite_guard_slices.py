"""Slices in the suite guard: judged in one family with the whole, where they have cases enough."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.guards.gates import in_slice
from pytest_auepora.regression.guards.suite_guard import judge_comparison, parts_of
from pytest_auepora.regression.outcomes import GateOutcome
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import judge

from .. import runs
from ..runs import case, metrics, run


def labelled(name: str, score: float, *tags: str, **labels: str) -> CaseResult:
    out = case(name, mrr=score)
    out.labels = {"tags": list(tags), **labels}
    return out


def suite(*, typos: float, others: float = 1.0, n: int = 40, n_typos: int = 12, **more: Any) -> Run:
    cases = [labelled(f"t{i:02}", typos, "hard", scenario="typo") for i in range(n_typos)]
    cases += [labelled(f"c{i:02}", others, language="de" if i % 2 else "en") for i in range(n - n_typos)]
    return run(*cases, names=("mrr",), **more)


def judged(now: Run, before: Run, *slices: Any, **policy: Any) -> dict[str, GateOutcome]:
    given = RegressionPolicy(slices=slices, **policy)
    return {gate.part: gate for gate in judge_comparison(now, compare(now, runs.accepted(before)), given, {}).gates}


def test_a_slice_fails_where_the_whole_hides_it() -> None:
    before, now = suite(typos=0.9, others=0.5), suite(typos=0.55, others=0.68)
    found = judged(now, before, {"scenario": "typo"})
    assert list(found) == ["mrr", "mrr{scenario=typo}"]
    assert found["mrr"].state == "passed"
    assert found["mrr{scenario=typo}"].state == "failed"
    gate = found["mrr{scenario=typo}"]
    assert (gate.metric, gate.n) == ("mrr", 12)
    assert [gate.before, gate.value] == pytest.approx([0.9, 0.55])
    assert gate.test is not None
    assert (gate.test.members, gate.test.has_slices) == (2, True)
    assert gate.worst_cases[0] == "t00"


def test_without_slices_nothing_is_sliced() -> None:
    found = judged(suite(typos=0.5), suite(typos=0.9))
    assert list(found) == ["mrr"]
    assert found["mrr"].test is not None
    assert not found["mrr"].test.has_slices


def test_a_label_alone_is_a_slice_for_each_of_its_values() -> None:
    now = suite(typos=0.9, others=0.5)
    assert set(judged(now, suite(typos=0.9), "language")) == {"mrr", "mrr{language=de}", "mrr{language=en}"}
    assert set(judged(now, suite(typos=0.9), "tag", {"tag": "hard"})) == {"mrr", "mrr{tag=hard}"}


def test_a_slice_too_small_for_chance_is_left_out_and_named() -> None:
    before, now = suite(typos=0.9, n_typos=9), suite(typos=0.0, n_typos=9)
    assert set(judged(now, before, "scenario")) == {"mrr"}
    policy = RegressionPolicy(slices=("scenario",))
    found = judge(now, [], policy, metrics("mrr"), baseline=runs.accepted(before))
    (note,) = (note for note in found.notes if note.kind == "slices too small")
    assert note.data == {"clusters": {"scenario=typo": 9}}


def test_ten_clusters_are_enough_for_a_slice() -> None:
    before, now = suite(typos=0.9, n_typos=10), suite(typos=0.0, n_typos=10)
    assert judged(now, before, "scenario")["mrr{scenario=typo}"].state == "failed"


def test_clusters_are_counted_and_not_cases() -> None:
    before, now = suite(typos=0.9), suite(typos=0.0)
    for one in (before, now):
        for i in range(12):
            one.cases[f"t{i:02}"].cluster = f"t{i // 4}"
    assert set(judged(now, before, "scenario")) == {"mrr"}


def test_a_given_tolerance_holds_for_few_cases_too() -> None:
    before, now = suite(typos=0.9, n_typos=3), suite(typos=0.8, n_typos=3)
    found = judged(now, before, "scenario", policy="tolerance")
    assert (found["mrr"].state, found["mrr{scenario=typo}"].state) == ("passed", "failed")


def test_a_slice_that_is_the_whole_or_nothing_is_no_slice() -> None:
    now = suite(typos=0.5, n=12)
    assert set(judged(now, suite(typos=0.9, n=12), "scenario", {"scenario": "none"})) == {"mrr"}


def test_an_inconclusive_slice_follows_the_policy() -> None:
    before = suite(typos=0.9)
    now = suite(typos=0.9)
    for i, score in enumerate((0.1, 0.2, 1.0)):
        now.cases[f"t{i:02}"].scores["mrr"].value = score
    assert judged(now, before, "scenario")["mrr{scenario=typo}"].state == "inconclusive"
    assert judged(now, before, "scenario", on_inconclusive="fail")["mrr{scenario=typo}"].state == "failed"


def test_missing_labels_are_none() -> None:
    assert in_slice(labelled("a", 1.0), {"scenario": "none"})
    assert not in_slice(labelled("a", 1.0, scenario="typo"), {"scenario": "none"})
    assert in_slice(labelled("a", 1.0, "x", "y", scenario="typo"), {"tag": "y", "scenario": "typo"})
    assert not in_slice(labelled("a", 1.0), {"tag": "none"})


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=12, max_size=40), st.data())
def test_slices_of_one_label_part_the_whole(values: list[str], data: st.DataObject) -> None:
    gains = data.draw(st.lists(st.floats(0, 1), min_size=len(values), max_size=len(values)))
    before = run(*(labelled(f"c{i}", 0.5, kind=v) for i, v in enumerate(values)), names=("mrr",))
    now = run(
        *(labelled(f"c{i}", g, kind=v) for i, (v, g) in enumerate(zip(values, gains, strict=True))), names=("mrr",)
    )
    whole, *parts = parts_of(now, compare(now, runs.accepted(before)), RegressionPolicy(slices=("kind",)))
    assert not whole.slice
    told = [i for part in parts for i in part.changes]
    assert len(told) == len(set(told))
    assert len(set(values)) == 1 or set(told) == set(whole.changes)
    total = sum(part.change.gain * part.change.n for part in parts)
    assert not parts or total == pytest.approx(whole.change.gain * whole.change.n, abs=1e-9)


def test_more_slices_never_make_the_whole_look_worse() -> None:
    """The family grows, so its metrics need clearer evidence, never less."""
    before, now = suite(typos=0.9, others=0.5), suite(typos=0.9, others=0.5)
    for i in range(4):  # too few to be clear
        now.cases[f"t{i:02}"].scores["mrr"].value = 0.5
    alone, among = judged(now, before)["mrr"].test, judged(now, before, "scenario", "language")["mrr"].test
    assert alone is not None
    assert among is not None
    assert among.p_adjusted >= alone.p_adjusted
