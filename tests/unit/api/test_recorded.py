"""Recorded outputs: the same run however it is scored, and of a large one only numbers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.api import recorded
from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.api.recorded import score_recorded
from pytest_auepora.core.case_texts import StoredTexts
from pytest_auepora.errors import AueporaError, GoldenFileError, UnsendableError
from pytest_auepora.io import streams

from ..evaluation.deadly import Deadly, InBatches, Locked
from ..evaluation.large_suite import METRICS, answers, golden, with_metric, written
from ..io.parquet_rows import rows_taken


@pytest.mark.slow
def test_it_is_the_run_of_the_library_wherever_it_is_scored(tmp_path: Path) -> None:
    suite, rows = golden(tmp_path, 150), answers(150)
    outputs = written(tmp_path, rows[::-1])
    serial = score_recorded(suite, outputs)
    assert list(serial.run.cases) == [c.id for c in suite.cases]
    by_id = {row["id"]: row for row in rows}

    def system(sample: Any) -> Any:
        if "error" in by_id[sample.sample_id]:
            raise TimeoutError
        return by_id[sample.sample_id]

    library = evaluate(suite, system)
    for name in METRICS:
        assert serial.verdict.aggregates[name] == library.verdict.aggregates[name]
    assert {i: c.state for i, c in serial.run.cases.items()} == {i: c.state for i, c in library.run.cases.items()}
    with ThreadPoolExecutor(3) as threads:
        others = [score_recorded(suite, outputs, executor=threads), score_recorded(suite, outputs, jobs=2)]
    for other in others:
        assert other.run.to_dict() == serial.run.to_dict()
        assert other.verdict == serial.verdict


def test_texts_lie_in_a_file_and_are_all_there(tmp_path: Path) -> None:
    suite, outputs = golden(tmp_path, 60), written(tmp_path, answers(60))
    run = score_recorded(suite, outputs).run
    assert all(isinstance(case.texts, StoredTexts) for i, case in run.cases.items() if i != "c3")  # which was skipped
    assert run.cases["c7"].query == "what is 7?"
    assert run.cases["c7"].outputs["answer"].startswith("it is 7 or more")


@pytest.mark.slow
def test_a_batch_lost_with_its_worker_is_errors_others_count(tmp_path: Path) -> None:
    registry = with_metric(Deadly())
    suite = golden(tmp_path, 400, "deadly", registry=registry)
    done = score_recorded(suite, written(tmp_path, answers(400)), registry=registry, jobs=2)
    errors = {c.case_id: c.error for c in done.run.cases.values() if c.state == "error"}
    assert len(done.run.cases) == 400
    assert "c300" in errors
    assert errors["c300"].startswith("LostWorkError: ")
    assert 1 < len(errors) <= 1 + 128
    assert done.verdict.outcome == "failed"


def test_a_metric_that_cannot_be_sent_is_named(tmp_path: Path) -> None:
    registry = with_metric(Locked())
    suite = golden(tmp_path, 5, "locked", registry=registry)
    with pytest.raises(UnsendableError, match="metric 'locked' cannot be sent to another process"):
        score_recorded(suite, written(tmp_path, answers(5)), registry=registry, jobs=2)


def test_one_unmeasurable_case_of_a_batch_is_alone_in_error(tmp_path: Path) -> None:
    metric = InBatches()
    registry = with_metric(metric)
    suite = golden(tmp_path, 20, "in_batches", registry=registry)
    rows = answers(20)
    done = evaluate(suite, lambda sample: rows[int(sample.sample_id[1:])] | {"error": None}, registry=registry)
    assert max(metric.sizes) > 10
    rows[7]["answer"] = "a bad answer"
    done = score_recorded(suite, written(tmp_path, rows), registry=registry)
    bad = [c.case_id for c in done.run.cases.values() if (s := c.scores.get("in_batches")) and s.state == "error"]
    assert bad == ["c2", "c7"]
    assert done.run.cases["c7"].scores["in_batches"].reason == "ValueError: bad answer"


def test_reading_stops_where_there_are_too_many_complaints(tmp_path: Path) -> None:
    suite = golden(tmp_path, 5)
    path = written(tmp_path, answers(3) + [{"id": f"x{n}"} for n in range(1000)])
    with pytest.raises(GoldenFileError) as told:
        score_recorded(suite, path)
    first, *_, last_read, end = told.value.problems
    assert (len(told.value.problems), first.line, first.col, last_read.line, end.line) == (201, 4, 8, 203, 0)
    assert "'x0'" in first.message


def test_parquet_is_scored_alike(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow.parquet import write_table

    suite, rows = golden(tmp_path, 30), answers(30)
    lines = score_recorded(suite, written(tmp_path, rows))
    names = ("id", "answer", "error", "documents", "timings")
    nested = {name: [row.get(name) for row in rows] for name in names}
    texts = {**nested, "documents": [json.dumps(d) if d else None for d in nested["documents"]]}
    for columns in (nested, texts):
        write_table(pyarrow.table(columns), tmp_path / "outputs.parquet")
        assert score_recorded(suite, tmp_path / "outputs.parquet").run.to_dict() == lines.run.to_dict()
    write_table(pyarrow.table({"id": ["c1", "c1"], "answer": ["x", "y"]}), tmp_path / "outputs.parquet")
    with pytest.raises(GoldenFileError, match=r"outputs\.parquet:2:8: 'c1' is there twice"):
        score_recorded(suite, tmp_path / "outputs.parquet")
    (tmp_path / "outputs.parquet").write_text("x")
    with pytest.raises(AueporaError, match="cannot be read as Parquet"):
        score_recorded(suite, tmp_path / "outputs.parquet")


def test_parquet_is_read_while_it_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow.parquet import write_table

    for module, size in ((recorded, "BATCH_SIZE"), (streams, "BLOCK_ROWS")):
        monkeypatch.setattr(module, size, 8)
    taken, seen = rows_taken(monkeypatch), []

    class Notes(InBatches):
        def measure_many(self, *given: Any) -> list[Any]:
            seen.append(sum(taken))
            return super().measure_many(*given)

    registry = with_metric(Notes())
    suite, rows = golden(tmp_path, 80, "in_batches", registry=registry), answers(80)
    path = tmp_path / "outputs.parquet"
    write_table(pyarrow.table({name: [row.get(name) for row in rows] for name in ("id", "answer")}), path)
    score_recorded(suite, path, registry=registry)
    assert seen[0] == 16  # a batch of eight, as c3 is skipped
    assert sum(taken) == 80
