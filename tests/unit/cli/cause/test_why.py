"""``auepora why RUN``: what a stored run got worse by."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.cause import CaseCause, Cause, Effect

from ...reporting.builders import Case, run_of, verdict_of
from ..conftest import Shell

RAG = """
import pytest


@pytest.fixture(scope="session")
def rag():
    return lambda query: [{"id": "DOCUMENT", "text": "30 days"}], lambda query, documents: documents[0]["text"]
"""
GOLDEN = """\
metrics: [recall@1, token_f1]
cases:
  - {id: refund, query: How long?, relevant_docs: [refunds], reference_answer: 30 days}
"""


def test_a_run_that_was_asked_says_its_cause(shell: Shell) -> None:
    run = run_of([Case("one")])
    verdict = verdict_of(run)
    effect = Effect(1.0, 0.0, 0.0)
    verdict.cause = Cause(
        "generator", "token_f1", {"one": CaseCause("generator", "token_f1", {"token_f1": effect}, calls=1)}
    )
    HistoryStore(shell.path / FOLDER / "history.sqlite").add(run, verdict)
    said = shell("why")
    assert said.code == 0, said.err
    stored = HistoryStore(shell.path / FOLDER / "history.sqlite").verdict("last").cause
    assert stored is not None
    assert stored.cases["one"].answer is None  # answers are stored for as long as the project says, and elsewhere
    assert "why: the generator (1 case, " in said.out
    told = " ".join(said.out.split()).partition("one: generator: token_f1 ")[2]
    assert re.findall(r"\d\.\d+", told)[:2] == ["1.000", "0.000"]


@pytest.mark.slow
def test_a_run_that_nobody_asked_is_asked_now(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def run(command: list[str], **options: Any) -> Any:
        done = real(command, capture_output=True, text=True, **options)
        told.append(" ".join(done.stdout.split()))
        return done

    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    shell.write("pytest.ini", "[pytest]\nauepora = true\n")
    shell.write("shop.golden.yaml", GOLDEN)
    for document, option in (("refunds", "--auepora-update"), ("other", "--auepora")):
        shell.write("conftest.py", RAG.replace("DOCUMENT", document))
        run([sys.executable, "-m", "pytest", option], cwd=shell.path, check=False)
    said = shell("why", "last")
    assert said.code == 1, said.err
    assert "why: retrieval (1 case" in told[-1]
