"""Writes the same thing over and over in child processes that are killed at random moments, and looks after each.

Run as a program: ``python -m tests.unit.history.killed store|baseline DIRECTORY KILLS``.  Prints what was seen as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pytest_auepora.core.run import CaseResult, MetricInfo, Run, Score
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.accept import accept
from pytest_auepora.regression.baseline import baseline_path, load_baseline
from pytest_auepora.regression.verdict import Verdict

CASES = 60


def run_of(value: float) -> Run:
    """A run in which every case scored *value*, so that a mixture of two shows."""
    run = Run("shop", "shop.golden.yaml", expected_ids=tuple(f"case-{i}" for i in range(CASES)))
    run.metrics["token_f1"] = MetricInfo("token_f1", 1, {}, "GENERATION_CORRECTNESS", "higher", (0, 1), True, True)
    for name in run.expected_ids:
        result = CaseResult(name, scores={"token_f1": Score("number", value)}, content_hash=name, query="q" * 500)
        run.add([result])
    return run


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
    once = usual(lambda: elsewhere.add(run_of(0.5), Verdict("shop"), keep=3))

    def child() -> None:
        for i in range(10_000):
            store.add(run_of(i / 10_000), Verdict("shop"), keep=3)

    for _ in range(kills):
        during += killed(child, rng.uniform(0.0, 3 * once))
        for line in store.runs():
            assert line.cases == CASES
            assert len(values(store.load(line.run_id))) == 1
        assert len(store.runs()) >= min(seen, 3)
        seen = len(store.runs())
    store.add(run_of(1.0), Verdict("shop"))
    assert values(store.load("last")) == {1.0}
    return {"kills": during, "kept": seen}


def baseline_writes(folder: Path, kills: int, rng: random.Random) -> dict[str, int]:
    """The file is absent, or one whole baseline."""
    path = baseline_path(folder / "shop.golden.yaml", "shop", "")
    during = versions = 0
    last: object = None
    once = usual(lambda: accept(folder / "elsewhere.json", run_of(random.random()), ["all"]))

    def child() -> None:
        random.seed()
        for _ in range(10_000):
            accept(path, run_of(round(random.random(), 4)), ["all"])

    for _ in range(kills):
        during += killed(child, rng.uniform(0.0, 3 * once))
        found = load_baseline(path, "shop", "")
        assert found is not None or last is None, "the baseline is gone"
        if found is not None:
            now = {case.scores["token_f1"] for case in found.cases.values()}
            assert (len(found.cases), len(now)) == (CASES, 1)
            versions += now != last
            last = now
    accept(path, run_of(1.0), ["all"])  # no lock is left behind
    return {"kills": during, "kept": versions}


if __name__ == "__main__":
    what, directory, count = sys.argv[1:]
    check = {"store": store_writes, "baseline": baseline_writes}[what]
    print(json.dumps(check(Path(directory), int(count), random.Random(7))))
