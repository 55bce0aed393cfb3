"""The answers to one case that is asked several times, as one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.run import CaseResult, MetricInfo
from ..core.scoring import FURTHER, Score


def merge_repeats(results: Sequence[CaseResult], infos: Mapping[str, MetricInfo]) -> CaseResult:
    """Return one result for the repeats of one case; texts and ranks shown are those of the first.

    The mean of its quality scores, the median of its latencies.  A case of which any repeat errored is errored: half
    an outage is not a score.  The single values are kept in ``extra["repeats"]``, ranks that differ in
    ``extra["ranks"]``.  A metric that aggregates counts instead of values (``bleu``, ``distinct_2``) keeps those of
    every repeat.  *results* are left as they are.
    """
    first = results[0]
    if len(results) == 1:
        return first
    if failed := [r for r in results if r.state == "error"]:
        worst = failed[0]
        head, _, rest = worst.error.partition("\n")
        error = f"{head} (in {len(failed)} of {len(results)} repeats)" + (f"\n{rest}" if rest else "")
        return replace(worst, error=error)
    scores = {name: _merged([r.scores[name] for r in results], infos.get(name)) for name in first.scores}
    singles = {name: [r.scores[name].value for r in results] for name, s in scores.items() if s.value is not None}
    import statistics  # with it come fractions and decimal

    seconds = statistics.median(r.seconds for r in results)
    extra = {**first.extra, "repeats": singles}
    if any(r.ranks != first.ranks for r in results):
        extra["ranks"] = [r.ranks for r in results]
    return replace(first, scores=scores, seconds=seconds, extra=extra)


def _merged(scores: Sequence[Score], info: MetricInfo | None) -> Score:
    if failed := [score for score in scores if score.state == "error"]:
        return failed[0]
    measured = [s for s in scores if s.measurement is not None]
    if not measured:
        return scores[0]
    first, *others = measured
    details = first.details
    if any(s.data != first.data for s in others):
        details = {**details, FURTHER: [s.data for s in others]}
    values = [s.value for s in measured if s.value is not None]
    if not values:
        return replace(first, details=details)
    import statistics

    middle = statistics.median if info is not None and info.target == "LATENCY" else statistics.fmean
    return Score("number", middle(values), data=first.data, details=details)
