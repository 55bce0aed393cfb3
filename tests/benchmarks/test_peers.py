"""The peers of the table do the same work as we do: else their times would say nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.io.golden import load_golden
from pytest_auepora.metrics.registry import Registry

from . import peer_rows
from .by_hand import scores
from .measuring import PEER, Cost, ProcessError, Row
from .peer_projects import BY_HAND, peer_project
from .projects import METRICS
from .table import main


def test_the_numbers_by_hand_are_ours(tmp_path: Path) -> None:
    project = peer_project(tmp_path / "bench", 12, {"test_bench.py": BY_HAND})
    answers = json.loads((project / "answers.json").read_text("utf-8"))
    cases = json.loads((project / "cases.json").read_text("utf-8"))
    metrics = [Registry().get(name) for name in METRICS]
    seen: dict[str, set[float]] = {name: set() for name in METRICS}
    for golden_case, case in zip(load_golden(project / "bench.golden.yaml").cases, cases, strict=True):
        sample = golden_case.sample
        answer, documents = answers[sample.query]
        if case["id"] == "case-3":
            answer = f"The {case['reference']}!"  # the same words once an article and the punctuation are gone
        outputs = SystemOutputs(
            [RetrievedDocument(Document(d["id"]), d["score"], rank) for rank, d in enumerate(documents, 1)],
            Response(answer),
        )
        ours = {m.name: m.compute([sample], [outputs]).value for m in metrics}
        assert scores(case, answer, documents) == pytest.approx(ours, abs=1e-12)
        for name, value in ours.items():
            seen[name].add(value)
    assert all(len(values) > 1 for values in seen.values()), "every metric has to have told cases apart"


def test_a_peer_that_is_not_installed_is_left_out_with_a_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = "no-such-plugin"
    monkeypatch.setattr(peer_rows, "PLUGINS", (absent,))
    monkeypatch.setattr("sys.argv", ["table", "--only", absent])
    assert main() == 0
    assert f"left out: {absent} is not installed" in capsys.readouterr().out


def test_a_peer_that_does_not_run_is_left_out_and_the_table_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Cost:
        raise ProcessError("pytest", 3, "INTERNALERROR> it is too old\n")

    monkeypatch.setattr(peer_rows, "pytest_process", broken)
    monkeypatch.setattr(peer_rows, "PLUGINS", ("pytest-timeout", "pytest", "no-such-plugin"))
    monkeypatch.setattr("sys.argv", ["table", "--only", "timeout", "pytest installed", "no-such"])
    assert main() == 0
    broke, none, absent = capsys.readouterr().out.splitlines()[1:]
    assert broke.endswith("left out: it ended with 3: INTERNALERROR> it is too old")
    assert none.endswith(f"left out: pytest {pytest.__version__} registers no plugin")
    assert absent.endswith("left out: no-such-plugin is not installed")


def test_a_peer_has_a_ratio_and_no_goal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def costly() -> Row:
        """a costly peer"""
        return Row("a costly peer", PEER, lambda: 6.0, lambda: 2.0, "nothing")

    def only(*_: Any, **__: Any) -> list[Callable[[], Row]]:
        return [costly]

    monkeypatch.setattr("tests.benchmarks.table.rows", only)
    monkeypatch.setattr("sys.argv", ["table"])
    assert main() == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert " ".join(line.split()) == "a costly peer 6 2 3.00 peer s of processor time, against nothing"
