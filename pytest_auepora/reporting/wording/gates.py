"""The judgements on a suite: what a gate says, in full and in short, and how much of it a list repeats."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ...base.pages import reference
from ...base.text import names_words
from ...core.run import MetricInfo, Run
from ...regression.outcomes import HAS_NUMBER, PASS_RATE, GateOutcome, Interval, Note, Test
from ...regression.thresholds import Bound
from ...regression.verdict import Verdict
from ..numbers import change, number, places_of, plural
from .changes import by_reason, metrics_text, unpaired_text

MOST_OPEN = 12
_TINY = 0.0001  # as small as a p-value is shown
"""Most gates in a group that is open by default."""

_ACCEPT = "accept a run with `pytest --auepora-update`"
JUDGE_GONE = "the judge that was calibrated is not there: no model is named now; its gates count only with it"
_PRUNE = "accept with `pytest --auepora-update=prune`"
_CHECK_HINT = "`pytest --auepora-labels check` lists them"


def gate_title(gate: GateOutcome) -> str:
    """Return the name of a gate among all of its suite: ``regression: recall@5``, ``coverage: cases``."""
    if gate.kind == "threshold":
        return part_text(gate)
    part = part_text(gate) or _SUBJECTS.get(gate.reason, "")
    return f"{gate.kind}: {part}" if part else gate.kind


_SUBJECTS = {
    "must_pass skipped": "must_pass", "cases vanished": "cases", "metrics vanished": "metrics", "scores lost": "scores",
    "labels moved": "labels",
}  # fmt: skip


def part_text(gate: GateOutcome) -> str:
    """Return what is judged: ``recall@5``, ``p10(recall@5)``, ``ndcg@10{scenario=typo}``, ``share with recall@5``."""
    return f"share with {gate.metric}" if gate.stat == HAS_NUMBER else gate.part


def gate_sentence(gate: GateOutcome, run: Run, notes: Sequence[Note] = ()) -> str:
    """Return the whole sentence on *gate*, beginning with its title; *notes* are those of its verdict."""
    return f"{gate_title(gate)}: {reason_text(gate, run, notes)}"


def reason_text(gate: GateOutcome, run: Run, notes: Sequence[Note] = ()) -> str:
    """Return why *gate* is in its state, without its title."""
    if gate.reason == "partial run":
        return f"{len(run.cases):,} of {len(run.expected_ids):,} cases ran, so this was not judged"
    text = _missing_text(gate, run) if gate.reason and gate.test is None and gate.interval is None else ""
    text = text or _judged_text(gate, run.metrics.get(gate.metric))
    if gate.state == "failed" and gate.word == "inconclusive":
        text = f"inconclusive (on_inconclusive: fail): {text}"
    if gate.would_be == "failed":
        text = f"would fail: {text}"
    return text + _no_label_hint(gate, run, notes)


def brief_text(gate: GateOutcome, run: Run, notes: Sequence[Note] = ()) -> str:
    """Return the reason without the values that stand in the table of metrics beside it."""
    stands_beside = gate.value is not None and not gate.slice and gate.kind == "regression"
    if stands_beside and gate.method == "tolerance" and gate.word == "worse" and gate.limit is not None:
        return f"worse by more than the tolerated {_limit_text(gate)}"
    if stands_beside and gate.test is not None and gate.metric in run.metrics:
        return _test_text(gate.test, gate)
    return reason_text(gate, run, notes)


def bound_text(gate: GateOutcome) -> str:
    """Return the limit: ``>= 0.8``, ``drop <= 0.01``, ``p > 0.05``, ``interval at 0.0125``."""
    if gate.kind == "threshold":
        return str(gate.bound) if gate.bound is not None else ""
    if gate.method == "tolerance" and gate.limit is not None:
        return f"loss <= {_limit_text(gate)}"
    if gate.test is not None:
        return f"p > {gate.test.alpha:g}"
    return f"interval at {gate.interval.alpha:g}" if gate.interval is not None and gate.interval.alpha else ""


def errored_text(n_error: int) -> str:
    """Return the remark on errored cases that a value counts."""
    return f"{n_error} errored and {'counts' if n_error == 1 else 'count'} as the worst value"


# -- thresholds, and what is missing


def _judged_text(gate: GateOutcome, info: MetricInfo | None) -> str:
    if gate.kind == "threshold":
        return _threshold_text(gate)
    values = _values_text(gate)
    if gate.test is not None:
        told = _test_text(gate.test, gate)
    elif gate.interval is not None:
        told = _interval_text(gate.interval, gate, info)
    else:
        told = _tolerance_text(gate)
    return f"{values}: {told}" if values and told else values or told


def _threshold_text(gate: GateOutcome) -> str:
    bound = gate.bound
    if bound is None or gate.value is None:
        return "nothing was measured"
    word = "is" if bound.holds(gate.value) else "is not"
    errors = f", {errored_text(gate.n_error)}" if gate.n_error else ""
    return f"{bound.shown(gate.value)} {word} {bound} (over {gate.n} of {gate.total} cases{errors})"


def _missing_text(gate: GateOutcome, run: Run) -> str:
    """Return why there is no number to judge, or what is missing; empty where the numbers say it."""
    names, detail = names_words(gate.names), gate.detail
    match gate.reason:
        case "all skipped":
            return f"every case was skipped{f' ({detail})' if detail else ''}"
        case "no case ran":
            return f"no case ran in the slice {dict(gate.slice)}" if gate.slice else "no case ran"
        case "nothing measured" if gate.names:
            return f"no case has a number in {names_words(gate.names)}, so nothing was judged"
        case "nothing measured":
            return f"nothing was measured: {detail or 'the metric gave no score'}"
        case "suite not selected":
            return "the test 'suite' was not selected, so this was not judged"
        case "not finished":
            return f"the run ended before it was judged, after {gate.n} of {gate.total} cases"
        case "no worst value":
            n = plural(gate.n_error, "case")
            return f"{n} errored, and an error has no worst {gate.metric} to count with"
        case "aggregate failed":
            return f"not judged: {detail}"
        case "must_pass skipped":
            return f"{names}: must pass, and was skipped"
        case "cases vanished":
            new_names = {old: f"{old} (renamed to {new}?)" for old, new in gate.renamed.items() if new}
            gone = names_words([new_names.get(name, name) for name in gate.names])
            return f"{gone} in the baseline, no longer in the golden file; {_PRUNE}"
        case "metrics vanished":
            return f"{names} in the baseline, no longer computed; {_PRUNE}"
        case "scores lost":
            first = gate.names[0] if gate.names else "a case"
            cases = f"{first} and {len(gate.names) - 1} more" if len(gate.names) > 1 else first
            why = f" ({gate.metric}{f': {detail}' if detail else ''})" if gate.metric or detail else ""
            return f"{cases} had a score in the baseline and has none now{why}; {_ACCEPT}"
        case "labels moved":
            return (
                f"{names}: moved labels without a match, so retrieval is n/a in "
                f"{plural(gate.n or len(gate.worst_cases), 'case')}; {_CHECK_HINT}"
            )
        case "no baseline":
            return f"{detail or 'there is no baseline'}; {_ACCEPT}, and commit the file"
        case "suspects":
            return f"{names} failed and could not be confirmed, which a required baseline does not allow"
        case "unreadable" | "not written" | "hook raised":
            return detail
        case "nothing compares":
            reasons = [*metrics_text(gate.incomparable), *unpaired_text(gate.unpaired, len(run.cases))]
            said = "; ".join(reasons) or "they have no score in common"
            return f"nothing in this run compares with it: {said}; whether the run is worse was not judged"
        case "damaged data":
            reasons = [*by_reason(gate.incomparable)] or [detail or "its data are damaged"]
            return f"{reasons[0]}; restore the baseline or accept anew"
        case "nothing measured at all":
            return "no case was measured in both runs, so there is nothing to judge"
        case "calibration unusable":
            return detail
        case "judge gone":
            return JUDGE_GONE
        case "judge silent":
            return f"every reply of the judge failed, in {plural(gate.n, 'case')}: {detail}"
        case _:
            return ""


def _no_label_hint(gate: GateOutcome, run: Run, notes: Sequence[Note]) -> str:
    info = run.metrics.get(gate.metric)
    is_retrieval = info is not None and info.target.startswith("RETRIEVAL")
    note = next((note for note in notes if note.kind == "no label met"), None)
    if note is None or not is_retrieval or gate.kind != "threshold" or gate.state != "failed":
        return ""
    return f"; no label was met in {plural(note.data.get('cases', 0), 'case')} ({label_hint(note)})"


def label_hint(note: Note) -> str:
    """Return what to do about labels that nothing met."""
    if not note.data.get("returned"):
        return "no document was returned; does the system return (answer, documents)?"
    if source := note.data.get("source"):
        return f"a plain label is an id; did you mean {{doc: {source}}}?"
    return f"a plain label is an id, {{doc: …}} names a source document: {reference('recall-is-zero')}"


# -- against the baseline


def _values_text(gate: GateOutcome) -> str:
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


def _tolerance_text(gate: GateOutcome) -> str:
    if gate.word == "inconclusive" and gate.look == "second":
        return "it fell in the first answers, and not in the second"
    if gate.limit is None or gate.before is None or gate.value is None or gate.word != "worse":
        return ""
    drop = abs(gate.value - gate.before)
    return f"worse by {Bound('max', gate.limit).shown(drop)}, more than the tolerated {gate.limit:g}"


def _test_text(test: Test, gate: GateOutcome) -> str:
    """Return what the test of a member of the family says."""
    if not test.n_worse and not test.n_better:
        return "no case differs"
    if gate.method == "tolerance":
        limit = test.min_effect
        if gate.word == "worse":
            shown = Bound("max", limit).shown(test.drop)
            return f"worse by {shown}, more than the tolerated {limit:g} ({moves_text(test)})"
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


def _interval_text(interval: Interval, gate: GateOutcome, info: MetricInfo | None) -> str:
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


def _limit_text(gate: GateOutcome) -> str:
    """Return the tolerated loss: ``0.01``; ``10 %`` where losses are shares of the value."""
    ratio = gate.interval is not None and gate.interval.effect == "ratio"
    return _amount(gate.limit or 0.0, ratio=ratio)


def _amount(size: float, *, ratio: bool, digits: int = 4) -> str:
    return f"{size * 100:.{digits}g} %" if ratio else f"{size:.{digits}g}"


def shortest(x: float, limit: Bound | None = None) -> str:
    """Four decimals without trailing zeros; more if *x* would else be shown on the wrong side of *limit*."""
    if 0.0 < x < _TINY:
        return f"< {_TINY}"
    text = limit.shown(x) if limit is not None else f"{x:.4f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# -- lists of gates


class GateGroup(NamedTuple):
    """Gates of one state under one heading; ``open`` says whether reports show them expanded."""

    title: str
    open: bool
    state: str
    gates: list[GateOutcome]


def gate_groups(verdict: Verdict) -> Iterator[GateGroup]:
    """Yield the gates that did not pass: failed gates, then slices, then undecided ones.

    Of unjudged gates, only those about the baseline: the headline says when a run is partial.
    """
    red = verdict.outcome == "failed"
    for state, title, opens in (
        ("failed", "{} failed: why", True),
        ("slices", "{} got worse", False),
        ("inconclusive", "{} inconclusive: no loss is shown", False),
        ("advisory", "{} cannot fail the run", not red),
        ("not judged", "{} was not judged", True),
    ):
        gates = [g for g in verdict.gates if state == ("slices" if g.is_of_slice and g.state == "failed" else g.state)]
        gates = [g for g in gates if state != "not judged" or g.kind == "baseline"]
        if gates:
            count_text = plural(len(gates), "slice" if state == "slices" else "gate")
            is_open = opens and (state in ("failed", "not judged") or len(gates) <= MOST_OPEN)
            yield GateGroup(title.format(count_text), is_open, "failed" if state == "slices" else state, gates)


def owner_and_cost(gates: Sequence[GateOutcome], run: Run, named: Collection[str] = ()) -> list[str]:
    """Return the owners of *gates*, without that of the suite, and the costliest cases, unless all are *named*."""
    owners = sorted({gate.owner for gate in gates} - {"", run.owner})
    worst_cases = gates[0].costliest[:3]
    parts = [f"owner {', '.join(owners)}"] if owners else []
    return parts if {*worst_cases} <= {*named} else [*parts, f"costs most: {', '.join(worst_cases)}"]


def metric_names(gates: Sequence[GateOutcome]) -> list[str]:
    """Return what *gates* judge, each once, the pass rate first: it is about the answers as a whole; slices counted."""
    names = dict.fromkeys(part_text(gate) or gate_title(gate) for gate in gates if not gate.is_of_slice)
    slices = sum(gate.is_of_slice for gate in gates)
    return [*sorted(names, key=lambda name: name != PASS_RATE), *([plural(slices, "slice")] if slices else [])]
