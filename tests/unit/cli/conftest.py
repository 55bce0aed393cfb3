"""A golden file, recorded outputs, and a shell in the directory where they lie."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.core.run import Run
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.metrics.judge.settings import use_judge
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.formats.json_report import json_report
from pytest_auepora.reporting.report import Report

from ..reporting.builders import Case, baseline_of, run_of, system, verdict_of
from .github_server import FakeGitHub, serving

GOLDEN = """\
suite: shop
owner: search-team
metrics: [recall@1, recall@3, precision@5, ndcg@10, mrr@10, token_f1, refusal_correctness]
thresholds:
  recall@3: 0.9
cases:
  - id: refund-window
    query: How long do I have to ask for a refund?
    relevant_docs: [refunds]
    reference_answer: Within 30 days of purchase.
  - id: warranty
    query: How long does the warranty last?
    relevant_docs: [warranty]
    reference_answer: 24 months
  - id: ceo-salary
    query: What does the CEO earn?
    relevant_docs: []
"""

OUTPUTS: list[dict[str, Any]] = [
    {
        "id": "refund-window",
        "answer": "Within 30 days of purchase.",
        "documents": [{"id": "refunds", "text": "30 days"}, {"id": "terms", "text": "Terms"}],
        "timings": {"end_to_end": 0.25},
    },
    {
        "id": "warranty",
        "answer": "24 months",
        "documents": [{"id": "warranty", "text": "24 months"}],
        "timings": {"end_to_end": 0.75},
    },
    {"id": "ceo-salary", "answer": "I don't know.", "documents": []},
]


class Said(NamedTuple):
    code: int
    out: str
    err: str


@dataclass
class Shell:
    """Runs ``auepora`` in a directory of its own."""

    path: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *args: str) -> Said:
        code = main(args)
        told = self.capture.readouterr()
        assert "Traceback" not in told.err
        return Said(code, told.out, told.err)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def outputs(self, *changed: dict[str, Any], without: str = "", name: str = "outputs.jsonl") -> str:
        """Write outputs, those of the same id replaced by *changed*."""
        new = {one["id"]: one for one in changed}
        kept = [new.get(one["id"], one) for one in OUTPUTS if one["id"] != without]
        self.write(name, "".join(json.dumps(one) + "\n" for one in kept))
        return name


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")  # or usage is coloured from Python 3.14 on, where FORCE_COLOR is set
    made = Shell(tmp_path, capsys)
    made.write("shop.golden.yaml", GOLDEN)
    made.outputs()
    yield made
    use_judge()  # a command leaves the judge of its project to the process


BAD: dict[str, Any] = {"id": "warranty", "answer": "No idea.", "documents": [{"id": "terms", "text": "Terms"}]}
"""The warranty case gone wrong."""

GOOD, WORSE = Case("one"), Case("one", got=["index.md", "terms.md"], answer="Never.")


@pytest.fixture
def ids(shell: Shell) -> list[str]:
    """A run that is fine, then one that is not; the baseline beside them knows that no metric varies."""
    shell.write("golden/__baselines__/billing.json", baseline_of(run_of([GOOD])).dumps())
    store = HistoryStore(shell.path / FOLDER / "history.sqlite")
    runs = [run_of([case], provenance={"model": model}) for case, model in ((GOOD, "m-1"), (WORSE, "m-2"))]
    return [store.add(run, verdict_of(run, {"recall@5": 0.5}), git_commit="abcdef123456") for run in runs]


def write_report(shell: Shell, name: str, *variants: str) -> tuple[list[Run], list[Verdict]]:
    """Write the JSON report of a run of each configuration, and return what is in it."""
    runs = [system(variant, 0.5 + 0.3 * i) for i, variant in enumerate(variants)]
    verdicts = [verdict_of(run) for run in runs]
    shell.write(name, json_report(Report(runs, verdicts)))
    return runs, verdicts


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with serving() as server:
        yield server
