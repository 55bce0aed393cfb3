"""Writes the same thing over and over in child processes that are killed at random moments, and looks after each.

Run as a program: ``python -m tests.unit.history.killed WHAT DIRECTORY KILLS``, WHAT being a key of
`CHECKS`.  Prints what was seen as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.codec import CaseJson
from pytest_auepora.history.journal import Journal, recover
from pytest_auepora.history.settings import Keep, find_journals
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.labels.check import check_case
from pytest_auepora.labels.corpus import corpus_of
from pytest_auepora.labels.repair import baselines_of, repair
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.baseline_file import anchor_path, load_baseline
from pytest_auepora.regression.verdict import Verdict

from .recordings import said

CASES = 60


def run_of(value: float) -> Run:
    """A run in which every case scored *value*, so that a mixture of two shows."""
    run = Run("shop", "shop.golden.yaml", expected_ids=tuple(f"case-{i}" for i in range(CASES)))
    run.metrics["token_f1"] = MetricInfo("token_f1", 1, {}, "GENERATION_CORRECTNESS", "higher", (0, 1), True, True)
    for name in run.expected_ids:
        result = CaseResult(
            name, scores={"token_f1": Score("number", value)}, content_hash=name, texts=CaseTexts("q" * 500)
        )
        run.add([result])
    return run


def recordings_of(run: Run) -> dict[str, list[Recording]]:
    """Two answers to each case, from which its score can be told."""
    scores = {name: case.scores["token_f1"].value for name, case in run.cases.items()}
    return {n: [said(str(v)), said(f"score {v}", "common", f"found by {n}", str(v))] for n, v in scores.items()}


def check_stored(store: HistoryStore) -> None:
    """Every run that is listed is there with all cases it is said to have, and their recordings."""
    for line in store.runs():
        run = store.load(line.run_id)
        assert len(run.cases) == line.cases <= CASES
        assert len({case.scores["token_f1"].value for case in run.cases.values()}) == 1
        assert store.recordings(line.run_id) == recordings_of(run)


def values(run: Run) -> set[float | None]:
    assert len(run.cases) == CASES, f"{len(run.cases)} cases of a run of {CASES}"
    return {case.scores["token_f1"].value for case in run.cases.values()}


def killed(child: Callable[[], None], moment: float) -> bool:
    """Fork, let *child* work for *moment* seconds, kill it; whether it was still at it."""
    pid = os.fork()
    if not pid:
        try:
            child()
        finally:
            os._exit(0)
    time.sleep(moment)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def usual(write: Callable[[], object]) -> float:
    """Return the seconds of a write, everything imported."""
    write()
    start = time.perf_counter()
    for _ in range(3):
        write()
    return (time.perf_counter() - start) / 3


def store_writes(folder: Path, kills: int, rng: random.Random) -> dict[str, int]:
    """Every run that is listed is whole; those of before are all there."""
    store = HistoryStore(folder / ".auepora" / "history.sqlite")
    seen = during = 0
    elsewhere = HistoryStore(folder / "elsewhere.sqlite")
    half = run_of(0.5)
    once = usual(lambda: elsewhere.add(half, Verdict("shop"), keep=3, recordings=recordings_of(half)))

    def child() -> None:
        for i in range(10_000):
            run = run_of(i / 10_000)
            store.add(run, Verdict("shop"), keep=3, recordings=recordings_of(run))

    for _ in range(kills):
        during += killed(child, rng.uniform(0.0, 3 * once))
        check_stored(store)
        assert all(line.cases == CASES for line in store.runs())
        assert len(store.runs()) >= min(seen, 3)
        seen = len(store.runs())
    store.add(run_of(1.0), Verdict("shop"))
    assert values(store.load("last")) == {1.0}
    return {"kills": during, "kept": seen}


def journal_writes(folder: Path, kills: int, rng: random.Random) -> dict[str, int]:
    """What a run had measured is taken up by the next, as far as it got; no journal stays behind."""
    store = HistoryStore(folder / ".auepora" / "history.sqlite")

    def write(store: HistoryStore, value: float) -> None:
        whole = run_of(value)
        answers = recordings_of(whole)
        journal = Journal(Path(store.name).parent, datetime.now(timezone.utc))
        journal.begin(replace(whole, cases={}))
        for name, case in whole.cases.items():
            journal.add(whole.path, "", CaseJson.of(case, answers[name]), {})
        store.add(whole, Verdict("shop"), keep=5, recordings=answers)
        journal.close()

    def child() -> None:
        for i in range(10_000):
            write(store, i / 10_000)

    once = usual(lambda: write(HistoryStore(folder / "elsewhere" / "history.sqlite"), 0.5))
    during = recovered = 0
    for _ in range(kills):
        during += killed(child, rng.uniform(0.0, 3 * once))
        recovered += len(recover(store, folder / ".auepora", Keep()))
        assert find_journals(folder / ".auepora") == []
        check_stored(store)
        store.prune(5)
    return {"kills": during, "kept": recovered}


def label_writes(folder: Path, kills: int, rng: random.Random) -> dict[str, int]:
    """The labels of the golden file are all the old ones or all the new, and its baseline can be read."""
    golden = folder / "shop.golden.yaml"
    texts = [f"The shop on street number {i} opens at nine." for i in range(CASES)]
    cases = "".join(
        f"  - {{id: case-{i}, query: Q{i}, relevant_docs: [{{id: a-{i}, text: {text}}}]}}  # by hand\n"
        for i, text in enumerate(texts)
    )
    golden.write_text(f"suite: shop\nmetrics: [token_f1]\ncases:\n{cases}", encoding="utf-8")
    corpora = {name: corpus_of({f"{name}-{i}": text for i, text in enumerate(texts)}) for name in "ab"}
    suite = load_golden(golden)
    run = run_of(0.5)
    for case in suite.cases:
        run.cases[case.id].content_hash = case.content_hash
    path = baseline_path(golden, "shop", "")
    accept(path, run, Acceptance({"all"}))

    def labels() -> str:
        said = golden.read_text(encoding="utf-8")
        assert said.count("# by hand") == CASES
        (letter,) = {label.doc_id[0] for case in load_golden(golden).cases for label in case.sample.relevant_docs or ()}
        return letter

    def write() -> None:
        suite, other = load_golden(golden), corpora["b" if labels() == "a" else "a"]
        repair(golden, [check_case(case, other, []) for case in suite.cases], baselines_of(suite))

    def child() -> None:
        for _ in range(10_000):
            write()

    once = usual(write)
    during = seen = 0
    last = labels()
    for _ in range(kills):
        during += killed(child, rng.uniform(0.0, 3 * once))
        now = labels()
        seen += now != last
        last = now
        found = load_baseline(path, "shop", "")
        assert found is not None
        assert len(found.cases) == CASES
    return {"kills": during, "kept": seen}


def baseline_writes(folder: Path, kills: int, rng: random.Random) -> dict[str, int]:
    """The baseline and its anchor are each absent, or one whole file."""
    path = baseline_path(folder / "shop.golden.yaml", "shop", "")
    anchor = anchor_path(path)
    during = versions = anchors = 0
    last: object = None
    once = usual(lambda: accept(folder / "elsewhere.json", run_of(random.random()), Acceptance({"all"})))

    def child() -> None:
        random.seed()
        for _ in range(10_000):
            run = run_of(round(random.random(), 4))
            for target in random.sample([path, anchor], 2):  # or the second would hardly ever be reached
                accept(target, run, Acceptance({"all"}, prune=target == anchor))

    longest = 3 * once
    for _ in range(kills):
        during += killed(child, rng.uniform(0.0, longest))
        found = load_baseline(path, "shop", "")
        assert found is not None or last is None, "the baseline is gone"
        if found is not None:
            now = {case.scores["token_f1"] for case in found.cases.values()}
            assert (len(found.cases), len(now)) == (CASES, 1)
            versions += now != last
            last = now
        held = load_baseline(anchor, "shop", "")
        assert held is None or len({case.scores["token_f1"] for case in held.cases.values()}) == 1
        anchors += held is not None
        if not (versions and anchors):
            longest *= 1.2  # the machine is busier than when it was measured: it gets something done as well
    assert anchors
    accept(path, run_of(1.0), Acceptance({"all"}))  # no lock is left behind
    return {"kills": during, "kept": versions}


CHECKS = {"store": store_writes, "journal": journal_writes, "baseline": baseline_writes, "labels": label_writes}

if __name__ == "__main__":
    what, directory, count = sys.argv[1:]
    print(json.dumps(CHECKS[what](Path(directory), int(count), random.Random(7))))
