"""Histories, journals, recordings that were edited or damaged: a clear error that names the file, or a run as ever."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_auepora.adapters.outputs import to_outputs
from pytest_auepora.api.evaluation import Evaluation, evaluate
from pytest_auepora.cli.main import main
from pytest_auepora.core.run import Run
from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.recording import Recording, record
from pytest_auepora.evaluation.replay import replayed
from pytest_auepora.history.answers import choose_runs, load_recorded
from pytest_auepora.history.codec import CaseJson
from pytest_auepora.history.journal import Journal, recover
from pytest_auepora.history.settings import Keep
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import baseline_path

from ...mutations import JUNK, damaged, mutated, tries

GOLDEN = """\
suite: shop
metrics: [recall@1, mrr, token_f1, bleu, distinct_2, mean_latency, p95_latency, citation_coverage, assertion_pass]
regression: {metrics: {mean_latency: {policy: tolerance}}, slices: [kind]}
thresholds: {recall@1: 0.1}
cases:
"""
CASE = """\
  - {{id: c{0}, query: question {0}, relevant_docs: [d{0}, {{id: e{0}, doc: f}}], reference_answer: 'a b c {0}',
     must_contain: [a], tags: [t], labels: {{kind: k{1}}}, thresholds: {{mrr: 0.1}}}}
"""
TABLES = ("eval_runs", "eval_query_results", "eval_recordings", "auepora_meta")


def answer(query: str) -> tuple[str, list[dict[str, str]]]:
    number = query.rsplit(maxsplit=1)[-1]
    return f"a b {number} c [1]", [{"id": f"d{number}", "text": "a b c", "source": "f"}, {"id": "x", "text": "y"}]


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden") / "shop.golden.yaml"
    path.write_text(GOLDEN + "".join(CASE.format(i, i % 2) for i in range(6)), encoding="utf-8")
    accept(baseline_path(path, "shop", ""), evaluate(path, answer, repeat=2).run, Acceptance({"all"}))
    return path


@pytest.fixture(scope="module")
def done(golden: Path) -> Evaluation:
    return evaluate(golden, answer, repeat=2)


def answers(golden: Path, done: Evaluation) -> dict[str, Sequence[Recording]]:
    """What a run records, of which one call failed."""
    out: dict[str, Sequence[Recording]] = {}
    for case in load_golden(golden, Registry()).cases:
        result = done.run.cases[case.id]
        outputs = None if case.id == "c1" else to_outputs(answer(case.sample.query))
        out[case.id] = [record(case, result, outputs, done.metrics, cap=1_000_000)] * 2
    return out


@pytest.fixture(scope="module")
def kept(golden: Path, done: Evaluation) -> Path:
    """A history of two runs with their answers."""
    path = golden.parent / "kept.sqlite"
    for model in "ab":
        done.run.provenance["model"] = model
        HistoryStore(path).add(done.run, done.verdict, recordings=answers(golden, done))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    return path


def spoil(path: Path, pick: Random) -> None:
    """Change one value of the history, or some bytes of the file."""
    if pick.random() < 0.05:
        path.write_bytes(damaged(path.read_bytes(), pick))
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        table = pick.choice(TABLES)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        rowid, column = (
            pick.choice(connection.execute(f"SELECT rowid FROM {table}").fetchall())[0],
            pick.choice(columns),
        )
        (value,) = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = {rowid}").fetchone()
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = {rowid}", (spoilt(value, pick),))
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError, OverflowError, UnicodeEncodeError):
            connection.execute(f"DELETE FROM {table} WHERE rowid = {rowid}")


def spoilt(value: Any, pick: Random) -> Any:
    if isinstance(value, bytes):
        if pick.random() < 0.1:
            return pick.choice([damaged(value, pick), "text", 3, 10**12, 2.5, b""])
        with suppress(zlib.error):  # answers are compressed with a dictionary
            return zlib.compress(mutated(zlib.decompress(value).decode(), pick).encode())
        return damaged(value, pick)
    if isinstance(value, str) and value[:1] in ("{", "[") and pick.random() < 0.9:
        return mutated(value, pick)
    return pick.choice([*(one for one in JUNK if not isinstance(one, (list, dict))), b"bytes", -(10**9)])


COMMANDS = (
    ["runs", "--json"], ["runs"], ["compare"], ["compare", "--json"], ["compare", "--side-by-side"], ["report", "last"],
    ["report", "last", "--format", "html"], ["report", "last", "--format", "md"],
    ["report", "last", "--format", "json"], ["report", "last", "--format", "csv"], ["runs", "--prune", "1"],
)  # fmt: skip


@tries(10, 300)
def test_commands_over_a_damaged_history(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], tries: int
) -> None:
    pick, path = Random(1), tmp_path / "h.sqlite"
    refused = 0
    for _ in range(tries):
        shutil.copy(kept, path)
        spoil(path, pick)
        for command in pick.sample(COMMANDS, 2):
            code, told = main([*command, "--history", str(path)]), capsys.readouterr().err
            assert code in (0, 1, 2, 3), command
            assert (code in (0, 1)) == (not told) or command[0] == "runs" or str(path) in told, (code, told)
            assert code != 2 or "no run" in told or "full run" in told or "runs begin with" in told, told
            refused += code == 3
    assert refused >= tries / 10


@tries(120, 3_000)
def test_replays_of_a_damaged_history(kept: Path, golden: Path, tmp_path: Path, tries: int) -> None:
    pick, path, suite = Random(2), tmp_path / "h.sqlite", load_golden(golden, Registry())
    refused = errored = 0
    for _ in range(tries):
        shutil.copy(kept, path)
        spoil(path, pick)
        store = HistoryStore(path)
        try:
            chosen = choose_runs(store, "last")
            source = load_recorded(store, next(iter(chosen.values())))
        except HistoryError as exc:
            assert str(path) in str(exc)  # noqa: PT017 - either is fine
            refused += 1
            continue
        seen = evaluate(suite, replayed(source)).run
        errors = [case.error for case in seen.cases.values() if case.state == "error" and case.case_id != "c1"]
        assert all(error.startswith("NotRecordedError: ") for error in errors), errors
        errored += bool(errors)
    assert refused > tries / 10
    assert errored


@tries(100, 5_000)
def test_a_damaged_journal(golden: Path, done: Evaluation, tmp_path: Path, tries: int) -> None:
    journal = Journal(tmp_path / "first", datetime.now(timezone.utc))
    run = done.run
    journal.begin(Run(run.suite, run.path, metrics=run.metrics, expected_ids=run.expected_ids), "abc")
    for case_id, recorded in answers(golden, done).items():
        journal.add(run.path, "", CaseJson.of(run.cases[case_id], recorded), {"model": "m"})
    journal.close(keep=True)
    lines = journal.path.read_text(encoding="utf-8").splitlines()
    pick = Random(3)
    refused = 0
    for i in range(tries):
        made, at = list(lines), pick.randrange(len(lines))
        made[at] = mutated(made[at], pick)
        folder = tmp_path / str(i)
        folder.mkdir()
        path = folder / journal.path.name
        data = ("\n".join(made) + "\n").encode()
        path.write_bytes(damaged(data, pick) if pick.random() < 0.1 else data)
        store = HistoryStore(tmp_path / "h.sqlite")
        try:
            for run_id in recover(store, folder, Keep()):
                store.load(run_id)
                store.delete(run_id)
        except HistoryError as exc:
            assert str(path) in str(exc)  # noqa: PT017 - either is fine
            refused += 1
            assert path.exists()
        shutil.rmtree(folder)
    assert refused > tries / 10
