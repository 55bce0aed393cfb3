"""How strictly a run is held to its baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from ..errors import ThresholdError, did_you_mean

PolicyName = Literal["auto", "statistical", "tolerance", "report"]
OnInconclusive = Literal["pass", "fail"]
JudgePolicy = Literal["calibrated", "gate", "advisory"]
CaseGuard = Literal["auto", "net", "off"]
Assertions = Literal["fail", "report"]

Slice = Mapping[str, str] | str
"""Labels with their values (``{"scenario": "typo"}``), or a label by itself: one slice for each of its values."""

ALL = "all"
"""Every metric, in ``not_comparable``."""

CLUSTERS_FOR_STATISTICS = 10
"""Below this many only an exact test may fail a metric, and a slice is not judged."""

OVERRIDES = ("policy", "case_guard", "case_max_drop", "min_effect", "margin", "judge")
"""Settings that may differ from metric to metric; alpha belongs to the whole family of metrics."""


@dataclass(frozen=True, slots=True)
class AnchorPolicy:
    """How strictly a run is held to the anchor, in fields of `RegressionPolicy`; a ``policy`` of None is the file's.

    The limits are wider than against the baseline: only accepted steps that add up to a real loss are to fail.
    """

    policy: PolicyName | None = None
    min_effect: float = 0.03
    margin: float = 0.1


@dataclass(frozen=True, slots=True)
class RegressionPolicy:
    """The settings of the verdict.  Differences are in the metric's own unit.

    Attributes:
        policy: ``tolerance`` compares means with ``min_effect``; ``statistical`` tests them; ``auto`` is the first
            for a steady metric of fewer than ten clusters, else the second; ``report`` shows the change and fails
            nothing.
        case_guard: ``auto`` fails a case whose score in a steady metric fell by more than ``case_max_drop``; ``net``
            leaves single cases to the suite's net flips; ``off`` lists them only.
        case_max_drop: how far the score of one case may fall before that case fails.
        confirm: how often a failing case is asked again at once; it fails if every answer fails.
        again: whether an update asks cases again, to learn which metrics are steady; 0 asks nothing.
        assertions: whether a broken assertion (``must_contain``, …) fails its case, or is reported only.
        min_effect: a drop of the mean below this is no regression, however certain.
        alpha: chance of a false alarm over all metrics together.
        margin: how large a drop must be ruled out before a metric counts as unharmed.
        on_inconclusive: whether an inconclusive metric passes or fails the run.
        judge: when a judge's scores may fail the run: ``calibrated``, once `calibration` says so; ``gate``, always;
            ``advisory``, never.
        slices: parts of the suite that are judged in addition to the whole: labels with their values, or one label
            for a slice of each of its values.
        anchor: how strictly the run is held to its anchor, where there is one.
        not_comparable: provenance key → metrics (or ``all``) that are not comparable if the key differs, in addition
            to those that the metrics name themselves.
        metrics: for single metrics, other values of `OVERRIDES`.

    Raises:
        ThresholdError: a value that cannot work.
    """

    policy: PolicyName = "auto"
    case_max_drop: float = 0.5
    min_effect: float = 0.01
    alpha: float = 0.05
    margin: float = 0.05
    on_inconclusive: OnInconclusive = "pass"
    judge: JudgePolicy = "calibrated"
    slices: Sequence[Slice] = ()
    anchor: AnchorPolicy = field(default_factory=AnchorPolicy)
    not_comparable: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    case_guard: CaseGuard = "auto"
    confirm: int = 2
    again: int | None = None
    assertions: Assertions = "fail"

    def __post_init__(self) -> None:
        literals = {"policy": PolicyName, "on_inconclusive": OnInconclusive, "judge": JudgePolicy}
        literals |= {"case_guard": CaseGuard, "assertions": Assertions}
        for name, choices in ((name, get_args(literal)) for name, literal in literals.items()):
            if (value := getattr(self, name)) not in choices:
                raise ThresholdError(
                    f"{name} is one of {', '.join(choices)}, got {value!r}{did_you_mean(str(value), choices)}"
                )
        sizes = {"case_max_drop": self.case_max_drop, "min_effect": self.min_effect, "margin": self.margin}
        sizes |= {"anchor: min_effect": self.anchor.min_effect, "anchor: margin": self.anchor.margin}
        for name, value in sizes.items():
            if not (_is_number(value) and value >= 0):
                raise ThresholdError(f"{name} must be a number, 0 or more, got {value!r}")
        for name in ("confirm", "again"):
            value = getattr(self, name)
            if value is not None and not (type(value) is int and value >= 0):
                raise ThresholdError(f"{name} must be a whole number, 0 or more, got {value!r}")
        if not (_is_number(self.alpha) and 0 < self.alpha < 0.5):
            raise ThresholdError(f"alpha must lie between 0 and 0.5, got {self.alpha!r}")
        if self.anchor.policy not in (None, *get_args(PolicyName)):
            raise ThresholdError(f"anchor: policy is one of {', '.join(get_args(PolicyName))}")
        for metric, own in self.metrics.items():
            for key in own:
                if key not in OVERRIDES:
                    raise ThresholdError(f"{metric}: {key!r} cannot differ by metric{did_you_mean(key, OVERRIDES)}")
            replace(self, metrics={}, **own)

    def for_metric(self, name: str) -> RegressionPolicy:
        """Return the policy of one metric, its overrides applied."""
        own = self.metrics.get(name)
        return replace(self, metrics={}, **own) if own else self

    def method_for(self, name: str, clusters: int, *, steady: bool) -> PolicyName:
        """Return how a metric is judged over so many clusters: as the file says, or as ``auto`` picks."""
        policy = self.for_metric(name).policy
        if policy != "auto":
            return policy
        return "tolerance" if clusters < CLUSTERS_FOR_STATISTICS and steady else "statistical"

    def against_anchor(self) -> RegressionPolicy:
        """Return the policy for the comparison with the anchor; no limit of a metric is narrower than the anchor's."""
        anchor = self.anchor
        limits: dict[str, Any] = {"min_effect": anchor.min_effect, "margin": anchor.margin}
        metrics = {
            name: {
                key: max(value, limits[key]) if key in limits else value
                for key, value in own.items()
                if key != "policy" or anchor.policy != "report"
            }
            for name, own in self.metrics.items()
        }
        return replace(self, policy=anchor.policy or self.policy, slices=(), metrics=metrics, **limits)

    def provenance_keys_of(self, name: str) -> list[str]:
        """Return the provenance keys that must be equal, by this file, for scores of metric *name* to be comparable."""
        return [key for key, names in self.not_comparable.items() if name in names or ALL in names]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
