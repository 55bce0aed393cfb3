"""Coverage: the run must measure what the baseline measured, and find labels that moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ...base.grouping import grouped
from ...core.run import Run
from ...core.scoring import Aggregate
from ...core.types import Document
from ...metrics.catalogue import ALWAYS
from ...metrics.ranking.gold import sources_of
from ..compare import Comparison, Flip
from ..outcomes import GateOutcome, GateReason, GateState, Note

_UNPAIRED: tuple[Flip, ...] = ("new", "changed", "skipped")
_MAX_IDS = 3


def coverage_outcomes(
    run: Run, aggregates: Mapping[str, Aggregate], comparison: Comparison | None, *, accepting: bool, pruning: bool,
    against_accepted: Collection[str] = (),
) -> Iterator[GateOutcome]:  # fmt: skip
    """Yield a failed outcome for each kind of loss, or one if nothing was measured.

    Metrics that compare with accepted answers (*against_accepted*) have no number in the first update.
    """
    losses = [*_losses(run, aggregates, comparison, accepting=accepting, pruning=pruning)]
    yield from losses
    first_update = accepting and comparison is None and any(name in run.metrics for name in against_accepted)
    if (unmeasured := metrics_without_numbers(run)) and not losses and not first_update:
        yield _failure(run, "nothing measured", unmeasured)


def _losses(
    run: Run, aggregates: Mapping[str, Aggregate], comparison: Comparison | None, *, accepting: bool, pruning: bool
) -> Iterator[GateOutcome]:
    """Yield an outcome for each kind of loss, from aggregates without a value to labels that match nothing."""
    for name, aggregate in aggregates.items():
        if aggregate.problem:  # nothing else would judge the metric
            yield _failure(run, "aggregate failed", metric=name, detail=aggregate.problem)
    if skipped := [c.case_id for c in run.cases.values() if c.must_pass and c.state == "skipped"]:
        yield _failure(run, "must_pass skipped", skipped)
    if comparison is not None and not pruning and comparison.vanished:
        renamed = {old: new for old, new in comparison.vanished.items() if new}
        yield _failure(run, "cases vanished", comparison.vanished, renamed=renamed)
    if comparison is not None and not pruning and not accepting and comparison.lost_metrics:
        yield _failure(run, "metrics vanished", comparison.lost_metrics)
    if comparison is not None and not accepting:
        yield from _lost_scores(run, comparison)
    moved = {c.case_id: c.moved for c in run.cases.values() if c.moved is not None and c.moved.get("match") == "none"}
    if moved:
        names = [n for m in moved.values() for n, label in m["labels"].items() if label["match"] == "none"]
        yield _failure(run, "labels moved", names, n=len(moved), worst_cases=tuple(moved)[:5])


def metrics_without_numbers(run: Run) -> list[str]:
    """Return the metrics of *run*, but for those that are always measured, if all are n/a in every case that ran.

    A case or a metric that errored is no such case: that fails by itself.
    """
    names = [name for name in run.metrics if name not in ALWAYS]
    states = {score.state for name in names for score in run.scores_of(name)}
    return names if states == {"n/a"} and not any(run.in_state("error")) else []


def _lost_scores(run: Run, comparison: Comparison) -> Iterator[GateOutcome]:
    """Yield an outcome for each metric that had scores in the baseline and is n/a in all of these cases now.

    One that is n/a in some of them is judged by chance: by the checks of these cases, and in the family.
    """
    lost = grouped((name, i) for i, case in comparison.cases.items() for name in case.lost)
    for name, case_ids in lost.items():
        if not comparison.changes_of(name):
            reasons = {comparison.cases[i].lost[name] for i in case_ids} - {""}
            detail = "; ".join(sorted(reasons)[:2])
            worst = tuple(case_ids[:5])
            yield _failure(run, "scores lost", case_ids, metric=name, n=len(case_ids), worst_cases=worst, detail=detail)


def no_match_notes(run: Run) -> list[Note]:
    """If no retrieved document matches any relevant document in any case: show both id formats.

    The ids probably differ, or the system returns no documents.  Not shown if the right document was returned without
    the passage.
    """
    cases = [c for c in run.cases.values() if c.state in ("passed", "failed") and c.ranks]
    if not cases or any(rank is not None for case in cases for rank in case.ranks.values()):
        return []
    hits = [hit for case in cases for hit in case.outputs.get("retrieved", ())[:_MAX_IDS]]
    relevant = dict.fromkeys(name for case in cases for name in case.ranks)
    returned_docs = {end for hit in hits for end in sources_of(Document(str(hit.get("doc", hit["id"]))))}
    labels = (label for case in cases for label in case.expected.get("relevant", ()))
    if any(label.get("match") in ("quote", "span") and label["id"] in returned_docs for label in labels):
        return []
    sources = {end for hit in hits if "doc" in hit for end in sources_of(Document("", "", {"doc": hit["doc"]}))}
    source = next((name for name in relevant if name in sources), None)
    if len(cases) < 2 and hits and source is None:
        return []
    returned = dict.fromkeys((str(hit["id"]), str(hit.get("doc", ""))) for hit in hits)
    data = {"cases": len(cases), "returned": [list(hit) for hit in returned], "source": source}
    return [Note("no label met", tuple(relevant), data=data)]


def nothing_compares(run: Run, comparison: Comparison, *, required: bool) -> Iterator[GateOutcome]:
    """Yield an outcome if no score is comparable with the baseline: such a run must not count as passed.

    It is failed if a baseline is *required*, else not judged; a wholly skipped run then gives none.
    """
    counts = Counter(case.flip for case in comparison.cases.values())
    any_baselined = any(info.baselined for info in run.metrics.values())
    all_skipped = counts["skipped"] == len(comparison.cases)
    any_compares = any(c.changes or c.lost for c in comparison.cases.values())
    if not any_baselined or any_compares or (all_skipped and not required):
        return
    state: GateState = "failed" if required else "not judged"
    unpaired: dict[str, int] = {flip: counts[flip] for flip in _UNPAIRED if counts[flip]}
    yield GateOutcome(
        "baseline", state, reason="nothing compares", owner=run.owner, total=len(run.cases), unpaired=unpaired,
        incomparable=comparison.incomparable,
    )  # fmt: skip


def _failure(run: Run, reason: GateReason, names: Iterable[str] = (), *, metric: str = "", **found: Any) -> GateOutcome:
    owner = run.owner_of(metric) if metric else run.owner
    return GateOutcome("coverage", "failed", metric, reason=reason, names=tuple(names), owner=owner, **found)
