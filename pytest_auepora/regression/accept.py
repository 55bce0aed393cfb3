"""Accepting results: merging a run into a baseline.  Cases that were not run stay as they are.

A system that samples answers differently each time, so an update writes what changed beyond chance, and no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from ..base.files import write_atomically
from ..base.git import conflict_line, our_side
from ..core.metrics_base import Metric
from ..core.run import MetricInfo, Run
from ..errors import BaselineError
from .baseline import Baseline, BaselineCase, BaselineMetric, metric_key
from .baseline_file import load_baseline, lock_baseline, parse_baseline
from .checks import accepted_checks, case_rules
from .compare import CaseComparison, Comparison, compare, provenance_changes
from .guards.suite_guard import judge_comparison, note_shares
from .policy import RegressionPolicy

_MANY_FALLS = 3
"""From so many accepted falls of a metric in a row on, an update says what they add up to."""


Refused = Literal["raised", "skipped"]
"""Why a case cannot be accepted: it raised in all its answers, or was skipped."""


class Falls(NamedTuple):
    """How often in a row the mean of a metric fell when it was accepted, from where, and to where."""

    times: int
    before: float
    after: float


@dataclass(slots=True)
class Accepted:
    """What an update did, or as a preview would do.

    ``kept`` are cases that answered differently by no more than chance, so that their blocks stay; ``not_selected``
    counts the cases outside the intents.
    """

    path: Path = Path()
    written: bool = False
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    refused: dict[str, Refused] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    unchanged: int = 0
    not_selected: int = 0
    falls: dict[str, Falls] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How a run is accepted.

    Attributes:
        intents: ``all`` executed cases, ``new`` ones, those that only ``improved``; ``anew``: all, also where nothing
            changed beyond chance.
        prune: whether baseline cases that the suite no longer has are dropped, after a full run.
        policy: how the family is judged.
        metrics: the metric objects of the run.
        advisory: metrics that fail nothing.
        preview: whether nothing is written.
    """

    intents: Collection[str]
    prune: bool = False
    policy: RegressionPolicy = field(default_factory=RegressionPolicy)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    advisory: Collection[str] = ()
    preview: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every executed case is meant."""
        return not {"all", "anew"}.isdisjoint(self.intents)


def accept(path: Path, run: Run, how: Acceptance | Collection[str]) -> Accepted:
    """Merge *run* into the baseline at *path*, under a lock, and write it if that changes a byte.

    *how* may be its intents alone.

    Raises:
        BaselineError: the file is broken and this is no full update of all cases, or it cannot be written.
    """
    how = how if isinstance(how, Acceptance) else Acceptance(how)
    with lock_baseline(path):
        try:
            old = load_baseline(path, run.suite, run.variant)
        except BaselineError:
            if not (run.is_full and how.is_whole):
                raise
            old = _of_conflict(path)
        new, accepted = merge(old, run, how)
        accepted.path, text = path, new.dumps()
        accepted.written = path.read_bytes() != text.encode() if old is not None else bool(new.cases)
        if accepted.written and not how.preview:
            write_atomically(path, text)
        return accepted


def _of_conflict(path: Path) -> Baseline | None:
    """Return this side of a baseline that a merge left in conflict, so that an update tells what it changes."""
    with suppress(BaselineError, OSError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8")
        return parse_baseline(our_side(text), str(path)) if conflict_line(text) else None
    return None


def merge(old: Baseline | None, run: Run, how: Acceptance) -> tuple[Baseline, Accepted]:
    """Return *old* with the executed cases of *run*, and what was accepted.

    A metric whose definition changed needs a full run, else old and new numbers would stand under one name.

    Raises:
        BaselineError: such a metric is in a run that is partial or not accepted as a whole.
    """
    accepted = Accepted()
    old = old or Baseline(run.suite, run.variant)
    new = Baseline(run.suite, run.variant, dict(old.metrics), dict(old.provenance), dict(old.cases))
    keys = {name: metric_key(info) for name, info in run.metrics.items() if info.baselined}
    whole = run.is_full and how.is_whole
    mixed = [name for name, key in keys.items() if name in old.metrics and old.metrics[name].key != key]
    if mixed and not whole:
        raise BaselineError(
            f"{run.title}: {', '.join(mixed)} changed its definition since the baseline; "
            "accept it with a full run and --auepora-update=all"
        )
    comparison = compare(run, old)
    note_shares(run, comparison, how.policy, how.advisory)
    selected = {i for i in run.cases if how.is_whole or ("new" in how.intents and i not in old.cases)}
    if "improved" in how.intents:
        selected |= {i for i, case in comparison.cases.items() if _improved(case)}
    measured = {name for case in run.cases.values() for name in case.scores if name in keys}
    is_other = (
        (old.cases and _moved(run, comparison, how))
        or "anew" in how.intents
        or old.is_old
        or mixed
        or measured - old.metrics.keys()
    )
    by_chance = not (is_other or provenance_changes(old.provenance, run.provenance))
    _merge_cases(new, run, comparison, accepted, how, selected=selected, by_chance=by_chance)
    if how.prune and run.is_full:
        expected = set(run.expected_ids)
        accepted.removed = [i for i in new.cases if i not in expected]
        for case_id in accepted.removed:
            del new.cases[case_id]
    _merge_metrics(new, keys, whole=whole or (how.prune and run.is_full))
    if whole and (accepted.added or accepted.changed):
        _count_falls(old, new, run.metrics, accepted)
    if accepted.added or accepted.changed or whole:
        new.provenance = dict(run.provenance)
    if (old.cases, old.metrics) == (new.cases, new.metrics) and not provenance_changes(old.provenance, new.provenance):
        new.provenance = dict(old.provenance)  # another commit alone changes no byte of the file
    return new, accepted


def _moved(run: Run, comparison: Comparison, how: Acceptance) -> bool:
    """Whether the family as a whole is worse or better, by the first answers."""
    gates = judge_comparison(run, comparison, how.policy, how.metrics, how.advisory).gates
    return any(gate.word in ("worse", "better") for gate in gates)


def _improved(case: CaseComparison) -> bool:
    """Whether something rose or was fixed, and nothing fell or was lost."""
    return case.paired and not case.lost and case.worst == 0 and (case.best > 0 or case.flip == "fixed")


def _merge_cases(
    new: Baseline, run: Run, comparison: Comparison, accepted: Accepted, how: Acceptance, *, selected: Collection[str],
    by_chance: bool,
) -> None:  # fmt: skip
    """Put the executed cases that are *selected* into *new*, and count them in *accepted*.

    With *by_chance*, cases that answered otherwise by no more than chance stay as they are.
    """
    steady = new.steady
    for case_id, result in run.cases.items():
        before = new.cases.get(case_id)
        if result.state == "skipped":
            accepted.refused[case_id] = "skipped"
        elif (block := BaselineCase.of(result, run.metrics)).answered is False:
            accepted.refused[case_id] = "raised"
        elif case_id not in selected:
            accepted.not_selected += 1
        elif before == block:
            accepted.unchanged += 1
        elif by_chance and before is not None and _is_chance(run, comparison.cases[case_id], block, steady, how):
            accepted.kept.append(case_id)
        else:
            (accepted.added if before is None else accepted.changed).append(case_id)
            new.cases[case_id] = block


def _is_chance(run: Run, case: CaseComparison, block: BaselineCase, steady: Collection[str], how: Acceptance) -> bool:
    """Whether a case answered otherwise by no more than chance: nothing steady differs, and no check turned over.

    What answers alike each time and differs now has changed.
    """
    before, result = case.before, run.cases[case.case_id]
    if before is None or not case.paired or before.answers < block.answers or not (before.varied or block.varied):
        return False
    if before.documents != block.documents or any(before.scores.get(n) != block.scores.get(n) for n in steady):
        return False
    rules = case_rules(result, case, run.metrics, how.policy, advisory=how.advisory)
    then, now = accepted_checks(rules, before), accepted_checks(rules, block)
    return not any(
        (then.failed.get(key, 0) == 0 and now.failed.get(key, 0) == now.answers)
        or (then.failed.get(key, 0) == then.answers and now.failed.get(key, 0) == 0)
        for key in {*then.failed, *now.failed}
    )


def _merge_metrics(new: Baseline, keys: dict[str, dict[str, object]], *, whole: bool) -> None:
    """Keep the metrics that some case still has a score for."""
    merged = {name: BaselineMetric(**key) for name, key in keys.items()}  # type: ignore[arg-type]
    for name, metric in new.metrics.items():
        if name not in merged and not whole:
            merged[name] = metric
        elif name in merged and metric.key == merged[name].key:
            merged[name] = metric  # with what is known of its falls
    for case_id, case in new.cases.items() if whole else ():
        if gone := {*case.scores, *case.data} - merged.keys():
            new.cases[case_id] = case.without(gone)
    used = {n for c in new.cases.values() for n in (*c.scores, *c.data)}
    new.metrics = {n: k for n, k in merged.items() if n in used}


def _count_falls(old: Baseline, new: Baseline, infos: Mapping[str, MetricInfo], accepted: Accepted) -> None:
    """Note in *new* how often in a row the mean of each metric fell, and in *accepted* where it did so often."""
    for name, metric in new.metrics.items():
        info, before = infos[name], old.metrics.get(name)
        if before is None or before.key != metric.key:
            continue
        then, now = (baseline.centre(name, info.worst) for baseline in (old, new))
        if then is None or now is None or abs(gain := info.gain(then, now)) <= info.resolution:
            continue
        falls = before.falls + 1 if gain < 0 else 0
        start = (before.fell_from if before.fell_from is not None else round(then, info.decimals)) if falls else None
        new.metrics[name] = BaselineMetric(metric.version, metric.params, falls, start)
        if falls >= _MANY_FALLS and start is not None:
            accepted.falls[name] = Falls(falls, start, now)
