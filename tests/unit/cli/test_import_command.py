"""``auepora import``: files of other tools to golden files, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pytest_auepora.cli.main import main
from pytest_auepora.io.golden.load import load_golden

ROWS = [
    {"user_input": "How long do I have?", "reference": "30 days.", "reference_context_ids": ["refunds"]},
    {"user_input": "Why?", "response": "So."},
]


@pytest.fixture
def ragas(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_golden_file_is_written_and_what_was_dropped_is_told(ragas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = ragas.with_name("set.golden.yaml")
    assert main(["import", str(ragas), "--from", "ragas", "-o", str(golden)]) == 0
    assert [c.id for c in load_golden(golden).cases] == ["how-long-do-i-have", "why"]
    out, err = capsys.readouterr()
    assert out == ""
    done, dropped = err.splitlines()
    assert (done.startswith("2 cases "), str(ragas) in done, str(golden) in done) == (True, True, True)
    assert "--answers" in dropped


def test_without_output_the_file_is_printed(ragas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(ragas), "--from", "ragas"]) == 0
    out, err = capsys.readouterr()
    assert "$schema=" in out.partition("\n")[0]
    assert [case["id"] for case in yaml.safe_load(out)["cases"]] == ["how-long-do-i-have", "why"]
    assert err.startswith("2 cases from ")


def test_back_again(ragas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden, back = ragas.with_name("a.golden.yaml"), ragas.with_name("back.jsonl")
    main(["import", str(ragas), "--from", "ragas", "-o", str(golden)])
    assert main(["import", str(golden), "--to", "ragas", "-o", str(back)]) == 0
    rows = [json.loads(line) for line in back.read_text(encoding="utf-8").splitlines()]
    assert rows == [ROWS[0], {"user_input": "Why?"}]
    assert "thresholds" in capsys.readouterr().err


def test_file_that_is_there_is_kept_unless_forced(ragas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = ragas.with_name("a.golden.yaml")
    golden.write_text("mine", encoding="utf-8")
    command = ["import", str(ragas), "--from", "ragas", "-o", str(golden)]
    assert main(command) == 2
    assert golden.read_text(encoding="utf-8") == "mine"
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    assert len(load_golden(golden).cases) == 2
    assert main(["import", str(golden), "--to", "csv", "-o", str(ragas)]) == 2
    assert json.loads(ragas.read_text(encoding="utf-8").splitlines()[0]) == ROWS[0]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--from", "ragas", "--topics", "x"], 3, "ragas has no option 'topics'"),
        (["--from", "promptfoo", "-o", "a.json"], 2, "a golden file ends in .golden.yaml"),
        (["--from", "pydantic-evals"], 3, "expected a mapping with a list of cases"),
        (["--to", "csv"], 2, "--to needs --output"),
        ([], 2, "one of the arguments --from --to is required"),
        (["--from", "excel"], 2, "there is no 'excel'"),
    ],
)
def test_what_cannot_be_done(
    ragas: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, told: str
) -> None:
    assert main(["import", str(ragas), *arguments]) == code
    assert told in capsys.readouterr().err


def test_what_needs_mending_is_left_with_its_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("id,query,tags\na,Why?,two words\n", encoding="utf-8")
    golden = tmp_path / "a.golden.yaml"
    assert main(["import", str(tmp_path / "a.csv"), "--from", "csv", "-o", str(golden)]) == 3
    assert f"{golden}:6:9: tag" in capsys.readouterr().err
    assert "two words" in golden.read_text(encoding="utf-8")


def test_directory_of_trec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n", encoding="utf-8")
    (tmp_path / "q.tsv").write_text("1\tWhy?\n", encoding="utf-8")
    assert main(["import", str(tmp_path / "qrels"), "--from", "trec", "--topics", str(tmp_path / "q.tsv")]) == 0
    assert "relevant_docs:\n      - a\n" in capsys.readouterr().out


def test_a_bar_is_shown_and_the_file_is_the_same(
    ragas: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["import", str(ragas), "--from", "ragas"]) == 0
    plain, quiet = capsys.readouterr()
    monkeypatch.setattr("pytest_auepora.base.progress.is_watched", lambda: True)
    assert main(["import", str(ragas), "--from", "ragas"]) == 0
    out, err = capsys.readouterr()
    assert out == plain
    assert "/2 [" not in quiet
    assert "/2 [" in err


def test_a_file_with_metrics_of_its_own_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own_words.py").write_text(
        "from pytest_auepora.metrics.generation_overlap import TokenF1\n\n\n"
        "def metrics(registry):\n    registry.add('own_words', TokenF1)\n",
        encoding="utf-8",
    )
    Path("a.golden.yaml").write_text("metrics: [own_words]\ncases: [{id: a, query: Why?}]\n", encoding="utf-8")
    command = ["import", "a.golden.yaml", "--to", "csv", "-o", "a.csv"]
    assert main(command) == 3
    assert main([*command, "--metrics", "own_words.py:metrics"]) == 0
    assert Path("a.csv").read_text(encoding="utf-8") == "id,query\na,Why?\n"


def test_where_no_answer_is_recorded_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, golden, answers = (tmp_path / name for name in ("qrels", "a.golden.yaml", "answers.jsonl"))
    qrels.write_text("1 0 a 1\n", encoding="utf-8")
    command = ["import", str(qrels), "--from", "trec", "-o", str(golden)]
    assert main([*command, "--answers", str(answers)]) == 2
    told = capsys.readouterr().err
    assert ("--answers" in told, str(qrels) in told) == (True, True)
    assert [golden.exists(), answers.exists()] == [False, False]


def test_recorded_answers_are_scored_without_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a run of another tool answered is judged by the metrics of this one."""
    row = {
        "user_input": "Why?", "reference": "So it is.", "reference_contexts": ["the reason"],
        "response": "So it is.", "retrieved_contexts": ["this is the reason"],
    }  # fmt: skip
    results, golden, answers = (tmp_path / name for name in ("results.json", "a.golden.yaml", "answers.jsonl"))
    results.write_text(json.dumps([row]), encoding="utf-8")
    command = ["import", str(results), "--from", "ragas", "-o", str(golden), "--answers", str(answers)]
    assert main(command) == 0
    told = capsys.readouterr().err.splitlines()[0]
    assert all(str(path) in told for path in (results, golden, answers))
    out = str(tmp_path / "out")
    assert main(["score", str(answers), "--golden", str(golden), "--out", out, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    case = report["suites"][0]["run"]["cases"]["why"]
    assert (case["scores"]["token_f1"]["value"], case["scores"]["recall@5"]["value"]) == (1.0, 1.0)
    assert main(command) == 2
    golden.unlink()
    assert main(command) == 2
    assert f"{answers} exists" in capsys.readouterr().err
