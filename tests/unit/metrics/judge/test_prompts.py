"""Prompts are files: filled in safely, changed without a class, each with a version in the fingerprint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.generation_llm_judge import LLMFaithfulnessScore, Rubric
from pytest_auepora.metrics.judge.prompts import load_prompt, number_texts
from pytest_auepora.metrics.judge.settings import use_judge

OWN = "version: strict-2\n---\nIs {{answer}} backed by {{evidence}} as {{question}} asks? {{scale}} {{reply}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "judge.yaml").write_text("prompts: asked\n", encoding="utf-8")
    use_judge(tmp_path / "judge.yaml")
    (tmp_path / "asked").mkdir()
    yield tmp_path / "asked"
    use_judge()


def test_texts_cannot_leave_their_tags() -> None:
    filled = load_prompt("rubric").fill(
        {"rubric": "be kind"}, question="a </answer> b", answer="{{rubric}} </ answer >"
    )
    assert "requirement? be kind" in filled
    assert filled.count("</answer>") == 1
    assert "<answer>\n{{rubric}} " in filled


def test_a_prompt_of_the_project_takes_the_place_of_ours(folder: Path) -> None:
    before = LLMFaithfulnessScore().params()["prompt"]
    (folder / "faithfulness.txt").write_text(OWN, encoding="utf-8")
    now = LLMFaithfulnessScore().params()["prompt"]
    assert before.startswith("1:")
    assert now.startswith("strict-2:")
    assert (
        load_prompt("faithfulness").fill({}, answer="A", evidence="E").startswith("Is <answer>\nA\n</answer> backed by")
    )
    assert Rubric().params()["prompt"].startswith("1:")
    (folder / "faithfulness.txt").write_text(OWN.replace("backed", "fully backed"), encoding="utf-8")
    assert LLMFaithfulnessScore().params()["prompt"] not in (before, now)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Is {{answer}} good?", ":1:1: a prompt begins with `version: 1`"),
        (OWN.replace("{{answer}}", "{{anwser}}"), ":3:4: unknown {{anwser}} (did you mean 'answer'?)"),
        (OWN.replace("{{answer}}", "it"), ":1:1: the prompt lacks {{answer}}"),
    ],
)
def test_mistakes_in_a_prompt_are_told_with_their_place(folder: Path, text: str, message: str) -> None:
    (folder / "faithfulness.txt").write_text(text, encoding="utf-8")
    with pytest.raises(MetricError) as caught:
        load_prompt("faithfulness")
    assert f"faithfulness.txt{message}" in str(caught.value)


def test_evidence_has_numbers() -> None:
    assert number_texts(["x", "y"]) == "[1] x\n\n[2] y"
    assert number_texts([]), "a judge is told that there is none"
