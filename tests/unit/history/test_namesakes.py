"""Golden files of one suite name: each has its own runs, and keeps them where it is moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import UnknownRunError
from pytest_auepora.history.answers import choose_runs, history_recall
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import verdict_of
from .conftest import a_run

CARS, BOATS, NEW = "cars/golden.yaml", "boats/golden.yaml", "cars/eval/golden.yaml"
ANSWERS: dict[str, Any] = {"one": [("=x", [])]}


@pytest.fixture
def store(kept: HistoryStore, tmp_path: Path) -> HistoryStore:
    kept.root = tmp_path
    return kept


def there(store: HistoryStore, *paths: str) -> None:
    for path in paths:
        (store.root / path).parent.mkdir(parents=True, exist_ok=True)
        (store.root / path).touch()


def run_at(path: str) -> Run:
    run = a_run()
    run.path = path
    return run


def add(store: HistoryStore, *paths: str, **options: Any) -> list[str]:
    return [store.add(run := run_at(path), verdict_of(run), recordings=ANSWERS, **options) for path in paths]


def ids(store: HistoryStore, path: str) -> list[str]:
    return [run.run_id for run in store.runs(suite="billing", variant="", path=path)]


def test_runs_of_another_file_are_left_out(store: HistoryStore) -> None:
    there(store, CARS, BOATS)
    cars1, cars2, boats, cars3 = add(store, CARS, CARS, BOATS, CARS)
    assert ids(store, BOATS) == [boats]  # though all runs of the other are earlier but one
    assert ids(store, CARS) == [cars3, cars2, cars1]
    assert [run.run_id for run in store.runs(2, "billing", "", CARS)] == [cars3, cars2]
    assert store.resolve("last", "billing", "", BOATS) == boats
    assert store.resolve("last~1", "billing", "", CARS) == cars2
    with pytest.raises(UnknownRunError, match=rf"no run 'last~1' of billing \({BOATS}\): .* has 1"):
        store.resolve("last~1", "billing", "", BOATS)


def test_a_moved_file_keeps_its_runs(store: HistoryStore) -> None:
    there(store, NEW)
    cars1, cars2 = add(store, CARS, CARS)
    assert ids(store, NEW) == [cars2, cars1]
    (new,) = add(store, NEW)
    assert ids(store, NEW) == [new, cars2, cars1]


def test_a_new_file_has_no_runs_of_one_that_is_there(store: HistoryStore) -> None:
    there(store, CARS, BOATS)
    add(store, CARS)
    (boats,) = add(store, BOATS)
    assert ids(store, BOATS) == [boats]


def test_a_deleted_file_was_not_moved_to_its_neighbour(store: HistoryStore) -> None:
    there(store, CARS)
    cars1, _, cars2, boats = add(store, CARS, BOATS, CARS, BOATS)
    assert ids(store, CARS) == [cars2, cars1]
    assert choose_runs(store, "last") == {("billing", "", CARS): cars2}
    assert choose_runs(store, boats) == {("billing", "", ""): boats}


def test_each_file_is_pruned_on_its_own(store: HistoryStore) -> None:
    there(store, CARS, BOATS)
    (boats,) = add(store, BOATS)
    _, cars2, cars3 = add(store, CARS, CARS, CARS, keep=2, keep_recorded=1)
    assert (ids(store, BOATS), ids(store, CARS)) == ([boats], [cars3, cars2])
    assert [run.run_id for run in store.recorded()] == [cars3, boats]
    assert store.prune(1, "billing") == 1
    assert (ids(store, BOATS), ids(store, CARS)) == ([boats], [cars3])


def test_which_run_answers_for_which_file(store: HistoryStore) -> None:
    there(store, CARS, BOATS)
    cars1, cars2, boats = add(store, CARS, CARS, BOATS)
    assert choose_runs(store, "last") == {("billing", "", CARS): cars2, ("billing", "", BOATS): boats}
    assert choose_runs(store, "last~1") == {("billing", "", CARS): cars1}
    assert choose_runs(store, cars1) == {("billing", "", CARS): cars1}


def test_a_moved_file_is_answered_by_its_runs(store: HistoryStore) -> None:
    cars1, cars2 = add(store, CARS, CARS)
    there(store, NEW)
    assert choose_runs(store, "last") == {("billing", "", ""): cars2}  # any file of the suite
    (new,) = add(store, NEW)
    assert choose_runs(store, "last") == {("billing", "", NEW): new}
    assert choose_runs(store, "last~2") == {("billing", "", NEW): cars1}


def test_passages_are_those_of_the_file(store: HistoryStore) -> None:
    there(store, CARS, BOATS)
    for path in (CARS, BOATS):
        hit = {"id": "p#1", "score": 1.0, "grade": 1, "text": f"of {path}", "doc": "p"}
        case = CaseResult("c", content_hash="h", texts=CaseTexts(expected={"relevant": [{"id": "p#1", "grade": 1}]}))
        case.outputs = {"answer": "a", "retrieved": [hit]}
        run = Run("billing", path, cases={"c": case}, expected_ids=("c",))
        store.add(run, verdict_of(run))
    for path in (CARS, BOATS):
        assert [p.text for p in history_recall(store, "billing", path, {"c": "h"})("c", "p#1")] == [f"of {path}"]
