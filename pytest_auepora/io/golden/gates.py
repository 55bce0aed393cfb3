"""Thresholds of a golden file, read against the metrics that the file computes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...base.complaints import Problem
from ...base.text import did_you_mean
from ...core.metrics_base import Direction, Metric
from ...errors import MetricError, ThresholdError, UnknownNameError
from ...metrics.catalogue import ALWAYS
from ...metrics.registry import Registry
from ...regression.policy import Slice
from ...regression.thresholds import PSEUDO_METRICS, Bound, Gate, check_range, read_gates, split_stat
from ..source import KeyPath, Source
from .model import GoldenCase


@dataclass(eq=False)
class ThresholdReader:
    """Reads the thresholds of one file, at *top*, against its metrics: their direction and range."""

    source: Source
    registry: Registry
    top: KeyPath = ()
    metrics: dict[str, Metric] = field(default_factory=dict, init=False)
    warnings: list[Problem] = field(default_factory=list, init=False)

    def load_metrics(self, names: Sequence[str]) -> tuple[str, ...]:
        """Look up the metrics that the file lists; report those that do not exist."""
        for i, name in enumerate(names):
            try:
                self.metrics[name] = self.registry.get(name)
            except (UnknownNameError, MetricError) as exc:
                message, unknown = str(exc), isinstance(exc, UnknownNameError)
                if name in PSEUDO_METRICS:
                    message, unknown = f"{name} is always counted; name it in thresholds, not in metrics", False
                self.source.report((*self.top, "metrics", i), message, unknown="metric" if unknown else "")
        return tuple(names)

    def case_bounds(self, raw: dict[Any, Any], path: KeyPath) -> dict[str, tuple[Bound, ...]]:
        """Read the thresholds at *path*, of a case or of every case."""
        gate_lists = (self._read_case_gates(part, (*path, key)) for key, part in raw.items())
        return {gates[0].metric: tuple(gate.bound for gate in gates) for gates in gate_lists if gates}

    def _read_case_gates(self, raw: Any, path: KeyPath) -> list[Gate]:
        gates, key = self._read_gates(raw, path, quiet=True), path[-1]
        if any(g.stat != "aggregate" or g.slice or g.owner for g in gates):
            message = f"{key}: a case has one score; stat, slice and owner belong to the file's thresholds"
            self.source.report(path, message)
        elif gates and gates[0].metric in PSEUDO_METRICS:
            self.source.report_key(path, f"{key} is a share of cases; it belongs to the file's thresholds")
        else:
            return gates
        return []

    def gates(self, raw: dict[Any, Any], owner: str, owners: Mapping[str, str]) -> list[Gate]:
        """Read the thresholds of the file; a gate without an owner has that of its metric, else that of the file."""
        result = []
        for key, part in raw.items():
            path = (*self.top, "thresholds", key)
            line, col = self.source.position(path, on_key=True)
            for gate in self._read_gates(part, path):
                gate_owner = gate.owner or owners.get(gate.metric, owner)
                result.append(replace(gate, owner=gate_owner, line=line, col=col))
        return result

    def check_names(self, names: Iterable[str], path: KeyPath) -> None:
        """Report keys of the mapping at *path* that are not metrics of this file."""
        for name in names:
            if self.metric_scale(name) is None:
                self.source.report_key((*path, name), self.unknown_message(name))

    def metric_scale(self, name: str) -> tuple[Direction, float, float] | None:
        """Direction and range of a metric that this file computes, or None."""
        if name in PSEUDO_METRICS:
            return PSEUDO_METRICS[name], 0.0, 1.0
        metric = self.metrics.get(name)
        if metric is None and name in ALWAYS:
            metric = self.metrics[name] = self.registry.get(name)
        return (metric.direction, *metric.range) if metric is not None else None

    def unknown_message(self, name: str) -> str:
        """Return why a threshold cannot name *name*."""
        suggestion = did_you_mean(name, [*self.metrics, *PSEUDO_METRICS, *ALWAYS], most=1)
        try:
            self.registry.get(name)
        except UnknownNameError as exc:
            return f"unknown metric {name!r}{suggestion}" if suggestion else str(exc)
        except MetricError as exc:
            return str(exc)
        return f"{name} is not computed; add it to metrics"

    def _read_gates(self, raw: Any, path: KeyPath, *, quiet: bool = False) -> list[Gate]:
        key = path[-1]
        if not isinstance(key, str):
            self.source.report_key(path, f"the key {key!r} is not a metric")
            return []
        try:
            metric, _ = split_stat(key)
            if (scale := self.metric_scale(metric)) is None:
                self.source.report_key(path, self.unknown_message(metric))
                return []
            direction, low, high = scale
            gates = read_gates(key, raw, direction)
            for gate in gates:
                if gate.metric in PSEUDO_METRICS and gate.stat != "aggregate":
                    raise ThresholdError(f"{gate.metric} is one number for the whole suite; it has no {gate.stat}")
                check_range(gate.bound, gate.title, *((0.0, 1.0) if gate.stat == "pass_rate" else (low, high)))
            if not quiet:  # a case may opt out of what it inherits
                self._warn(path, gates, scale)
        except ThresholdError as exc:
            self.source.report(path, str(exc) if key in str(exc) else f"{key}: {exc}")
            return []
        return gates

    def _warn(self, path: KeyPath, gates: Sequence[Gate], scale: tuple[Direction, float, float]) -> None:
        """Warn of a threshold that no bad value fails; ``error_rate: 1`` is how people allow errors."""
        for title in dict.fromkeys(gate.title for gate in gates if gate.metric != "error_rate"):
            bounds = [gate.bound for gate in gates if gate.title == title]
            direction, low, high = ("higher", 0.0, 1.0) if gates[0].stat == "pass_rate" else scale
            extremes = {"min": low, "max": high}
            effective_ops = [bound.op for bound in bounds if bound.limit != extremes[bound.op]]
            if not effective_ops:
                value_range = f"from {low:g} to {high:g}" if high != float("inf") else f"{low:g} or more"
                message = f"{title} {bounds[0]} cannot fail: the value is always {value_range}"
            elif ("min" if direction == "higher" else "max") not in effective_ops:
                message = f"{title} {bounds[0]} fails only what is better: {direction} is better"
            else:
                continue
            line, col = self.source.position(path)
            self.warnings.append(Problem(self.source.path, line, col, message))

    def check_case_thresholds(self, cases: Sequence[GoldenCase]) -> None:
        """Warn of case thresholds on a metric if no case that has one has the fields the metric needs."""
        testable: set[str] = set()
        untestable: dict[str, Problem] = {}
        for case in cases:
            for name in case.thresholds:
                if name in testable:
                    continue
                needed = self.metrics[name].required_fields() if name in self.metrics else ()
                missing = " and ".join(field for field in needed if getattr(case.sample, field) is None)
                if not missing:
                    testable.add(name)
                elif name not in untestable:
                    message = f"the threshold of cases on {name} cannot fail: no case that it is for has {missing}"
                    untestable[name] = Problem(self.source.path, case.line, case.col, message)
        self.warnings += [problem for name, problem in untestable.items() if name not in testable]

    def check_gates(self, gates: Sequence[Gate], cases: Sequence[GoldenCase]) -> None:
        """Report gates without data: an empty slice, a pass rate without case thresholds."""
        labels = _label_values(cases, {key for gate in gates for key in gate.slice})
        for gate in gates:
            if gate.stat == "pass_rate" and not any(gate.metric in case.thresholds for case in cases):
                message = f"{gate.title} counts cases that keep their threshold, but no case has one on {gate.metric}"
                self.source.report_at(gate.line, gate.col, f"{message}; add it to case_thresholds")
            for reason in _unmatched_labels(gate.slice, labels):
                self.source.report_at(gate.line, gate.col, f"{gate.title}: {reason}")

    def check_slices(self, slices: Sequence[Slice], path: KeyPath, cases: Sequence[GoldenCase]) -> None:
        """Report slices, listed at *path*, that no case is in."""
        for i, slice_ in enumerate(slices):
            messages: Iterable[str] = ()
            if not isinstance(slice_, str):
                messages = _unmatched_labels(slice_, _label_values(cases, slice_))
            elif not any(_case_values(case, slice_) for case in cases):
                labels = {"tag", *(k for case in cases for k, v in case.sample.labels.items() if _is_word(v))}
                label, _, value = slice_.partition(":")
                suggestion = f"; write {{{label}: {value.strip()}}}" if value else did_you_mean(slice_, labels)
                messages = [f"no case has the label {slice_!r}{suggestion}"]
            for message in messages:
                self.source.report((*path, i), f"slices: {message}")


def _label_values(cases: Sequence[GoldenCase], keys: Collection[str]) -> dict[str, list[str]]:
    """Return the values that the cases have for each of *keys*, sorted."""
    return {key: sorted({value for case in cases for value in _case_values(case, key)}) for key in keys}


def _unmatched_labels(slice_: Mapping[str, str], labels: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield a message for each label of a slice whose value no case has."""
    for key, value in slice_.items():
        values = labels[key]
        if value not in values and value != "none":
            existing = f"; available: {', '.join(values[:10])}" if values else f", and none has {key} at all"
            yield f"no case has {key}: {value}{did_you_mean(value, values)}{existing}"


def _case_values(case: GoldenCase, key: str) -> tuple[str, ...]:
    if key == "tag":
        return case.tags
    value = case.sample.labels.get(key)
    return (str(value),) if _is_word(value) else ()


def _is_word(value: Any) -> bool:
    return value is not None and not isinstance(value, (dict, list))
