"""The baseline of a large suite, read case by case: what the whole file says, or left to who reads it whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_auepora.errors import BaselineError
from pytest_auepora.regression.baseline import spooled as spooled_baseline
from pytest_auepora.regression.baseline.file import load_baseline
from pytest_auepora.regression.baseline.model import Baseline, BaselineCase
from pytest_auepora.regression.baseline.spooled import SpooledBaseline

CASES = {
    "a": BaselineCase("h1", "passed", {"f1": 0.5, "bleu": None}, {"doc": 1, "other": None}),
    "b": BaselineCase("h2", "failed", {"f1": 1.0}, {}, 3, {"f1": [1.0, 0.5, 1.0]}, "span", {"bleu": [1, [2, 3]]}, 4),
    'odd "id"': BaselineCase("h3"),
    "gone": BaselineCase("h4", scores={"f1": 0.25}),
}
ROWS = {"new": 0, "b": 1, "a": 2, 'odd "id"': 3}


def written(folder: Path, change: Callable[[str], str] = str) -> Path:
    path = folder / "shop.json"
    text = Baseline("shop", "", {"f1": {"version": 1, "params": {}}}, {"model": "m"}, dict(CASES)).dumps()
    path.write_text(change(text), encoding="utf-8")
    return path


@pytest.fixture(params=[1, 100, 64 * 1024], autouse=True)
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooled_baseline, "_PIECE", request.param)


def test_it_says_what_the_whole_file_says(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole, parts = load_baseline(path, "shop"), load_baseline(path, "shop", rows=ROWS)
    assert whole is not None
    assert parts is not None
    assert isinstance(parts.cases, SpooledBaseline)
    assert whole.cases == CASES == parts.cases
    assert parts.dumps() == whole.dumps()
    assert (set(parts.cases), len(parts.cases), "new" in parts.cases, parts.cases.get("new")) == (
        {*CASES}, 4, False, None,
    )  # fmt: skip
    for case_id in ("a", "gone"):
        del parts.cases[case_id]
        with pytest.raises(KeyError):
            del parts.cases[case_id]
    assert sorted(parts.cases) == ["b", 'odd "id"']
    assert load_baseline(tmp_path / "lost.json", "shop", rows=ROWS) is None


BROKEN: dict[str, Callable[[str], str]] = {
    "cut short": lambda text: text[: len(text) // 2],
    "cut between cases": lambda text: text[: text.index('  "b": {')],
    "a conflict": lambda text: text.replace('  "b": {', '<<<<<<< HEAD\n  "b": {'),
    "no comma": lambda text: text.replace('  },\n  "b"', '  }\n  "b"'),
    "a comma too many": lambda text: text.replace("  }\n },", "  },\n },"),
    "newer": lambda text: text.replace('"format": 1', '"format": 2'),
    "of another suite": lambda text: text.replace('"shop"', '"other"'),
    "a case that is none": lambda text: text.replace('"hash": "h2"', '"hush": "h2"'),
    "brackets without end": lambda text: text.replace('"h2"', "[" * 100_000),
    "digits without end": lambda text: text.replace('"h2"', "1" * 5000),
    "no format": lambda text: text.replace('"format": 1,', ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_told_as_of_the_whole_file(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, BROKEN[name])
    told = []
    for rows in (None, ROWS):
        with pytest.raises(BaselineError) as caught:
            load_baseline(path, "shop", rows=rows)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_of_two_lists_of_cases_the_last_counts(tmp_path: Path) -> None:
    path = written(tmp_path, lambda text: text.replace(' "format"', ' "cases": {\n },\n "format"'))
    for rows in (None, ROWS):
        found = load_baseline(path, "shop", rows=rows)
        assert found is not None
        assert not found.cases


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_in_another_layout_is_read_whole(tmp_path: Path, indent: int | None) -> None:
    import json

    path = written(tmp_path)
    raw = json.loads(path.read_text(encoding="utf-8"))
    if indent:
        raw = {
            "cases": raw["cases"],
            "format": 1,
            "suite": "shop",
            "provenance": {"cases": {}},
            "metrics": raw["metrics"],
        }
    path.write_text(json.dumps(raw, indent=indent), encoding="utf-8")
    found = load_baseline(path, "shop", rows=ROWS)
    assert found is not None
    assert found.cases == CASES
    assert isinstance(found.cases, dict) == (indent is None)
