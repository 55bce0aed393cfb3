"""The verdict on a metric in words a person understands, with the numbers behind them."""

from __future__ import annotations

from ..thresholds import Bound
from .evidence import Evidence, Outcome
from .precision import TIE, cases_for_effect, planned_mde

__all__ = ["reason", "warning"]


def reason(outcome: Outcome, e: Evidence) -> str:
    """Say why *outcome* is what it is; the metric's name is left to the reader's table."""
    if not e.estimate.n_cases:
        return "no case was measured in both runs, so there is nothing to judge"
    if outcome == "same":
        usual = _number(planned_mde(e.estimate.n_clusters))
        return f"no case differs ({_over(e)}); with the usual spread of scores so many would show a drop of {usual}"
    if outcome == "fail":
        return (
            f"{_moved(e)}: if nothing had changed, a drop as clear as this would show in "
            f"{_percent(e.p_adjusted)} of runs ({_p_value(e)}, at most {_number(e.alpha)} fails)"
        )
    if outcome == "better":
        return (
            f"{_moved(e)}: if nothing had changed, a gain as clear as this would show in "
            f"{_percent(e.p_gain)} of runs (p {_number(e.p_gain, Bound('max', e.alpha))})"
        )
    if outcome == "pass":
        but = f"; {_clear_but_small(e)}" if e.is_clear else ""
        return f"{_moved(e)}: a true drop of {_number(e.metric.margin)} is ruled out ({_bound(e)}){but}"
    return f"{_moved(e)}: {_why_no_failure(e)}, and {_why_no_pass(e)}; {_what_decides(e)}"


def warning(e: Evidence) -> str:
    """Say so when the cases are too few to see a drop of the margin; otherwise return an empty string."""
    margin = e.metric.margin
    if e.mde is None or margin <= TIE or e.mde <= margin:
        return ""
    enough = cases_for_effect(e.estimate.n_cases, e.mde, margin)
    return (
        f"these {_over(e)} reliably detect only a drop of {_number(e.mde)} or more, which exceeds the margin "
        f"{_number(margin)}; about {enough} cases would detect that"
    )


def _why_no_failure(e: Evidence) -> str:
    if e.drop <= TIE:
        return "there is no drop to fail"
    if e.is_clear:
        return _clear_but_small(e)
    if e.is_lopsided:
        return f"few cases changed much and the others hardly, which {_p_value(e)} does not allow for"
    return f"chance alone may do this ({_p_value(e)}, at most {_number(e.alpha)} fails)"


def _why_no_pass(e: Evidence) -> str:
    if e.lower_bound is None:
        return "a single cluster has no spread to tell how far the true mean may be off"
    return f"a true drop of {_number(e.metric.margin)} is not ruled out ({_bound(e)})"


def _what_decides(e: Evidence) -> str:
    if e.cases_needed is not None:
        return f"about {e.cases_needed} cases like these would decide it"
    margin, min_effect = _number(e.metric.margin), _number(e.metric.min_effect)
    return f"more cases would not decide it: the drop is at least margin {margin} and below min_effect {min_effect}"


def _clear_but_small(e: Evidence) -> str:
    return f"the drop is clear ({_p_value(e)}) but below min_effect {_number(e.metric.min_effect)}"


def _moved(e: Evidence) -> str:
    by = _number(abs(e.drop))
    how = "unchanged on average" if abs(e.drop) <= TIE else f"worse by {by}" if e.drop > 0 else f"better by {by}"
    return f"{how} ({_over(e)}: {e.n_worse} worse, {e.n_better} better)"


def _over(e: Evidence) -> str:
    cases, clusters = _plural(e.estimate.n_cases, "case"), _plural(e.estimate.n_clusters, "cluster")
    return cases if e.estimate.n_cases == e.estimate.n_clusters else f"{cases} in {clusters}"


def _bound(e: Evidence) -> str:
    bound = "unknown" if e.lower_bound is None else _signed(Bound("min", -e.metric.margin).shown(e.lower_bound))
    return f"lower {_percent(1.0 - e.alpha)} bound {bound}"


def _p_value(e: Evidence) -> str:
    among = "" if e.family_size == 1 else f" among {e.family_size} {e.members}"
    return f"p {_number(e.p_adjusted, Bound('max', e.alpha))}{among}"


def _plural(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _number(x: float, beside: Bound | None = None) -> str:
    """Four decimals without trailing zeros; what would round to nothing is shown as less than the last of them.

    More decimals where it takes them to read on its own side of the limit *beside* it.
    """
    if 0.0 < x < 0.0001:
        return "< 0.0001"
    return (beside.shown(x) if beside is not None else f"{x:.4f}").rstrip("0").rstrip(".")


def _signed(text: str) -> str:
    return text if text.startswith("-") else f"+{text}"


def _percent(share: float) -> str:
    return f"{_number(round(share * 100, 2))} %"
