"""Stored runs for the page to show: a good one, a worse one, one of another index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_auepora.cli.view.library import Library
from pytest_auepora.core.run import Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.baseline import Baseline

from ...reporting.builders import Case, baseline_of, run_of, verdict_of

RATIONALE = "It is to the point."

JUDGE = {"metric": "helpful", "version": 1, "params": {"judge": {"model": "m-9"}}}
CASES = [
    Case("steady", tags=["smoke"], labels={"scenario": "plain"}),
    Case("fell-out", tags=["smoke"], labels={"scenario": "typo"}),
    Case("wrong-answer", labels={"scenario": "plain", "must_contain": ["30 days"]}),
    Case("raises", labels={"scenario": "typo"}),
]
WORSE = [
    CASES[0],
    CASES[1].with_(got=["index.md", "terms.md"]),
    CASES[2].with_(got=["refunds.md", "index.md"], answer="Within a year or so."),
    CASES[3].with_(error="ConnectionError: refused"),
]


class Stored(NamedTuple):
    library: Library
    good: str
    worse: str
    other: str


def stored(folder: Path) -> Stored:
    """Keep three runs in *folder*, and return what the page reads them with."""
    store = HistoryStore(folder / ".auepora" / "history.sqlite")
    good = run_of(CASES, provenance={"index": "v1"})
    baseline = baseline_of(good)
    ids = [_add(store, good)]
    for cases, index in ((WORSE, "v2"), (CASES, "v3")):
        ids.append(_add(store, run_of(cases, baseline=baseline, provenance={"index": index}), baseline))
    return Stored(Library(store, folder, folder / "labels"), *ids)


def _add(store: HistoryStore, run: Run, baseline: Baseline | None = None) -> str:
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline)
    return store.add(judged(run), verdict, git_commit="abcdef123456")


def judged(run: Run) -> Run:
    """Let a judge say something of each answer, and a label quote its document."""
    info = replace(run.metrics["token_f1"], name="helpful", judge=JUDGE, target="ANSWER_QUALITY", baselined=False)
    run.metrics["helpful"] = info
    for case in run.cases.values():
        case.scores["helpful"] = Score("number", 0.8, details={"rationale": RATIONALE})
        case.expected["relevant"] = [{"id": "refunds.md", "grade": 1, "match": "quote", "quote": "says  ABOUT money"}]
    return run
