"""Metrics across cases: a case and its variants, scored by another metric and then compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple, cast

from ..core.metrics_base import CaseScore, Measurement, Metric, NotApplicable, interval_of, provenance_keys_of
from ..core.types import EvaluationSample, MetricResult, SystemOutputs
from ..errors import MetricError
from .options import Configured, DoesNotApply
from .registry import Registry

_REGISTRY = Registry()


class VariantPair(NamedTuple):
    """The values of a variant and of the case it stems from, as `OverPairs.note_case` received them."""

    base: Any
    variant: Any


def as_metric(base: Metric | str) -> Metric:
    """Return *base*, made by a registry of this package's metrics if it is a name; an empty one is a `MetricError`."""
    if isinstance(base, Metric):
        return base
    if not base:
        raise MetricError("which metric? name it first in the bracket: noise_robustness[recall@5]")
    return _REGISTRY.get(base)


def inherit(metric: Metric, base: Metric, *names: str) -> None:
    """Copy the named class attributes and the provenance keys of *base*, known only at run time, to *metric*."""
    for name in names:
        setattr(metric, name, getattr(base, name))
    if base.judged:
        metric.judged, metric.scored_by = True, base.scored_by or base
    metric.provenance_keys = provenance_keys_of(base)


class OverMetric(Configured):
    """Base of the metrics that are made of another one, *base*, given by name or itself; ``metric`` is it."""

    base: Metric | str = ""

    positional = "base"

    def __post_init__(self) -> None:
        self.base = self.metric = as_metric(self.base)
        inherit(self, self.metric, "deterministic", "baselined")
        super().__post_init__()

    def params(self) -> dict[str, Any]:
        return {**super().params(), "base": [self.metric.name, self.metric.version, self.metric.params()]}

    def read_case(self, sample: EvaluationSample) -> None:
        if missing := self.metric.not_applicable(sample):
            raise DoesNotApply(missing.reason)
        super().read_case(sample)


class OverPairs(Configured):
    """Base of the metrics that compare variants with the case they stem from.

    A case without ``labels["variant_of"]`` is a base; one with it is a variant if its ``labels["scenario"]`` is
    among ``scenarios``.  No case has a score of its own: measurements carry what the aggregate needs.
    """

    scenarios = cast("Sequence[str]", ())

    def note_case(self, sample: EvaluationSample, value: Any) -> Measurement:
        """Return what to remember of a case: *value*, its id, and the case it is a variant of."""
        data = {"case": sample.sample_id, "variant_of": sample.labels.get("variant_of"), "seen": value}
        return Measurement(None, data=data)

    def read_case(self, sample: EvaluationSample) -> None:
        scenario = sample.labels.get("scenario")
        if sample.labels.get("variant_of") is not None and str(scenario) not in self.scenarios:
            raise DoesNotApply(f"a variant of scenario {scenario!r}")
        super().read_case(sample)


def _root(case: str, parents: Mapping[str, str | None]) -> str:
    visited = {case}
    while (parent := parents.get(case)) is not None and parent not in visited:
        visited.add(parent)
        case = parent
    return case


def pairs_by_case(measurements: Sequence[Measurement]) -> dict[str, VariantPair]:
    """Return each variant whose base was measured as well, with it, by the id of the variant.

    A variant of a variant is paired with the case both stem from.
    """
    notes = [m.data for m in measurements]
    parents = {note["case"]: note["variant_of"] for note in notes}
    bases = {note["case"]: note["seen"] for note in notes if note["variant_of"] is None}
    return {
        note["case"]: VariantPair(bases[root], note["seen"])
        for note in notes
        if note["variant_of"] is not None and (root := _root(note["case"], parents)) in bases
    }


Predicate = Callable[[EvaluationSample], bool]


class SlicedMetric(Metric):
    """A metric over the samples that satisfy a predicate; n/a for all others.

    Args:
        base: the metric, or its name.
        predicate: a function of the sample, or ``"key:value"``: the label or metadata of that name is the value
            or, being a list, holds it; spelled ``sliced[recall@5,scenario:typo]``.
        name: what to call it, for a predicate that is a function; by default ``recall@5/function_name``.

    Raises:
        MetricError: a predicate in words is not ``key:value``.
    """

    stem = "sliced"
    formula = "the base metric over the cases of the slice"
    source = "Auepora evaluation metrics, dataset slicing"
    oracle = "the base metric on the samples of the slice"

    def __init__(self, base: Metric | str = "", predicate: Predicate | str = "", name: str | None = None) -> None:
        self.base = as_metric(base)
        if isinstance(predicate, str):
            self.predicate = _label_predicate(predicate)
            spelling = f"sliced[{self.base.name},{predicate}]"
        else:
            self.predicate = predicate
            spelling = f"{self.base.name}/{getattr(predicate, '__name__', type(predicate).__name__)}"
        self.name = name or spelling
        self._slice_spelling = spelling
        self.target = self.base.target
        self.interval = interval_of(self.base)
        self.required = tuple(self.base.required_fields())
        inherit(self, self.base, "direction", "range", "deterministic", "baselined", "version")

    def params(self) -> dict[str, Any]:
        return {**self.base.params(), "slice": self._slice_spelling}

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        return self.base.not_applicable(sample) if self.predicate(sample) else NotApplicable("outside the slice")

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        return self.measure_many([sample], [outputs])[0]

    def measure_many(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[CaseScore]:
        inside = list(map(self.predicate, samples))
        scores = iter(self.base.measure_many(list(compress(samples, inside)), list(compress(outputs, inside))))
        return [next(scores) if is_inside else NotApplicable("outside the slice") for is_inside in inside]

    def by_case(self, measurements: Sequence[Measurement]) -> dict[str, float]:
        return self.base.by_case(measurements)

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        result = self.base.aggregate(measurements)
        result.name = self.name
        return result


def _label_predicate(text: str) -> Predicate:
    key, colon, value = text.partition(":")
    if not colon or not key.strip():
        raise MetricError(f"a slice is key:value, as in scenario:typo, got {text!r}")
    key, value = key.strip(), value.strip()

    def in_slice(sample: EvaluationSample) -> bool:
        label = sample.labels.get(key, sample.metadata.get(key))
        if isinstance(label, (list, tuple, set, frozenset)):
            return any(_as_text(item) == value for item in label)
        return _as_text(label) == value

    return in_slice


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
