"""Recorded outputs, scored and judged without a call."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.api.recorded import score_recorded
from pytest_auepora.base import progress
from pytest_auepora.cli import score
from pytest_auepora.core.findings import Answers
from pytest_auepora.errors import UnsendableError
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import baseline_path
from tests.unit.metrics.judge.judge_server import GOOD, judge_server

from .conftest import BAD, OUTPUTS, Shell

GOLDEN = "--golden=shop.golden.yaml"


def test_it_writes_the_two_specified_files(shell: Shell) -> None:
    said = shell("score", "outputs.jsonl", GOLDEN, "--out", "made/here")
    assert (said.code, said.err) == (0, "")
    rows = list(csv.DictReader((shell.path / "made/here/metrics.csv").read_text(encoding="utf-8").splitlines()))
    first = ["id", "p_at_5", "p_at_10", "ndcg_10", "mrr_10", "cov_entities", "p50_ms", "p95_ms", "errors", "retries"]
    assert list(rows[0])[:11] == [*first, "privacy_leak"]
    assert [r["id"] for r in rows] == ["refund-window", "warranty", "ceo-salary"]
    assert (rows[0]["p_at_5"], rows[0]["mrr_10"], rows[0]["p50_ms"], rows[0]["errors"]) == (
        "0.2000",
        "1.0000",
        "250.0",
        "0",
    )
    assert rows[2]["mrr_10"] == rows[2]["p50_ms"] == ""  # not measured is no 0
    totals = json.loads((shell.path / "made/here/summary.json").read_text(encoding="utf-8"))
    assert totals["version"] == "v0"
    assert totals["quality"]["p@5"] == 0.2
    assert totals["quality"]["ndcg@10"] == 1.0
    assert totals["operational"] == {"p50_ms": 250.0, "p95_ms": 750.0, "error_rate": 0.0}
    assert totals["privacy"] == {"leak_rate": None}


def test_fields_of_an_orchestration_layer(shell: Shell) -> None:
    fields = {
        "timings": {"parse_ms": 5, "retrieval_ms": 120, "synthesis_ms": 80, "total_ms": 220},
        "retry": {"attempts": 2, "last_reason": "429"},
    }
    shell("score", shell.outputs(OUTPUTS[0] | fields), GOLDEN)
    row = next(csv.DictReader((shell.path / "out/metrics.csv").read_text(encoding="utf-8").splitlines()))
    assert (row["p50_ms"], row["retries"]) == ("220.0", "1.0000")


def test_what_names_a_request_stays_with_its_answer(shell: Shell) -> None:
    request = {"request_id": "r-1", "adapter": "slack", "surface": "=dm"}
    shell("score", shell.outputs(OUTPUTS[0] | request), GOLDEN, "--save")
    for row_text in ((shell.path / "out/metrics.csv").read_text(encoding="utf-8"),
                     shell("report", "last", "--format", "csv").out):  # fmt: skip
        row = next(csv.DictReader(row_text.splitlines()))
        assert (row["request_id"], row["adapter"], row["surface"]) == ("r-1", "slack", "'=dm")
    cases = json.loads(shell("report", "last", "--format", "json").out)["suites"][0]["run"]["cases"]
    outputs = cases["refund-window"]["texts"]["outputs"]
    assert {key: outputs[key] for key in request} == request


def test_the_files_lie_in_out_unless_told_otherwise(shell: Shell) -> None:
    shell("score", "outputs.jsonl", GOLDEN)
    assert sorted(p.name for p in (shell.path / "out").iterdir()) == ["metrics.csv", "summary.json"]


def test_a_missed_threshold_fails(shell: Shell) -> None:
    said = shell("score", shell.outputs(BAD), GOLDEN)
    assert said.code == 1
    assert "recall@3             0.500  2/3  ✗ >= 0.9" in said.out


def test_a_recorded_error_is_an_error(shell: Shell) -> None:
    said = shell("score", shell.outputs({"id": "warranty", "error": "TimeoutError: 30 s"}), GOLDEN, "--json")
    assert said.code == 1
    case = json.loads(said.out)["suites"][0]["run"]["cases"]["warranty"]
    assert case["state"] == "error"
    assert case["error"].splitlines()[0] == "RecordedError: TimeoutError: 30 s"


def test_an_answer_nobody_can_read_is_an_error_too(shell: Shell) -> None:
    said = shell("score", shell.outputs({"id": "warranty", "anwser": "24 months"}), GOLDEN)
    assert said.code == 1
    assert "'answer'" in " ".join(said.out.split())


def test_a_missing_output_leaves_the_suite_unjudged(shell: Shell) -> None:
    said = shell("score", shell.outputs(without="warranty"), GOLDEN)
    assert said.code == 3
    assert "warranty" in said.out


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"answer": "x"}', "outputs.jsonl:4:1: no id"),
        (
            '{"id": "waranty", "answer": "x"}',
            "outputs.jsonl:4:8: shop.golden.yaml has no case 'waranty' (did",
        ),
        ('{"id": "warranty", "answer": "x"}', "outputs.jsonl:4:8: 'warranty' is there twice"),
        ("{", "outputs.jsonl:4:"),
    ],
)
def test_a_bad_line_is_told_with_its_place(shell: Shell, line: str, complaint: str) -> None:
    path = shell.path / "outputs.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    said = shell("score", "outputs.jsonl", GOLDEN)
    assert said.code == 3
    assert complaint in said.err
    assert not (shell.path / "out").exists()


def test_an_expected_failure_fails_nothing(shell: Shell) -> None:
    golden = shell.path / "shop.golden.yaml"
    text = golden.read_text(encoding="utf-8").replace("  - id: warranty\n", "  - id: warranty\n    xfail: known gap\n")
    shell.write("shop.golden.yaml", text.replace("cases:", "case_thresholds: {token_f1: 0.5}\ncases:"))
    said = shell("score", shell.outputs({**OUTPUTS[1], "answer": "Perhaps a year."}), GOLDEN)
    assert (said.code, "1 expected" in said.out) == (0, True)


def test_an_empty_file_is_not_green(shell: Shell) -> None:
    shell.write("outputs.jsonl", "\n")
    said = shell("score", "outputs.jsonl", GOLDEN)
    assert (said.code, said.err) == (3, "auepora: outputs.jsonl: is empty\n")


def accept_steady(shell: Shell) -> None:
    """Accept the outputs as an update does whose system says the same when it is asked again."""
    golden = shell.path / "shop.golden.yaml"
    answers = {one["id"]: one for one in OUTPUTS}
    run = evaluate(golden, lambda sample: answers[sample.sample_id]).run
    for case in run.cases.values():
        case.answers = Answers.of([case.as_answer()] * 2)
    accept(baseline_path(golden, "shop", ""), run, Acceptance({"all"}))


def test_a_baseline_is_held_against_it(shell: Shell) -> None:
    accept_steady(shell)
    assert shell("score", "outputs.jsonl", GOLDEN, "--require-baseline").code == 0
    worse = shell("score", shell.outputs({**OUTPUTS[1], "answer": "Perhaps a year."}), GOLDEN)
    assert worse.code == 1
    assert "token_f1" in worse.out
    shell.outputs()
    (shell.path / "__baselines__/shop.json").rename(shell.path / "kept.json")
    assert shell("score", "outputs.jsonl", GOLDEN, "--baseline", "kept.json", "--require-baseline").code == 0
    assert shell("score", "outputs.jsonl", GOLDEN, "--baseline", "kpet.json").code == 2
    lacking = shell("score", "outputs.jsonl", GOLDEN, "--require-baseline")
    assert (lacking.code, lacking.err.count("\n"), "(shop.json)" in lacking.err) == (3, 1, True)


def test_a_broken_baseline_cannot_judge(shell: Shell) -> None:
    shell.write("__baselines__/shop.json", "{")
    said = shell("score", "outputs.jsonl", GOLDEN)
    assert said.code == 3
    assert "not JSON" in said.err


def test_it_judges_like_the_library(shell: Shell) -> None:
    said = shell("score", shell.outputs(BAD), GOLDEN, "--json")
    told = json.loads(said.out)["suites"][0]["verdict"]
    answers = {one["id"]: one for one in [*OUTPUTS, BAD]}
    done = evaluate(Path("shop.golden.yaml"), lambda sample: answers[sample.sample_id])
    for name, found in done.verdict.aggregates.items():
        if "latency" not in name:
            assert told["aggregates"][name]["value"] == found.value, name
    assert [g["value"] for g in told["gates"]] == [g.value for g in done.verdict.gates]


def test_the_run_can_be_kept(shell: Shell) -> None:
    accept_steady(shell)
    shell("score", "outputs.jsonl", GOLDEN, "--save")
    shell("score", shell.outputs(BAD), GOLDEN, "--save")
    assert shell("compare").code == 1
    assert not shell("runs").err


def test_as_many_runs_are_kept_as_the_settings_say(shell: Shell) -> None:
    (shell.path / "pytest.ini").write_text("[pytest]\nauepora_keep = runs=2\n")
    for _ in range(3):
        shell("score", "outputs.jsonl", GOLDEN, "--save")
    assert len(HistoryStore(shell.path / FOLDER / "history.sqlite").runs()) == 2
    (shell.path / "pytest.ini").write_text("[pytest]\nauepora_keep = runs=few\n")
    said = shell("score", "outputs.jsonl", GOLDEN, "--save")
    assert (said.code, "auepora_keep" in said.err, "runs=few" in said.err, "runs=N" in said.err) == (3, *[True] * 3)


def test_without_a_golden_file_it_is_a_usage_error(shell: Shell) -> None:
    said = shell("score", "outputs.jsonl")
    assert said.code == 2
    assert "--golden" in said.err
    lost = shell("score", "outputs.jsonl", "--golden", "lost.golden.yaml")
    assert lost.code == 2
    assert "lost.golden.yaml" in lost.err


def test_large_outputs_are_scored_on_as_many_cores_as_asked(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def scored(*args: Any, jobs: int, **named: Any) -> Any:
        asked.append(jobs)
        if jobs > 1 and len(asked) == 3:
            raise UnsendableError("metric 'mine' cannot be sent")
        return score_recorded(*args, **named)

    monkeypatch.setattr(score, "score_recorded", scored)
    monkeypatch.setattr(score, "all_cores", lambda: 7)
    assert shell("score", "outputs.jsonl", GOLDEN).code == 0
    assert shell("score", "outputs.jsonl", GOLDEN, "--jobs", "4").code == 0
    monkeypatch.setattr(score, "_LARGE_OUTPUTS", 0)
    said = shell("score", "outputs.jsonl", GOLDEN)
    assert asked == [1, 4, 7, 1]
    assert (said.err.count("\n"), "'mine'" in said.err) == (1, True)
    wrong = shell("score", "outputs.jsonl", GOLDEN, "--jobs", "0")
    assert (wrong.code, "1 or more" in wrong.err) == (2, True)


def test_a_judge_is_asked_within_its_budget_whatever_the_jobs(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    golden = shell.path / GOLDEN.removeprefix("--golden=")
    golden.write_text(golden.read_text(encoding="utf-8").replace("metrics: [", "metrics: [llm_answer_quality, "))
    (shell.path / "pytest.ini").write_text("[pytest]\nauepora_judge = judge.yaml\n", encoding="utf-8")
    with judge_server(GOOD) as server:
        settings = f"url: {server.url}\nmodel: j\nconcurrency: 1\nbudget: {{requests: 1}}\n"
        (shell.path / "judge.yaml").write_text(settings, encoding="utf-8")
        said = shell("score", "outputs.jsonl", GOLDEN, "--jobs=2")
        assert len(server.bodies) == 1
    assert "requests 1 of 1" in said.out
    assert "2 requests" in said.out
    assert "judged scores" in said.err


def test_the_bar_is_for_people_and_can_be_switched_off(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    assert "/3" in shell("score", "outputs.jsonl", GOLDEN).err
    assert shell("score", "outputs.jsonl", GOLDEN, "-q").err == ""


def test_outputs_may_go_by_the_names_of_topics(shell: Shell) -> None:
    shell.write("qrels", "q::1 0 a 1\nq::1 0 b -1\n")
    shell("import", "qrels", "--from", "trec", "-o", "t.golden.yaml")
    shell.write("t.jsonl", json.dumps({"id": "q::1", "answer": "", "documents": ["b", "a"]}))
    shell.write("t.run", "q::1 Q0 b 1 2.0 x\nq::1 Q0 a 2 1.0 x\n")
    for outputs in ("t.jsonl", "t.run"):
        shell("score", outputs, "--golden", "t.golden.yaml")
        (row,) = csv.DictReader((shell.path / "out/metrics.csv").read_text(encoding="utf-8").splitlines())
        assert (row["id"], row["mrr_10"]) == ("q-1", "0.5000")


def test_a_run_of_trec_is_scored_in_the_order_of_its_scores(shell: Shell) -> None:
    lines = "refund-window Q0 terms 1 0.5 bm25\nrefund-window Q0 refunds 2 0.9 bm25\nelsewhere Q0 x 1 1.0 bm25\n"
    shell.write("bm25.run", lines)
    shell("score", "bm25.run", GOLDEN)
    (row,) = csv.DictReader((shell.path / "out/metrics.csv").read_text(encoding="utf-8").splitlines())
    assert (row["id"], row["mrr_10"]) == ("refund-window", "1.0000")


def test_a_run_of_other_topics_is_refused(shell: Shell) -> None:
    shell.write("t.run", "q9 Q0 b 1 2.0 x\n")
    said = shell("score", "t.run", GOLDEN)
    assert (said.code, "'q9'" in said.err) == (3, True)


def test_recorded_outputs_are_not_accepted_by_pytest(shell: Shell) -> None:
    assert "pytest --auepora" not in shell("score", shell.outputs(BAD), GOLDEN).out
