"""How strictly a run is held to its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

PolicyName = Literal["auto", "statistical", "tolerance", "report"]
OnInconclusive = Literal["pass", "fail"]
JudgePolicy = Literal["calibrated", "gate", "advisory"]
CaseGuard = Literal["auto", "suite", "off"]
Assertions = Literal["fail", "report"]
Reuse = Literal["", "generator"]

Slice = Mapping[str, str] | str
"""Labels with their values (``{"scenario": "typo"}``), or a label by itself: one slice for each of its values."""

ALL = "all"
"""Every metric, in ``not_comparable``."""

CLUSTERS_FOR_STATISTICS = 10
"""Below this many only an exact test may fail a metric, and a slice is not judged."""


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
    """The settings of the verdict, checked by the reader of golden files.  Differences are in the metric's own unit.

    Attributes:
        policy: ``tolerance`` compares means with ``min_effect``; ``statistical`` tests them; ``auto`` is the first
            for a steady metric of fewer than ten clusters, else the second; ``report`` shows the change and fails
            nothing.
        case_guard: ``auto`` fails a case whose score fell by more than ``case_max_drop`` below its centre, again and
            again; ``suite`` leaves falls to the means, and single cases to the pass rate; ``off`` does without both.
        case_max_drop: how far the score of one case may fall below its centre before that case fails.
        again: how often an update asks cases again; None asks as often as it takes to tell chance.
        reuse: ``generator`` leaves out its call where query, retrieved documents and declared provenance are those of
            the accepted answers, which then serve.
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
        metrics: for single metrics, other values of ``policy``, ``case_guard``, ``case_max_drop``, ``min_effect``,
            ``margin`` or ``judge``; alpha belongs to the whole family of metrics.
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
    again: int | None = None
    assertions: Assertions = "fail"
    reuse: Reuse = ""

    def for_metric(self, name: str) -> RegressionPolicy:
        """Return the policy of one metric, its overrides applied."""
        own = self.metrics.get(name)
        return replace(self, metrics={}, **own) if own else self

    def method_for(self, name: str, clusters: int, *, steady: bool) -> PolicyName:
        """Return how a metric is judged over so many clusters: as the file says, or as ``auto`` picks."""
        if (policy := self.for_metric(name).policy) != "auto":
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
