"""A suite: its metrics, an empty run and its baseline before anything is asked, then all of its cases in one go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ..adapters.systems import System
from ..calls.caller import Caller
from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.progress import Progress
from ..core.run import CaseResult, MetricInfo, Run
from ..io.golden.model import GoldenCase, GoldenSuite
from ..metrics.catalogue import ALWAYS
from ..metrics.registry import Registry
from ..regression.baseline import Baseline, baseline_path, load_baseline
from ..regression.guards.calibration import FOLDER
from .case_flow import Asked, CaseFlow, Finished
from .case_result import Ended
from .replay import ask_case

_ASSERTED = {"assertion_pass": {"must_contain", "forbidden"}, "json_schema_valid": {"answer_schema"}}
"""The metrics that measure assertions, with the labels that make one: a contract holds whatever the file lists."""
_LABELLED = {"coverage_entities": {"entities"}, "redaction_efficacy": {"sensitive"}}
"""The metrics that nothing but these labels is for."""


def suite_metrics(suite: GoldenSuite, registry: Registry) -> dict[str, Metric]:
    """Return the metrics of *suite* by name: those listed, those of assertions and labels, those always measured."""
    said = {label for case in suite.cases for label in case.sample.labels}
    asserted = _ASSERTED if suite.policy.assertions == "fail" else {}
    labelled = [name for name, labels in {**asserted, **_LABELLED}.items() if not labels.isdisjoint(said)]
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
        own = suite.policy.ruler_of(name)
        info.ruler += [key for key in own if key not in info.ruler]
        info.survives = "" if set(own).intersection(CHUNK_KEYS) else info.survives
    return Run(
        suite.name,
        path or str(suite.path),
        variant,
        metrics=infos,
        expected_ids=tuple([case.id for case in suite.cases]),
        owner=suite.owner,
    )


def find_baseline(suite: GoldenSuite, variant: str = "", override: Path | None = None) -> tuple[Baseline | None, str]:
    """Return the baseline of *suite*, or None and why; a broken one raises `BaselineError`."""
    path = baseline_path(suite.path, suite.name, variant, override)
    found = load_baseline(path, suite.name, variant)
    if found is not None:
        return found, ""
    plain = baseline_path(suite.path, suite.name, "", override)
    other = f"; {plain.name} is of no variant" if variant and plain.exists() else ""
    place = path.name if override in (None, path) else f"{path.parent.name}/{path.name}"  # it may be mistyped
    return None, f"no baseline yet ({place}{other})"


def calibrations_of(suite: GoldenSuite, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return where the calibrations of *suite*'s judges lie: *folder*, or ``__calibrations__`` beside it."""
    return Path(folder) if folder is not None else suite.path.parent / FOLDER


_TOGETHER = 32  # cases that are measured at once: enough for a model, not many to hold


def run_suite(
    flow: CaseFlow,
    cases: Sequence[GoldenCase],
    system: System,
    caller: Caller,
    *,
    repeat: int = 1,
    corpus: Any = None,
    seed: int | None = None,
    progress: bool | None = False,
    again: Mapping[str, int] | None = None,
    confirms: Callable[[GoldenCase, CaseResult], range] | None = None,
) -> Iterator[Finished]:
    """Put *cases* to *system*; yield each as *flow* ends it, those that are skipped first.

    Args:
        flow: ends the cases.
        cases: those of a suite.
        system: answers.
        caller: makes the calls.
        repeat: how often each case is asked.
        corpus: what labels that moved are looked up in, as the project gave it.
        seed: of random numbers, from which each call's own is derived.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.
        again: how many more answers to ask for, by case: they count for nothing but what varies.
        confirms: says which repeats, counted from 0, ask a failed case again before it fails; an empty range for most.
    """
    from ..core.batches import in_batches  # a pytest session needs none of it

    todo = [case for case in cases if case.skip is None]
    times = {case.id: repeat + (again or {}).get(case.id, 0) for case in todo}
    asks = (ask_case(system, case, i, seed=seed) for case in todo for i in range(times[case.id]))
    calls = caller.map(asks, (case.timeout for case in todo for _ in range(times[case.id])))
    for case in cases:
        if case.skip is not None:
            yield flow.leave_out(case, Ended("skip", case.skip))
    with Progress("cases", len(todo), show=progress) as bar:
        for batch in in_batches(todo, _TOGETHER):
            asked = [
                Asked(case, list(islice(calls, times[case.id])), corpus, times[case.id] - repeat) for case in batch
            ]
            for one, finished in zip(asked, flow.finish_all(asked, system), strict=True):
                case = one.case
                if numbers := confirms(case, finished.result) if confirms is not None else ():
                    fns = [ask_case(system, case, i, seed=seed) for i in numbers]
                    more = [
                        caller.call((case.id, i), fn, timeout=case.timeout) for i, fn in zip(numbers, fns, strict=True)
                    ]
                    flow.confirm(finished, Asked(case, more, corpus), system)
                yield finished
                bar.done()
