"""One case asked several times: the mean of its quality scores, the median of its latencies."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ..core.run import CaseResult, MetricInfo, Score

__all__ = ["merge_repeats"]


def merge_repeats(results: Sequence[CaseResult], infos: dict[str, MetricInfo]) -> CaseResult:
    """Return one result for the repeats of one case; texts and ranks shown are those of the first.

    A case of which any repeat errored is errored: half an outage is not a score.  The single values are kept
    in ``extra["repeats"]``.  Metrics that aggregate counts instead of values (``bleu``, ``distinct_2``) stand on
    the first answer.
    """
    first = results[0]
    if len(results) == 1:
        return first
    failed = [r for r in results if r.state == "error"]
    if failed:
        worst = failed[0]
        head, _, rest = worst.error.partition("\n")
        worst.error = f"{head} (in {len(failed)} of {len(results)} repeats)" + (f"\n{rest}" if rest else "")
        return worst
    first.extra["repeats"] = {
        name: [r.scores[name].value for r in results] for name, score in first.scores.items() if score.value is not None
    }
    first.scores = {name: _merged([r.scores[name] for r in results], infos.get(name)) for name in first.scores}
    first.seconds = statistics.median(r.seconds for r in results)
    return first


def _merged(scores: Sequence[Score], info: MetricInfo | None) -> Score:
    for score in scores:
        if score.state == "error":
            return score
    values = [s.value for s in scores if s.value is not None]
    if not values:
        return scores[0]
    middle = statistics.median if info is not None and info.target == "LATENCY" else statistics.fmean
    measured = next(s for s in scores if s.value is not None)
    return Score("number", middle(values), data=measured.data, details=measured.details)
