"""Tests of promptfoo: assertions that become keys, and those that do not."""

from __future__ import annotations

from pathlib import Path

import yaml

from .test_files import imported


def test_promptfoo(tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text(yaml.safe_dump([{"vars": {"q": "More?"}}]), encoding="utf-8")
    suite = imported(tmp_path, "promptfoo", {
        "prompts": ["{{q}}"], "providers": ["x"],
        "defaultTest": {"vars": {"lang": "en"}, "assert": [{"type": "latency", "threshold": 2000}]},
        "tests": [
            {"vars": {"q": "Why?"}, "threshold": 0.5, "assert": [
                {"type": "contains", "value": "So", "weight": 2}, {"type": "contains-any", "value": ["a.b", "c"]},
                {"type": "not-contains-all", "value": "d, e"}, {"type": "llm-rubric", "value": "is nice"},
                {"type": "g-eval", "value": "is kind"}]},
            {"vars": {"a": "1", "b": "2"}},
            "file://more.yaml",
            "https://docs.example/sheet",
        ],
    })  # fmt: skip
    first, second = suite.cases
    assert first["must_contain"] == ["(?i)So", r"(?i)a\.b|c"]
    assert (first["forbidden"], first["match"]) == ([r"(?s)\A(?=.*d)(?=.*e)"], "regex")
    assert first["metadata"] == {"promptfoo": {"query": "q", "vars": {"lang": "en"}}}
    assert first["rubric"] == ["is nice"]
    assert second["query"] == "More?"
    told = " ".join(suite.dropped)
    for what in ("prompts of the config", "the assertion latency (2 times)", "weight of an assertion", "g-eval",
                 "letters count as upper or lower", "threshold of a test",
                 "a test without one of the variables query", "tests from https:"):  # fmt: skip
        assert what in told, what


def test_results_are_tests_and_recorded_answers(tmp_path: Path) -> None:
    """As ``promptfoo eval -o`` writes them: one a test, prompt and provider."""
    test = {"vars": {"q": "Why?"}, "assert": [{"type": "contains", "value": "so"}]}
    other = {"vars": {"q": "When?"}, "assert": []}
    results = [
        {"testIdx": 0, "promptIdx": 0, "vars": {"q": "Why?"}, "testCase": test, "response": {"output": "Just so."}},
        {"testIdx": 0, "promptIdx": 1, "vars": {"q": "Why?"}, "testCase": test, "response": {"output": "No."}},
        {"testIdx": 1, "promptIdx": 0, "vars": {"q": "When?"}, "testCase": other, "response": {"output": {"day": 1}}},
        {"testIdx": 2, "promptIdx": 0, "vars": {"q": "Who?"}, "testCase": {}, "error": "timeout"},
    ]
    suite = imported(tmp_path, "promptfoo", {"evalId": "x", "results": {"version": 3, "results": results}})
    assert [(case["query"], case.get("must_contain")) for case in suite.cases] == [
        ("Why?", ["so"]), ("When?", None), ("Who?", None)
    ]  # fmt: skip
    assert [(answer["id"], answer["answer"]) for answer in suite.answers] == [
        ("why", "Just so."),
        ("when", '{"day": 1}'),
    ]
