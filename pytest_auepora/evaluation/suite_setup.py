"""What there is before anything was measured: the metrics of a suite, an empty run, what it is held to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..core.metrics_base import Metric
from ..core.run import MetricInfo, Run
from ..io.golden.load import GoldenSuite
from ..metrics.catalogue import ALWAYS
from ..metrics.registry import Registry
from ..regression.baseline.file import baseline_path, load_baseline
from ..regression.baseline.model import Baseline
from ..regression.guards.calibration import FOLDER

__all__ = ["blank_run", "calibrations_of", "find_baseline", "suite_metrics"]

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
        info.ruler += [key for key in suite.policy.ruler_of(name) if key not in info.ruler]
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
