"""``auepora calibrate``: from people's labels to a judge that may gate, or may not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.base import progress
from pytest_auepora.base.progress import Progress
from pytest_auepora.metrics.annotation.labels import answer_hash
from pytest_auepora.regression.guards.calibration import load_calibration
from tests.unit.metrics.judge.judge_server import Reply, chat, judge_server

from .conftest import Shell


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rows(n: int = 160, *, scored: float | None = None) -> list[dict[str, Any]]:
    """Answers that are right when they say so; with *scored*, a judge that is right so often has scored them."""
    draw = random.Random(4)
    out = []
    for i in range(n):
        label = draw.random() < 0.5
        row: dict[str, Any] = {"id": f"a{i}", "query": f"q{i}", "answer": f"{'good' if label else 'poor'} {i}"}
        row |= {"evidence": ["first-text", "second-text"], "label": label}
        if scored is not None:
            row["score"] = float(label if draw.random() < scored else not label)
        out.append(row)
    return out


@pytest.fixture
def judge(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Any:
    def serve(model: str, url: str) -> None:
        monkeypatch.setenv("AUEPORA_JUDGE_URL", url)
        monkeypatch.setenv("AUEPORA_JUDGE_MODEL", model)

    return serve


def test_scores_that_are_there_are_not_asked_for_again(shell: Shell) -> None:
    write(shell.path / "labels.jsonl", rows(scored=0.95))
    said = shell("calibrate", "labels.jsonl", "--metric", "llm_faithfulness")
    assert said.code == 0
    assert said.out.startswith("llm_faithfulness: ")
    assert "160 labels" in said.out
    assert "\n  kappa              0." in said.out
    assert "(bootstrap)" in said.out
    assert "written to __calibrations__/llm_faithfulness.json" in said.err
    assert "model" in said.err
    found = load_calibration(shell.path / "__calibrations__/llm_faithfulness.json")
    assert found is not None
    assert found.gate


def test_the_folder_of_the_settings_is_written_to(shell: Shell) -> None:
    write(shell.path / "labels.jsonl", rows(scored=0.95))
    shell.write("pytest.ini", "[pytest]\nauepora_calibrations = judges\n")
    shell("calibrate", "labels.jsonl", "--metric", "llm_faithfulness")
    assert load_calibration(shell.path / "judges" / "llm_faithfulness.json") is not None


def test_a_calibration_that_cannot_be_read_is_replaced(shell: Shell) -> None:
    write(shell.path / "labels.jsonl", rows(scored=0.95))
    path = shell.path / "__calibrations__" / "llm_faithfulness.json"
    path.parent.mkdir()
    path.write_text("<<<<<<< ours", encoding="utf-8")
    said = shell("calibrate", "labels.jsonl", "--metric", "llm_faithfulness")
    assert said.code == 0
    assert "not compared" in said.err
    assert load_calibration(path) is not None


@pytest.mark.slow
def test_a_judge_is_asked_and_another_one_compared_with_it(shell: Shell, judge: Any) -> None:
    write(shell.path / "labels.jsonl", rows())

    def good(body: dict[str, Any]) -> Reply:
        return chat(json.dumps({"score": float("good" in body["messages"][0]["content"].split("<answer>")[1])}))

    def blind(body: dict[str, Any]) -> Reply:
        return chat(json.dumps({"score": float(len(body["messages"][0]["content"]) % 2)}))

    arguments = ("calibrate", "labels.jsonl", "--metric", "llm_answer_quality", "--golden", "shop.golden.yaml")
    path = shell.path / "__calibrations__/llm_answer_quality.json"
    with judge_server(answer=good) as server:
        judge("judge-1", server.url)
        assert shell(*arguments).code == 0
        assert len(server.bodies) == 160
    first = load_calibration(path)
    assert first is not None
    assert first.judge["params"]["judge"]["model"] == "judge-1"
    with judge_server(answer=blind) as server:
        judge("judge-2", server.url)
        said = shell(*arguments)
    assert said.code == 1
    assert "stays advisory: κ is" in said.out
    told = " ".join(said.out.split())
    assert "160 items: " in told
    assert "worse (" in told
    assert "0.0000" in told
    second = load_calibration(path)
    assert second is not None
    assert "judge-1" in str(second.mismatch(first.judge))


def test_what_asking_costs_is_told(shell: Shell, judge: Any) -> None:
    write(shell.path / "labels.jsonl", rows(30))
    with judge_server(chat("1")) as server:
        settings = f"url: {server.url}\nmodel: j\nprices: {{input: 10, output: 100}}\n"
        (shell.path / "judge.yaml").write_text(settings, encoding="utf-8")
        (shell.path / "pytest.ini").write_text("[pytest]\nauepora_judge = judge.yaml\n", encoding="utf-8")
        said = shell("calibrate", "labels.jsonl", "--metric", "llm_faithfulness", "--dry-run")
    assert "judge: 30 requests, 3,000 + 300 tokens, cost 0.06" in said.err
    with judge_server(chat("1")) as server:
        settings = f"url: {server.url}\nmodel: j\nconcurrency: 1\nbudget: {{requests: 12}}\n"
        (shell.path / "judge.yaml").write_text(settings, encoding="utf-8")
        said = shell("calibrate", "labels.jsonl", "--metric", "llm_faithfulness", "--dry-run")
    assert said.code == 3
    assert "judge: 12 requests, 1,200 + 120 tokens" in said.err
    assert "requests 12 of 12" in said.err


def test_a_bar_counts_what_the_judge_is_asked(shell: Shell, judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr(Progress, "done", lambda _, more=1: counted.append(more))
    write(shell.path / "labels.jsonl", rows(10, scored=1.0)[:4] + rows(10)[4:])
    asked = ("calibrate", "labels.jsonl", "--metric=llm_faithfulness", "--dry-run")
    with judge_server(chat("1")) as server:
        judge("judge-1", server.url)
        assert "/6" not in shell(*asked).err
        monkeypatch.setattr(progress, "is_watched", lambda: True)
        counted.clear()
        assert "| 0/6 [" in shell(*asked).err
        assert sum(counted) == 6
        assert "| 0/10 [" in shell(*asked, "--ask").err
    write(shell.path / "labels.jsonl", rows(6, scored=1.0))
    assert "questions" not in shell("calibrate", "labels.jsonl", "--metric=llm_faithfulness").err


def test_unreadable_replies_are_counted_and_an_outage_stops(
    shell: Shell, judge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(shell.path / "labels.jsonl", rows(20))
    answers = iter([chat('{"score": 1', finish="length"), *[chat("1")] * 30])
    with judge_server(answer=lambda _: next(answers)) as server:
        judge("judge-1", server.url)
        said = shell("calibrate", "labels.jsonl", "--metric=llm_answer_quality", "--dry-run", "--json")
    assert json.loads(said.out)["figures"]["parse failures"]["value"] == 0.05
    with judge_server(Reply({"error": "no"}, status=401)) as server:
        judge("judge-1", server.url)
        said = shell("calibrate", "labels.jsonl", "--metric=llm_answer_quality")
    assert said.code == 3
    assert "401" in said.err
    assert not (shell.path / "__calibrations__").exists()


def test_answers_and_scores_of_a_run_that_was_kept(shell: Shell, judge: Any) -> None:
    golden = shell.path / "shop.golden.yaml"
    golden.write_text(golden.read_text(encoding="utf-8").replace("metrics: [", "metrics: [llm_answer_quality, "))
    with judge_server(chat("0.9")) as server:
        judge("judge-1", server.url)
        assert shell("score", "outputs.jsonl", "--golden=shop.golden.yaml", "--save").code == 0
        asked = len(server.bodies)
        hashed = answer_hash("24 months")
        write(
            shell.path / "labels.jsonl",
            [{"case": "refund-window", "label": 1}, {"case": "warranty", "label": 1, "answer_hash": hashed}],
        )
        said = shell("calibrate", "labels.jsonl", "--golden=shop.golden.yaml", "--run=last", "--json")
        assert len(server.bodies) == asked
    made = json.loads(said.out)
    assert made["metric"] == "llm_answer_quality"
    assert made["labels"] == {"1": "yes yes", "2": "yes yes"}
    assert made["judge"]["params"]["judge"]["model"] == "judge-1"
    write(shell.path / "labels.jsonl", [{"case": "warranty", "label": 1, "answer_hash": "0" * 16}])
    said = shell("calibrate", "labels.jsonl", "--golden=shop.golden.yaml", "--run=last")
    assert said.code == 3
    assert "labelled" in said.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "which judge?"),
        (("--metric=recall@5",), 2, "recall@5 is not scored by an LLM judge"),
        (("--metric=llm_faithfullness",), 3, "did you mean 'llm_faithfulness'"),
        (("--golden=shop.golden.yaml",), 2, "no judged metric"),
        (("--metric=llm_faithfulness", "--threshold=best"), 2, "--threshold: invalid float value: 'best'"),
        (("--metric=llm_faithfulness", "--run=last"), 2, "no"),
    ],
)
def test_what_cannot_be_done_is_said(shell: Shell, arguments: tuple[str, ...], code: int, said: str) -> None:
    write(shell.path / "labels.jsonl", rows(30, scored=1.0))
    result = shell("calibrate", "labels.jsonl", *arguments)
    assert result.code == code
    assert said in result.err
    assert "Traceback" not in result.err


def test_scores_of_another_model_are_refused(shell: Shell, judge: Any) -> None:
    write(shell.path / "labels.jsonl", [{**row, "model": "judge-0"} for row in rows(30, scored=1.0)])
    judge("judge-1", "http://127.0.0.1:9/v1")
    said = shell("calibrate", "labels.jsonl", "--metric=llm_faithfulness")
    assert said.code == 2
    assert "judge-0" in said.err


def test_without_a_score_or_an_answer_there_is_nothing_to_ask(shell: Shell) -> None:
    write(shell.path / "labels.jsonl", [{"label": True}])
    said = shell("calibrate", "labels.jsonl", "--metric=llm_faithfulness")
    assert said.code == 3
    assert "line 1:" in said.err
