"""One run, judged in every way there is: serially, by two processes, replayed, and by the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from pytest_auepora.base.json import dumps
from pytest_auepora.cli.main import main
from pytest_auepora.history.store import HistoryStore

from ..conftest import Example

CONFTEST = """
import pytest
from shop import answer

TIMES = {}


@pytest.fixture(scope="session")
def rag():
    def ask(query):
        text, documents = answer(query)
        # latencies are judged as well, so they must be the same wherever the call is made
        return {"answer": text, "documents": documents, "timings": {"end_to_end": len(query) / 100}}

    return ask
"""
OUTPUTS = """
import json
from pytest_auepora.io.golden.load import load_golden
from shop import answer
for case in load_golden("shop.golden.yaml").cases:
    query = case.sample.query
    text, documents = answer(query)
    said = {"id": case.id, "answer": text, "documents": documents, "timings": {"end_to_end": len(query) / 100}}
    print(json.dumps(said))
"""


@pytest.fixture
def broken(project: Example, monkeypatch: pytest.MonkeyPatch) -> Example:
    """A project that got worse than its baseline."""
    project.write("conftest.py", CONFTEST)
    project.edit("  recall@3: 0.9", "  recall@3: 0.9\n  p95_latency: 0.6\n  token_f1: 0.1")
    project.run("--auepora-update")
    project.break_retriever()
    monkeypatch.chdir(project.path)
    return project


def plain(verdict: Any) -> Any:
    """A verdict, every number of it, without the notes on how it came about."""
    return {k: v for k, v in json.loads(json.dumps(verdict)).items() if k not in ("notes", "outcome")}


@pytest.mark.slow
def test_the_same_verdict_number_for_number(broken: Example, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    store = HistoryStore(broken.path / ".auepora" / "history.sqlite")
    told: dict[str, Any] = {}
    for name, args in {
        "serial": (), "two processes": ("-n", "2"), "replayed": ("--auepora-replay=last~1",),
        "replayed by two processes": ("--auepora-replay=last~1", "-n", "2"),
    }.items():  # fmt: skip
        broken.run(*args, plugins=("xdist",) if "-n" in args else ())
        told[name] = json.loads(dumps(store.verdict("last")))
    done = subprocess.run(
        [sys.executable, "-c", OUTPUTS], cwd=broken.path, check=True, capture_output=True, encoding="utf-8"
    )
    broken.write("outputs.jsonl", done.stdout)
    capfd.readouterr()
    assert main(["score", "outputs.jsonl", "--golden", "shop.golden.yaml", "--json"]) == 1
    told["scored"] = json.loads(capfd.readouterr().out)["suites"][0]["verdict"]
    assert main(["report", "last", "--format", "json"]) == 0
    told["reported"] = json.loads(capfd.readouterr().out)["suites"][0]["verdict"]
    serial = plain(told["serial"])
    assert {gate["state"] for gate in serial["gates"]} >= {"passed", "failed"}
    assert serial["comparison"]["cases"]["refund-window"]["flip"] == "newly failing"
    assert serial["aggregates"]["p95_latency"]["value"] > 0
    for name, verdict in told.items():
        assert plain(verdict) == serial, name
    assert main(["compare", "last~3", "last", "--json"]) == 0  # a replay is no better and no worse than its run
    assert json.loads(capfd.readouterr().out)["outcome"] == "same"
