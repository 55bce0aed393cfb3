"""Golden cases and other records in JSON Lines: the same as in YAML, every value with its place."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.io.source import Source

from .files import DESIGN, load, problems
from .test_jsonl import JSON

NAME = "shop.golden.jsonl"


HEADER = '{"metrics": ["recall@5"]}\n'


CASE = '{"id": "a", "query": "Q"}\n'


def as_lines(text: str) -> str:
    """The same golden file as JSON Lines."""
    raw = yaml.safe_load(text)
    cases = raw.pop("cases")
    return "".join(json.dumps(part, default=str) + "\n" for part in (raw, *cases))


def test_it_says_the_same_as_yaml(tmp_path: Path) -> None:
    from dataclasses import replace

    lines = load(tmp_path, as_lines(DESIGN), NAME)
    whole = load(tmp_path, DESIGN)

    def without_places(suite: Any) -> Any:
        cases = tuple(replace(c, line=0, col=0) for c in suite.cases)
        gates = tuple(replace(g, line=0, col=0) for g in suite.gates)
        return replace(suite, path=Path(), cases=cases, gates=gates, line=0)

    assert without_places(lines) == without_places(whole)
    assert [(c.line, c.col) for c in lines.cases] == [(2, 1), (3, 1), (4, 1)]
    assert {g.line for g in lines.gates} == {1}


def test_the_first_line_about_the_file_may_be_left_out(tmp_path: Path) -> None:
    suite = load(tmp_path, "\n" + CASE + "  \n" + '{"id": "b", "query": "é\u2028"}', NAME)
    assert [(c.id, c.line, c.sample.query) for c in suite.cases] == [("a", 2, "Q"), ("b", 4, "é\u2028")]
    assert suite.name == "shop"


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    suite = load(tmp_path, b"\xef\xbb\xbf" + (HEADER + CASE).replace("\n", "\r\n").encode(), NAME)
    assert [(c.id, c.line) for c in suite.cases] == [("a", 2)]


WRONG = {
    "empty": ("", ["is empty"]),
    "blank": ("\n \n", ["is empty"]),
    "no cases": (HEADER, ["there are no cases"]),
    "no JSON": (CASE + "{'id': 'b'}\n", ["2:2: not JSON: Expecting property name enclosed in double quotes"]),
    "a conflict": (CASE + "<<<<<<< HEAD\n=======\n>>>>>>> b", [f"{n}:1: merge-conflict markers" for n in (2, 3, 4)]),
    "cut off": (CASE + '{"id": "b", "query": "Q"', ["2:25: not JSON: Expecting ',' delimiter"]),
    "two on a line": ('{"id": "a", "query": "Q"} {"id": "b"}', ["1:27: not JSON: Extra data"]),
    "a list": (CASE + "[1]\n", ["2:1: expected a mapping on each line, got a list"]),
    "a text": (CASE + '"b"\n', ["2:1: expected a mapping on each line, got 'b'"]),
    "NaN": (CASE + '{"id": "b", "query": "Q", "metadata": {"x": NaN}}', ["2:1: cannot be read: NaN is no JSON number"]),
    "key twice": ('{"id": "a", "query": "Q", "metadata": {"x": 1, "x": 2}}', ["1:48: 'x' is given twice"]),
    "key twice, far too deep": ('{"a": {"x": 1, "x": 2}, "b": ' + "[" * 100_000, ["1:1: lists and mappings nest"]),
    "key twice, half a character": ('{"x": "\\ud83d", "x": 1}', ["1:1: cannot be read: '\\ud83d' is", "1:17: 'x' is"]),
    "id twice": (CASE + CASE, ["2:8: id 'a' is already taken by the case on line 1"]),
    "slip": (CASE + ' {"id": "b", "query": "Q", "tgas": "x"}', ["2:28: unknown key 'tgas' (did you mean 'tags' or"]),
    "deep place": (
        '{"id": "a", "query": "Q", "relevant_docs": ["p", {"id": "q", "grade": -2}]}',
        ["1:71: grade: expected a whole number from -1 to 100, got `-2`"],
    ),
    "metric": ('{"metrics": ["recal@5"]}\n' + CASE, ["1:14: unknown metric 'recal@5'"]),
    "threshold": ('{"thresholds": {"recall@5": 80}}\n' + CASE, ["1:29: recall@5 is from 0 to 1"]),
    "header with cases": ('{"cases": []}\n' + CASE, ["1:2: unknown key 'cases'"]),
    "number as id": ('{"id": 12, "query": "Q"}', ['1:8: id: expected text, got `12`, which is read as a whole number']),
    "null": ('{"id": "a", "query": null}', ["1:22: query: has no value"]),
    "half a character": ('{"id": "a", "query": "\\ud83d"}', ["1:1: cannot be read: '\\ud83d' is half a character"]),
    "too deep": (CASE + '{"id": "b", "query": ' + "[" * 200 + "]" * 200 + "}", ["2:1: lists and mappings nest"]),
    "far too deep": (CASE + "[" * 100_000, ["2:1: lists and mappings nest more than 100 deep"]),
    "no end of digits": ('{"id": "a", "query": ' + "1" * 5000 + "}", ["1:1: cannot be read: Exceeds the limit"]),
    "two at once": ('{"id": "a"}\n{"query": "Q"}\n', ["1:1: a case has no query", "2:1: a case has no id"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_has_its_place(tmp_path: Path, name: str) -> None:
    text, told = WRONG[name]
    got = problems(tmp_path, text, NAME)
    assert len(got) == len(told)
    assert all(part in line for line, part in zip(got, told, strict=True)), got


def test_a_pair_of_escapes_is_one_character(tmp_path: Path) -> None:
    suite = load(tmp_path, '{"id": "a", "query": "\\ud83d\\ude00 \\\\ud800"}', NAME)
    assert suite.cases[0].sample.query == "😀 \\ud800"


@given(
    st.dictionaries(st.text(max_size=4), JSON, max_size=4),
    st.booleans(),
    st.sampled_from([None, (" , ", " : "), (",", ":")]),
)
def test_every_value_is_found_again_in_the_text(value: dict[str, Any], escaped: bool, separators: Any) -> None:
    from pytest_auepora.io.json_lines import load_lines

    line = json.dumps(value, ensure_ascii=escaped, separators=separators)
    source = Source("x", f"\n  {line}\n")
    ((number, made),) = load_lines(source).items()
    assert (number, made) == (1, value)

    def check(holder: Any, path: tuple[Any, ...]) -> None:
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            row, col = source.position((*path, key))
            assert row == 2
            decoded, _ = json.JSONDecoder().raw_decode(source.lines[1], col - 1)
            assert decoded == holder[key]
            if isinstance(holder, dict):
                _, col = source.position((*path, key), on_key=True)
                assert json.JSONDecoder().raw_decode(source.lines[1], col - 1)[0] == key
            if isinstance(holder[key], (dict, list)):
                check(holder[key], (*path, key))

    check(made, (1,))


def test_a_long_line_is_complained_of_in_little_memory(tmp_path: Path) -> None:
    text = '{"id": "a", "query": "q", "matcch": "word", "reference_answer": "%s"}' % ("x\\n" * 500_000)
    tracemalloc.start()
    got = problems(tmp_path, text, NAME)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "'matcch'" in got[0]
    assert peak < 12 * len(text)
