"""Answers of the accepted run: kept by case and content, for suites that compare with them."""

from __future__ import annotations

from pathlib import Path

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.history.accepted import load_accepted, save_accepted


def run_of(**answers: str) -> Run:
    run = Run("s")
    run.add(CaseResult(name, content_hash=f"h-{name}", outputs={"answer": text}) for name, text in answers.items())
    return run


def test_accepted_answers_are_merged(tmp_path: Path) -> None:
    save_accepted(tmp_path, "s.json", run_of(a="one", b="two"), {"a", "b"})
    save_accepted(tmp_path, "s.json", run_of(a="new", b="other"), {"a"})
    assert load_accepted(tmp_path, "s.json") == {("a", "h-a"): "new", ("b", "h-b"): "two"}
    assert load_accepted(tmp_path, "t.json") == {}


def test_errors_have_no_answer_and_damage_is_no_answer(tmp_path: Path) -> None:
    run = run_of(a="one")
    run.cases["a"].state = "error"
    save_accepted(tmp_path, "s.json", run, {"a"})
    assert load_accepted(tmp_path, "s.json") == {}
    for text in ("{", "[]", '{"a": 1}'):
        (tmp_path / "accepted" / "s.json").write_text(text, encoding="utf-8")
        assert load_accepted(tmp_path, "s.json") == {}
