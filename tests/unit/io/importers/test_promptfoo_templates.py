"""Templates of promptfoo are rendered, or what holds them is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportProblem
from pytest_auepora.io.importers.promptfoo_templates import NotRenderedError, Variables

from .test_files import imported

VARIABLES = {
    "a": "x", "n": 4711, "yes": True, "price": 9.50, "big": 1e3, "none": None, "list": ["p", "q"],
    "deep": {"k": {"l": "z"}}, "over": "{{a}}-{{n}}", "loop": "{{pool}}", "pool": "{{loop}}", "file": "file://x.txt",
    "filter": "{{ a | upper }}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{a}} and {{ n }}", "x and 4711"), ("{{yes}}", "true"), ("{{price}} {{big}}", "9.5 1000"), ("{{none}}|", "|"),
        ("{{list}} {{list[1]}}", "p,q q"), ("{{deep.k.l}}", "z"), ("{{over}}", "x-4711"), ("a } b {c}", "a } b {c}"),
        ("{% raw %}{{a}}{% endraw %}", "{{a}}"),
    ],
)  # fmt: skip
def test_references_to_variables_are_rendered(template: str, text: str) -> None:
    assert Variables(VARIABLES).render(template) == text


@pytest.mark.parametrize(
    "template",
    [
        "{{missing}}", "{{ a | upper }}", "{% if a %}x{% endif %}", "{{loop}}", "{{file}}", "file://a.txt",
        "{{filter}}", "package:x", "{{deep}}", "{{deep.x}}", "{{list[7]}}", "{{env.KEY}}", "{{ a", "{# c #}",
        ["{{a}}", "{{missing}}"], {"k": "{{missing}}"},
    ],
)  # fmt: skip
def test_what_only_promptfoo_can_render_is_refused(template: Any) -> None:
    with pytest.raises(NotRenderedError):
        Variables(VARIABLES).render(template)


def test_variables_that_blow_up_end() -> None:
    laughs = {"a0": "ha" * 50, **{f"a{i}": f"{{{{a{i - 1}}}}}" * 50 for i in range(1, 5)}}
    with pytest.raises(NotRenderedError):
        Variables(laughs).render("{{a4}}")


def test_a_leak_that_a_variable_names_is_looked_for(tmp_path: Path) -> None:
    suite = imported(tmp_path, "promptfoo", {
        "defaultTest": {"assert": [{"type": "not-icontains", "value": "{{secret}}"},
                                   {"type": "llm-rubric", "value": "answers {{question}}"}]},
        "tests": [{"vars": {"question": "Who am {{who}}?", "secret": 4711, "who": "I"}}],
    })  # fmt: skip
    (case,) = suite.cases
    assert (case["query"], case["forbidden"], case["rubric"]) == ("Who am I?", ["4711"], ["answers Who am I?"])
    assert suite.dropped == []


def test_what_cannot_be_rendered_is_counted(tmp_path: Path) -> None:
    suite = imported(tmp_path, "promptfoo", [
        {"vars": {"q": "Why?", "ctx": "file://c.txt"}, "description": "{{ q | upper }}", "assert": [
            {"type": "equals", "value": "{{ ctx }}"}, {"type": "contains", "value": "file://a.txt"}]},
        {"vars": {"q": "file://q.txt"}},
        {"vars": "file://vars.yaml", "assert": "file://asserts.yaml"},
    ])  # fmt: skip
    assert suite.cases == [{"id": "why", "query": "Why?", "metadata": {"promptfoo": {"query": "q"}}}]
    assert len(suite.dropped) == 7


def test_a_list_stands_for_a_test_of_each_value(tmp_path: Path) -> None:
    tests = [
        {"vars": {"q": ["Why?", "How?"], "lang": ["de", "en"]}, "assert": [{"type": "contains", "value": "{{lang}}"}]}
    ]
    suite = imported(tmp_path, "promptfoo", tests)
    assert [(case["query"], case["must_contain"]) for case in suite.cases] == [
        ("Why?", ["de"]), ("Why?", ["en"]), ("How?", ["de"]), ("How?", ["en"])
    ]  # fmt: skip
    tests[0]["options"] = {"disableVarExpansion": True}
    assert [case["must_contain"] for case in imported(tmp_path, "promptfoo", tests).cases] == [["de,en"]]


def test_lists_that_blow_up_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match=r"test 1 stands for 1,000,000 tests"):
        imported(tmp_path, "promptfoo", [{"vars": {name: ["x"] * 100 for name in "abc"}}])


@pytest.mark.parametrize(("value", "query"), [(12, "12"), (True, "true"), (1e3, "1000")])
def test_a_question_that_is_no_text_becomes_one(tmp_path: Path, value: Any, query: str) -> None:
    assert imported(tmp_path, "promptfoo", [{"vars": {"q": value}}]).cases[0]["query"] == query


def test_braces_of_a_golden_file_come_back(tmp_path: Path) -> None:
    path, case = (
        tmp_path / "a.yaml",
        {"id": "a", "query": "What is {{ x }}?", "must_contain": ["{{"], "match": "substring"},
    )
    suite = imported(tmp_path, "csv", "query\nQ\n", "a.csv")
    suite.cases[:] = [case]
    export_cases(suite, path, "promptfoo")
    assert import_cases(path, "promptfoo").cases == [case]
