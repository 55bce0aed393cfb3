"""A golden suite before anything is asked: its metrics, an empty run, its baseline; the loop that asks its cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

from ..base.progress import Progress
from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..io.golden.model import GoldenCase, GoldenSuite
from ..metrics.catalogue import ALWAYS
from ..metrics.registry import Registry
from ..regression.baseline import Baseline, baseline_path
from ..regression.baseline_file import load_baseline
from ..regression.checks import ASSERTIONS
from ..regression.guards.calibration import FOLDER
from ..regression.outcomes import BaselineNote
from ..regression.thresholds import PSEUDO_METRICS
from .case_flow import CaseCalls, FinishedCase
from .case_result import Ended
from .further import BATCH_SIZE, FurtherAnswers, drive
from .replay import ask_case
from .update import UpdatePlan

_ASSERTED = {metric: {key for key, (by, _) in ASSERTIONS.items() if by == metric} for metric, _ in ASSERTIONS.values()}
"""The metrics that measure assertions, with the labels that make one: a contract holds whatever the file lists."""
_LABELLED = {"coverage_entities": {"entities"}, "redaction_efficacy": {"sensitive"}}
"""The metrics that read only these labels."""


def suite_metrics(suite: GoldenSuite, registry: Registry) -> dict[str, Metric]:
    """Return the metrics of *suite* by name: those listed, those of assertions and labels, those always measured."""
    labels_used = {label for case in suite.cases for label in case.sample.labels}
    asserted = _ASSERTED if suite.policy.assertions == "fail" else {}
    labelled = [name for name, labels in {**asserted, **_LABELLED}.items() if not labels.isdisjoint(labels_used)]
    listed = {name.partition("[")[0] for name in suite.metrics}
    names = dict.fromkeys([*suite.metrics, *(name for name in labelled if name not in listed), *ALWAYS])
    return {name: registry.get(name) for name in names}


def blank_run(suite: GoldenSuite, metrics: Mapping[str, Metric], variant: str = "", path: str = "") -> Run:
    """Return a run of *suite* in which nothing has been measured yet.

    What is measured only because it costs nothing is shown and can be gated, but is no part of the baseline; nor are
    times and costs, unless the golden file gives them a policy of their own.
    """
    infos = {name: MetricInfo.of(metric) for name, metric in metrics.items()}
    for name, info in infos.items():
        asked_for = suite.policy.metrics.get(name, {}).get("policy", "report") != "report"
        info.baselined = (info.baselined and name in suite.metrics) or asked_for
        info.owner = suite.owners.get(name, "")
        policy_keys = suite.policy.provenance_keys_of(name)
        info.provenance_keys += [key for key in policy_keys if key not in info.provenance_keys]
        info.across_chunkers = "" if set(policy_keys).intersection(CHUNK_KEYS) else info.across_chunkers
    ids = tuple([case.id for case in suite.cases])
    owners = {name: owner for name, owner in suite.owners.items() if name in PSEUDO_METRICS}
    return Run(
        suite.name, path or str(suite.path), variant, metrics=infos, expected_ids=ids, owner=suite.owner, owners=owners
    )


def find_baseline(
    suite: GoldenSuite, variant: str = "", override: Path | None = None
) -> tuple[Baseline | None, BaselineNote]:
    """Return the baseline of *suite*, or None and why; a broken one raises `BaselineError`."""
    path = baseline_path(suite.path, suite.name, variant, override)
    baseline = load_baseline(path, suite.name, variant)
    if baseline is not None:
        return baseline, BaselineNote()
    plain = baseline_path(suite.path, suite.name, "", override)
    place = path.name if override in (None, path) else f"{path.parent.name}/{path.name}"  # it may be mistyped
    if variant and plain.exists():
        return None, BaselineNote("other variant", place, plain.name)
    return None, BaselineNote("none", place)


def calibrations_of(suite: GoldenSuite, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return where the calibrations of *suite*'s judges lie: *folder*, or ``__calibrations__`` beside it."""
    return Path(folder) if folder is not None else suite.path.parent / FOLDER


def run_suite(
    further: FurtherAnswers,
    cases: Sequence[GoldenCase],
    *,
    repeat: int = 1,
    progress: bool | None = False,
    plan: UpdatePlan | None = None,
    numbers: Callable[[GoldenCase], Iterable[int]] = lambda _: (),
) -> Iterator[FinishedCase]:
    """Put *cases* to the system of *further* as `evaluate` does; yield each as its flow ends it, skipped ones first.

    *plan* says how many answers an update asks for; cases that get more of them behind the others are yielded once
    more.  *numbers* are those of the answers, counted from 0, that a case which is about to fail can be asked for
    again; by default none.
    """
    from ..base.batches import in_batches  # a pytest session needs none of it

    flow, system, seed = further.flow, further.system, further.seed
    todo = [case for case in cases if case.skip is None]
    times = {case.id: plan.answers(case.id) if plan is not None else repeat for case in todo}
    ask = partial(ask_case, system, seed=seed)
    asks = (ask(case, i) for case in todo for i in range(times[case.id]))
    calls = further.caller.map(asks, (case.timeout for case in todo for _ in range(times[case.id])))
    results: dict[str, CaseResult] = {}
    for case in cases:
        if case.skip is not None:
            yield flow.leave_out(case, Ended("skip", case.skip))
    with closing(calls), Progress("cases", len(todo), show=progress) as bar:
        for batch in in_batches(todo, BATCH_SIZE):
            batch_calls = [
                CaseCalls(case, list(islice(calls, times[case.id])), further.corpus, times[case.id] - repeat)
                for case in batch
            ]
            for case, finished in zip(batch, flow.finish_all(batch_calls, system), strict=True):
                drive(further.decide(finished, case, numbers(case)))
                if plan is not None:
                    plan.notice(finished.result)
                    results[case.id] = finished.result
                yield finished
                bar.done()
    if plan is not None:
        yield from drive(further.complete(plan, results, todo))
