"""The JSON Schema accepts what the reader accepts, key by key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pytest_auepora.io.golden.fields import CASE, DEFAULTS, HEADER, SUITE, golden_schema
from pytest_auepora.io.source import Source
from tests.unit.io.files import DESIGN, load, problems

from .test_fields import OF_A_CASE, OF_THE_FILE

SCHEMA = golden_schema()
CHECK = jsonschema.Draft202012Validator(SCHEMA)


def plain(text: str) -> Any:
    """What an editor's validator sees: dates are text."""
    return json.loads(json.dumps(yaml.safe_load(text), default=str))


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    json.dumps(SCHEMA)


def test_it_accepts_the_example_of_the_design() -> None:
    CHECK.validate(plain(DESIGN))


def test_it_has_the_keys_of_the_reader_and_describes_each() -> None:
    case = SCHEMA["$defs"]["case"]
    assert set(SCHEMA["properties"]) == set(SUITE.fields) == {*HEADER.fields, "cases"}
    assert set(case["properties"]) == set(CASE.fields)
    assert set(SCHEMA["properties"]["defaults"]["properties"]) == set(DEFAULTS.fields)
    for properties in (SCHEMA["properties"], case["properties"]):
        assert all(len(p["description"]) > 10 for p in properties.values())


NEEDS_MORE_THAN_ONE_VALUE = {
    "key twice", "key twice in a case", "key twice beside an alias", "metric unknown", "metric unknown, second",
    "metric k = 0", "metric k negative", "metric bad option", "metric always counted", "threshold of no metric",
    "threshold not computed", "threshold in per cent", "threshold in parts of per cent", "threshold twice",
    "statistic of no kind",
    "statistic of a share", "pass rate of nothing", "slice of nobody", "slice misspelt", "case threshold on a share",
    "regression metric", "suite a device", "threshold NaN", "threshold on a key of no text", "docs twice",
    "span backwards", "bad regex", "regex of two kinds", "regex of re alone",
    "variant of nobody", "variant of itself", "taken id", "a label that is a key",
    "defaults with a label that is a key",
    "a label without a name", "threshold of its own", "threshold with statistics", "own threshold not computed",
    "timeout for ever", "must pass and fail", "quarantine no such day",
    "id a day", "metadata a set",  # what an editor sees is JSON
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in OF_THE_FILE if n not in NEEDS_MORE_THAN_ONE_VALUE])
def test_what_the_reader_refuses_in_a_file_the_schema_refuses(name: str) -> None:
    assert not CHECK.is_valid(plain(OF_THE_FILE[name][0]))


@pytest.mark.parametrize("name", [n for n in OF_A_CASE if n not in NEEDS_MORE_THAN_ONE_VALUE])
def test_what_the_reader_refuses_in_a_case_the_schema_refuses(name: str) -> None:
    assert not CHECK.is_valid(plain(f"cases:\n- {{{OF_A_CASE[name][0].replace('§', '')}}}\n"))


PROBES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 2.5, 100_000, "", " ", "x", "x y", "a::b", "2030-01-01", "0.5", "auto", "report",
    "word", "refuse", "answer", "fail", "lambda", "skip", "setup_module", [], ["x"], ["x", "y"], ["x", "x"], [""], [1],
    [None], [[]], [{}], {}, {"x": 1}, {"x": [1, {"y": None}]}, {"rounds": 2}, {"rounds": 0},
    {"rounds": 1, "group": "g"}, {"any_of": "x"},
    [{"any_of": ["x"]}], [{"any_of": []}], [{"any_of": "x", "importance": "okay"}],
    [{"any_of": "x", "importance": "big"}], [{"name": "x"}], [{"name": "x", "aliases": ["y"]}],
    [{"text": "x", "secure": True}], [{"text": "x", "secure": 1}], [{"id": "p"}], [{"id": "p", "grade": 2}],
    [{"id": "p", "grade": 101}], [{"id": "p", "doc": "d"}], [{"doc": "d"}], [{"doc": "d", "quote": "q", "grade": 0}],
    [{"doc": "d", "quote": "q", "text": "t"}], [{"doc": "d", "span": [1, 2]}], [{"doc": "d", "span": [1]}],
    [{"id": "p", "text": "t", "metadata": {"a": 1}}], [{"id": "p", "text": ""}], [{"id": "p", "quote": "q"}],
    {"policy": "auto"}, {"policy": "x"}, {"alpha": 0.1}, {"alpha": 0}, {"margin": 0},
    {"metrics": {"mrr": {"margin": 1}}},
    {"metrics": {"mrr": {"alpha": 0.1}}}, {"on_inconclusive": "fail"}, {"tags": ["x"]}, {"tags": [1]}, {"id": "x"},
    {"timeout": 1}, {"must_contain": "x", "match": "regex"},
]  # fmt: skip

KEYS = [(r, name) for r in (CASE, SUITE) for name in r.fields if "thresholds" not in name and name != "cases"]


@pytest.mark.parametrize(("record", "name"), KEYS, ids=[f"{r.title}: {name}" for r, name in KEYS])
def test_reader_and_schema_agree_on_every_value_of_every_key(record: Any, name: str) -> None:
    field = record.fields[name]
    check = jsonschema.Draft202012Validator(field.schema())
    for probe in PROBES:
        source = Source("x", "")
        field.type.read(probe, (name,), source)
        assert check.is_valid(probe) == (not source.problems), (name, probe, list(map(str, source.problems)))


THRESHOLDS: list[Any] = [
    0.8, 1, "0.8", ">= 0.8", "<=0.8", "> 0.8", "80%", "about", True, None, {}, [], {"min": 0.1}, {"min": "0.1"},
    {"min": None}, {"min": 0.1, "max": 0.9}, {"mni": 1}, [0.1], [0.1, {"max": 0.9}], [[0.1]],
    {"min": 0.1, "stat": "p10"}, {"min": 0.1, "stat": "p100"}, {"min": 0.1, "stat": "avg"}, {"stat": "p10"},
    {"min": 0.1, "slice": {"scenario": "x"}}, {"min": 0.1, "slice": {}}, {"min": 0.1, "slice": {"scenario": ["x"]}},
    {"min": 0.1, "owner": "o"}, {"min": 0.1, "owner": 1},
]  # fmt: skip


@pytest.mark.parametrize("where", ["file", "every case", "case"])
@pytest.mark.parametrize("raw", THRESHOLDS, ids=str)
def test_reader_and_schema_agree_on_thresholds(tmp_path: Path, where: str, raw: Any) -> None:
    bounds = {"recall@5": raw}
    case: dict[str, Any] = {"id": "a", "query": "Q", "scenario": "x"}
    whole: dict[str, Any] = {"cases": [case]}
    if where == "case":
        case["thresholds"] = bounds
    else:
        whole["thresholds" if where == "file" else "case_thresholds"] = bounds
    text = yaml.safe_dump(whole)
    if CHECK.is_valid(whole):
        load(tmp_path, text)
    else:
        assert problems(tmp_path, text)
