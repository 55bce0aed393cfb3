"""Cases read without YAML's parser are those the parser gives, values, places and complaints alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden.source import Source
from pytest_auepora.io.yaml import file as yaml_file
from pytest_auepora.io.yaml.file import load_yaml
from pytest_auepora.io.yaml.plain import NeedsWhole, PlainLines
from tests.benchmarks.golden_loading import golden_text

from .test_yaml_events import same


def by_parser(source: Source) -> Any:
    """Load it as if no text could be read case by case."""

    def never(source: Source, parse: Any) -> Any:
        raise NeedsWhole

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_file, "read_cases", never)
        return load_yaml(source)


def loaded(text: str, load: Callable[[Source], Any]) -> tuple[Any, list[Any], list[str]]:
    """Return the value, the places of everything in it, and what was complained about."""
    source = Source("x.yaml", text)
    try:
        value = load(source)
    except GoldenFileError as exc:
        return None, [], [str(exc)]
    shallow = [source.at(value), *(source.at(case) for case in cases_of(value))]
    return value, [shallow, *places(value, source)], list(map(str, source.problems))


def cases_of(value: Any) -> list[Any]:
    cases = value.get("cases") if isinstance(value, dict) else None
    return [case for case in cases if isinstance(case, (dict, list))] if isinstance(cases, list) else []


def places(value: Any, source: Source) -> list[Any]:
    if not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else range(len(value))
    out: list[Any] = [source.at(value)]
    for key in keys:
        out += [source.at(value, key), source.at(value, key, on_key=True), *places(value[key], source)]
    return out


def check(text: str) -> None:
    value, where, told = loaded(text, load_yaml)
    expected, expected_where, expected_told = loaded(text, by_parser)
    assert told == expected_told
    assert same(value, expected)
    assert where == expected_where


VALUES = st.sampled_from(
    [
        "refund", "12", "007", "1_000", "1.5", "1e3", "yes", "n", "null", "~", "2024-02-03", "2024-99-99", "12:30:45",
        ".inf", "...", "---", "a b  c ", "a: b", "a:b", "a:", "a :", "a #b", "a#b", "# b", "é", "日本", "\u200b", "😀",
        "\xa0", "\x85", "\u2028", "\ufeff", "\t", "a\tb", "\x01", "$5 (five)?", "/a", "-", "- a", "? a", "@a", "%a",
        "`a", "&a b", "*a", "!a b", "!!str 1", "<<", "=", "|", "|+", ">-", '"a"', '"a: #b"', '"a', '"a" b', '"a\\n"',
        '""', '" "', "'a'", "'it''s'", "''", "'a", "[]", "[ ]", "[a, b]", "[a , 12,no]", "[a,]", "[,]", "[a", "a]",
        "[a: b]", "[a #b]", '["a, b", c]', '["a" b]', "['a']", "[a, {id: b, grade: 2}]", "[{id: a}, {id: a}]",
        "[{a: 1, a: 2}]", "[{a: 1,}]", "[{a: }]", "[{a}]", "[[a]]", "[a?b]", "[?a]", "[a-b, -a]", "[2024-99-99]", "{}",
        "{a: 1}", "{a: 1, a: 2}", "{a@5: 0.8, b: x}", "{<<: a}", "{1: a, yes: b}", "{a:1}", "{a: 1", "",
    ]
)  # fmt: skip
KEYS = st.sampled_from(["id", "query", "tags", "on", "y", "12", "_a", "é", "'q'", "<<", "a b", "x-y", "? a"])
ENDS = st.sampled_from(
    ["\n"] * 12
    + ["\n\n", "\n    \n", " \n", " # c\n", "\n# c\n", "\n    # c\n", "\r\n", "\n      d\n", "\n    d\n", "\n  d\n",
       "\nd\n", "\nd: e\n", "\n      - a\n      - b\n", "\n...\n", "\n---\n", "\n  - f", "\n  -\n", "\n  - '\n",
       '\n  - "\n', "\n - a\n", ""]
)  # fmt: skip
LINES = st.builds("{}: {}{}".format, KEYS, VALUES, ENDS)
CASES = st.lists(LINES, min_size=1, max_size=4).map(lambda lines: "  - " + "    ".join(lines))
HEADS = st.sampled_from(
    ["cases:\n"] * 6
    + ["cases:   # c\n\n  # d\n", "top: 1\nm: {a: 1}\ncases:\n", "x: &a 1\ncases:\n", "x: '\ncases:\n", "cases: |\n",
       "x: |\n  a\ncases:\n", "cases: 1\n", "cases: []\n", "cases:\n  - a: 1\ncases:\n", "%YAML 1.1\n---\ncases:\n",
       "a: 1\n...\ncases:\n", "a: 1\na: 2\ncases:\n", "- a\ncases:\n",
       "# c\nsuite: a b\n\nmetrics: [a@5, 'x']\ntags: [a, 1, no]\ncases: # d\n# e\n", "on: 1.50\ncases:\n",
       "a: 0\na: 1\ncases:\n", "cases: 1\na: b\ncases:\n", "a: b\n # c\ncases:\n", "# \x01\na: b\ncases:\n",
       "a: b\ncases: # \x01\n", "a: b\n  c\ncases:\n", "a: 2024-99-99\ncases:\n", "a: {b: 1}\ncases:\n",
       "a: [{b: 1}, 2]\ncases:\n", "\na: b\n\n\ncases:\n", "  \na: b\ncases:\n", "a: b\x85c: d\ncases:\n"]
)  # fmt: skip


@given(HEADS, st.lists(CASES, max_size=4).map("".join), st.sampled_from(["  ", "", "    "]))
@settings(deadline=None, max_examples=400)
@example("cases:\n", "  - a: 'x\n  - id: y\n  - b: z'\n", "  ")
@example("cases:\n", "  - id: a\n    query: |\n      b\n\n\n  - id: c\n", "  ")
@example("cases:\n", "  - id: a\n    query: |\n      b", "  ")
@example("cases:\n", "  - id: a\n    query: [b,\n  - id: c\n", "  ")
@example("cases:\n", "  - - a\n    - b\n  - c\n  - [d]\n  - id: e\n", "  ")
@example("cases:\n", "  - id: a\n    query: b\n      c\n", "  ")
@example("cases:\n", "  - id: a\n    q: &x [1]\n  - id: b\n    q: *x\n", "  ")
def test_it_is_what_the_parser_reads(head: str, cases: str, indent: str) -> None:
    check(head + cases.replace("\n  ", "\n" + indent).replace("  - ", indent + "- ", 1))


LETTERS = st.characters(exclude_categories=["Cs"])


@given(st.text(LETTERS, max_size=12), st.sampled_from(["{}", '"{}"', "'{}'", "[{}]", "[{}, a]", "{{a: {}}}"]))
@settings(deadline=None, max_examples=300)
@example("\r", '"{}"')
@example("\r\n", "{}")
def test_any_letters_at_all(letters: str, form: str) -> None:
    check(f"cases:\n- id: a\n  query: {form.format(letters)}\n- id: b\n")


ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8)


FORMS = ("{}", "a{}", '"{}"', "'{}'", "[a{}]", '["{}"]', "[{{a: b{}}}]", "{{a: {}}}", "{{a{}: b}}")


@given(ASCII, st.sampled_from(FORMS))
@settings(deadline=None, max_examples=400)
def test_any_signs_at_all(signs: str, form: str) -> None:
    check(f"cases:\n  - id: a\n    query: {form.format(signs)}\n  - id: b\n")


def test_plain_cases_need_no_parser(parser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    parse = yaml_file._parse

    def noted(source: Source, *how: int) -> Any:
        read.append(source.text)
        return parse(source, *how)

    monkeypatch.setattr(yaml_file, "_parse", noted)
    text = golden_text(5)
    odd = "  - id: odd\n    query: >-\n      folded\n      text\n"
    value = load_yaml(Source("x", text + odd + "  - id: last\n    query: q\n"))
    assert read == [text[: text.index("  - id")], odd]
    read.clear()
    load_yaml(Source("x", text.replace("thresholds: {recall@5: 0.8}\n", "# as plain as can be\n")))
    assert read == []
    assert [case["id"] for case in value["cases"][-3:]] == ["case-4", "odd", "last"]


def test_a_head_with_mappings_is_the_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The places of thresholds are asked for in every run: to find them the whole text would be read again."""
    source = Source("x", golden_text(2))
    value = load_yaml(source)
    monkeypatch.setattr(yaml_file, "_parse", None)
    assert source.at(value["thresholds"], "recall@5", on_key=True) == (3, 14)


def test_a_case_with_one_line_that_is_not_plain_is_not_read_at_all() -> None:
    lines = PlainLines(Source("x", "- id: a\n  b: 'c'\n- id: a\n  b: |\n    c\n- id: d\n"), 0)
    case, after = lines.case(0) or ({}, 0)
    assert case == {"id": "a", "b": "c"}
    assert lines.case(after) is None
