"""What the statistics of a gate say: its metric now and in the baseline, the test of it, or its interval."""

from __future__ import annotations

from ...base.text import decimal_text
from ...core.run import MetricInfo
from ...regression.outcomes import GateOutcome, Interval, Test
from ...regression.thresholds import Bound
from ..numbers import change, number, places_of, plural

_TINY = 0.0001  # as small as a p-value is shown


# -- against the baseline


def values_text(gate: GateOutcome) -> str:
    """Return the value of the baseline and that of the run, over how many cases; empty where one is missing."""
    if gate.before is None or gate.value is None:
        return ""
    clusters = gate.test.clusters if gate.test is not None else gate.interval.clusters if gate.interval else gate.n
    before, value = (f"{v:.{places_of(v, 4)}f}" for v in (gate.before, gate.value))
    return f"{before} → {value} over {cases_text(gate.n, clusters)}"


def cases_text(n: int, clusters: int | None = None) -> str:
    """Return ``24 cases``, or ``24 cases in 6 clusters``."""
    text = plural(n, "case")
    return text if clusters in (None, 0, n) else f"{text} in {plural(clusters or 0, 'cluster')}"


def moves_text(test: Test) -> str:
    """Return how many cases went down and up."""
    return f"{test.n_worse:,} worse, {test.n_better:,} better"


def loss_text(test: Test) -> str:
    """Return how many cases went down and up; where nearly as many rose, by how much all fell on average."""
    return moves_text(test) if 2 * test.n_better < test.n_worse else f"{change(-test.drop, 2)} on average"


def tolerance_text(gate: GateOutcome) -> str:
    """Return by how much the value is worse than tolerated; empty where it is not."""
    if gate.word == "inconclusive" and gate.look == "second":
        return "it fell in the first answers, and not in the second"
    if gate.limit is None or gate.before is None or gate.value is None or gate.word != "worse":
        return ""
    drop = abs(gate.value - gate.before)
    return f"worse by {Bound('max', gate.limit).shown(drop)}, more than the tolerated {decimal_text(gate.limit)}"


def test_text(test: Test, gate: GateOutcome) -> str:
    """Return what the test of a member of the family says."""
    if not test.n_worse and not test.n_better:
        return "no case differs"
    if gate.method == "tolerance":
        limit = test.min_effect
        if gate.word == "worse":
            shown = Bound("max", limit).shown(test.drop)
            return f"worse by {shown}, more than the tolerated {decimal_text(limit)} ({moves_text(test)})"
        return moves_text(test)
    moved = _change_text(test)
    if gate.word == "worse":
        return f"{moved}, {p_text(test.p_adjusted, test)}{_second_text(test)}"
    if gate.word == "better":
        return f"{moved}, {p_text(test.p_gain, test)}"
    if gate.word == "same":
        small = f", below min_effect {shortest(test.min_effect)}" if 0 < test.drop < test.min_effect else ""
        return f"{moved}{small}: lost less than {shortest(test.margin)} on average"
    return f"{moved}; {_undecided_text(test, gate)}"


def _change_text(test: Test) -> str:
    by = shortest(abs(test.drop))
    moved = "unchanged on average" if abs(test.drop) < 5e-5 else f"{'worse' if test.drop > 0 else 'better'} by {by}"
    return f"{moved} ({moves_text(test)})"


def _second_text(test: Test) -> str:
    return f", and in the second answers p {shortest(test.second_p)}" if test.second_p is not None else ""


def _undecided_text(test: Test, gate: GateOutcome) -> str:
    """Return why nothing is decided, without alarm: what chance may do, and how large a loss is not ruled out."""
    why = []
    if test.second_p is not None and gate.look == "second":
        why.append(f"the second answers do not confirm a loss (p {shortest(test.second_p)})")
    elif test.drop > 0 and test.p_adjusted <= test.alpha and not test.hall_agrees:
        why.append("few cases changed much and the others hardly (Hall's t does not agree)")
    elif test.drop > 0:
        why.append(f"chance alone may do this ({p_text(test.p_adjusted, test)})")
    if test.lower is not None and -test.lower > 0:
        why.append(f"a loss of up to {shortest(-test.lower)} is not ruled out")
    if test.cases_needed is not None:
        why.append(f"about {plural(test.cases_needed - gate.n, 'more case')} would decide it")
    return ", ".join(why) or "too few cases to tell"


def p_text(p: float, test: Test) -> str:
    """Return ``p 0.0132 <= 0.05 (corrected for 6 metrics)``."""
    shown, sign = shortest(p, Bound("max", test.alpha)), "<=" if p <= test.alpha else ">"
    compared = shown if 0.0 < p < _TINY else f"{shown} {sign} {shortest(test.alpha)}"
    members = "metrics and slices" if test.has_slices else "metrics"
    return f"p {compared}{f' (corrected for {test.members} {members})' if test.members > 1 else ''}"


def detectable_text(test: Test) -> str:
    """Return the minimum detectable drop: ``0.05 if every answer gets a little worse; about 6 lost answers``.

    Of a steady metric what one lost document costs; empty where nothing is known.
    """
    if test.detectable is None:
        return f"about {plural(test.detectable_answers, 'lost answer')}" if test.detectable_answers else ""
    size = number(test.detectable, 2)
    if test.detectable_answers is None:
        return size
    return f"{size} if every answer gets a little worse; about {plural(test.detectable_answers, 'lost answer')}"


def interval_text(interval: Interval, gate: GateOutcome, info: MetricInfo | None) -> str:
    """Return what the interval of a metric says, or why it has none."""
    ratio = interval.effect == "ratio"
    loss = "rise" if info is not None and info.direction == "lower" else "drop"
    if gate.method == "tolerance":
        if gate.word != "worse":
            return ""
        limit = _amount(interval.min_effect, ratio=ratio)
        size = abs((gate.value or 0.0) - (gate.before or 0.0)) / ((gate.before or 1.0) if ratio else 1.0)
        amounts = (_amount(size, ratio=ratio, digits=digits) for digits in range(4, 18))
        return f"{loss} of {next((text for text in amounts if text != limit), limit)}, more than the tolerated {limit}"
    if interval.unchanged:
        return "no case differs"
    if gate.reason == "too few clusters":
        return "fewer than 10 clusters, and the metric varies"
    if gate.reason == "alpha too small":
        return "alpha is too small to tell by resampling"
    least, worst = (_amount(size, ratio=ratio) for size in (interval.min_effect, interval.margin))
    said = {
        "worse": f"clearly worse, and by at least {least}", "better": f"clearly better, and by at least {least}",
        "same": f"a true {loss} of {worst} is ruled out",
    }.get(gate.word, f"not clearly worse by {least}, but a true {loss} of {worst} is still possible")  # fmt: skip
    return f"{_ends_text(interval)}; {said}"


def _ends_text(interval: Interval) -> str:
    value, low, high = interval.value, interval.low, interval.high
    if value is None or low is None or high is None:
        return "how far apart the two truly are cannot be told"
    level = f"{(1 - interval.alpha) * 100:.4g} %"
    if interval.effect == "ratio":
        return f"times {value:.3f}, by chance between {low:.3f} and {high:.3f} ({level} interval)"
    return f"{value:+.4f}, by chance between {low:+.4f} and {high:+.4f} ({level} interval)"


def limit_text(gate: GateOutcome) -> str:
    """Return the tolerated loss: ``0.01``; ``10 %`` where losses are shares of the value."""
    ratio = gate.interval is not None and gate.interval.effect == "ratio"
    return _amount(gate.limit or 0.0, ratio=ratio)


def _amount(size: float, *, ratio: bool, digits: int = 4) -> str:
    return f"{decimal_text(size * 100, digits)} %" if ratio else decimal_text(size, digits)


def shortest(x: float, limit: Bound | None = None) -> str:
    """Four decimals without trailing zeros; more if *x* would else be shown on the wrong side of *limit*."""
    if 0.0 < x < _TINY:
        return f"< {_TINY}"
    text = limit.shown(x) if limit is not None else f"{x:.4f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
