"""Systems as they were accepted: recorded runs with several answers to a case, and the baselines made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pytest_auepora.adapters.systems import System, as_system
from pytest_auepora.calls.caller import Caller
from pytest_auepora.evaluation.case_flow import CaseCalls, CaseFlow
from pytest_auepora.evaluation.further import FurtherAnswers
from pytest_auepora.evaluation.replay import RecordedRun, ask_case
from pytest_auepora.evaluation.suite import blank_run, run_suite, suite_metrics
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenSuite
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, accept
from pytest_auepora.regression.baseline import Baseline, baseline_path
from pytest_auepora.regression.baseline_file import load_baseline
from pytest_auepora.regression.guards.case_trial import Confirmed


class AcceptedSystem(NamedTuple):
    suite: GoldenSuite
    source: RecordedRun
    baseline: Baseline


def accept_system(path: Path, system: Any, *, times: int = 2, provenance: dict[str, Any] | None = None,
                  ) -> AcceptedSystem:  # fmt: skip
    """Ask *system* each case of the golden file at *path* so often, record the answers and accept them."""
    registry = Registry()
    suite = load_golden(path, registry)
    metrics = suite_metrics(suite, registry)
    run, rag = blank_run(suite, metrics), as_system(system)
    run.provenance = {**rag.provenance, **(provenance or {})}
    flow = CaseFlow(run, metrics, suite.policy, accepting=True, record_cap=100_000, cases=suite.cases)
    recordings = {}
    with Caller() as caller:
        for case in suite.cases:
            calls = list(caller.map(ask_case(rag, case, i) for i in range(times)))
            finished = flow.finish(CaseCalls(case, calls, again=times - 1), rag)
            recordings[case.id] = finished.recordings
            run.add([finished.result])
    file = baseline_path(suite.path, suite.name, "")
    file.parent.mkdir(exist_ok=True)
    accept(file, run, Acceptance({"all"}, policy=suite.policy, metrics=metrics))
    baseline = load_baseline(file, suite.name)
    assert baseline is not None
    return AcceptedSystem(suite, RecordedRun("accepted", run, recordings), baseline)


def recorded_run(accepted: AcceptedSystem, system: System, name: str = "today") -> RecordedRun:
    """Run *system* against what was accepted, asking again what fails; with its recorded answers."""
    suite = accepted.suite
    metrics = suite_metrics(suite, Registry())
    run = blank_run(suite, metrics)
    run.provenance = dict(accepted.source.run.provenance)
    flow = CaseFlow(
        run, metrics, suite.policy, baseline=accepted.baseline, record_cap=100_000, cases=suite.cases,
        confirmed=Confirmed(len(suite.cases)),
    )  # fmt: skip
    recordings = {}
    with Caller() as caller:
        for finished in run_suite(FurtherAnswers(flow, system, caller), suite.cases, numbers=lambda _: range(1, 12)):
            recordings[finished.result.case_id] = finished.recordings
            run.add([finished.result])
    return RecordedRun(name, run, recordings)
