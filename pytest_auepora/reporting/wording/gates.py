"""The judgements on a suite: what a gate says, in full and in short, and how much of it a list repeats."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ...base.text import decimal_text
from ...core.run import MetricInfo, Run
from ...regression.outcomes import HAS_NUMBER, PASS_RATE, GateOutcome, Note
from ...regression.verdict import Verdict
from ..numbers import plural
from ..text import Sentence
from .missing import label_hint, missing_text
from .statistics import interval_text, limit_text, test_text, tolerance_text, values_text

MOST_OPEN = 12
"""Most gates in a group that is open by default."""


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
    text = missing_text(gate, run) if gate.reason and gate.test is None and gate.interval is None else ""
    text = text or _judged_text(gate, run.metrics.get(gate.metric))
    if gate.state == "failed" and gate.word == "inconclusive":
        text = Sentence("inconclusive (on_inconclusive: fail): ", text)
    if gate.would_be == "failed":
        text = Sentence("would fail: ", text)
    return Sentence(text, _no_label_hint(gate, run, notes))


def brief_text(gate: GateOutcome, run: Run, notes: Sequence[Note] = ()) -> str:
    """Return the reason without the values that stand in the table of metrics beside it."""
    stands_beside = gate.value is not None and not gate.slice and gate.kind == "regression"
    if stands_beside and gate.method == "tolerance" and gate.word == "worse" and gate.limit is not None:
        return f"worse by more than the tolerated {limit_text(gate)}"
    if stands_beside and gate.test is not None and gate.metric in run.metrics:
        return test_text(gate.test, gate)
    return reason_text(gate, run, notes)


def bound_text(gate: GateOutcome) -> str:
    """Return the limit: ``>= 0.8``, ``drop <= 0.01``, ``p > 0.05``, ``interval at 0.0125``."""
    if gate.kind == "threshold":
        return str(gate.bound) if gate.bound is not None else ""
    if gate.method == "tolerance" and gate.limit is not None:
        return f"loss <= {limit_text(gate)}"
    if gate.test is not None:
        return f"p > {decimal_text(gate.test.alpha)}"
    alpha = gate.interval.alpha if gate.interval is not None else 0.0
    return f"interval at {decimal_text(alpha)}" if alpha else ""


def errored_text(n_error: int) -> str:
    """Return the remark on errored cases that a value counts."""
    return f"{n_error} errored and {'counts' if n_error == 1 else 'count'} as the worst value"


# -- thresholds, and what is missing


def _judged_text(gate: GateOutcome, info: MetricInfo | None) -> str:
    if gate.kind == "threshold":
        return _threshold_text(gate)
    values = values_text(gate)
    if gate.test is not None:
        told = test_text(gate.test, gate)
    elif gate.interval is not None:
        told = interval_text(gate.interval, gate, info)
    else:
        told = tolerance_text(gate)
    return f"{values}: {told}" if values and told else values or told


def _threshold_text(gate: GateOutcome) -> str:
    bound = gate.bound
    if bound is None or gate.value is None:
        return "nothing was measured"
    word = "is" if bound.holds(gate.value) else "is not"
    errors = f", {errored_text(gate.n_error)}" if gate.n_error else ""
    return f"{bound.shown(gate.value)} {word} {bound} (over {gate.n} of {gate.total} cases{errors})"


def _no_label_hint(gate: GateOutcome, run: Run, notes: Sequence[Note]) -> str:
    info = run.metrics.get(gate.metric)
    is_retrieval = info is not None and info.target.startswith("RETRIEVAL")
    note = next((note for note in notes if note.kind == "no label met"), None)
    if note is None or not is_retrieval or gate.kind != "threshold" or gate.state != "failed":
        return ""
    return Sentence(f"; no label was met in {plural(note.data.get('cases', 0), 'case')} (", label_hint(note), ")")


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


# -- the test of a suite


def suite_failure(run: Run, failed: Sequence[GateOutcome], notes: Sequence[Note]) -> list[str]:
    """Return why the test of a suite failed, in lines: the gates that *failed*, each with the cases that cost most."""
    lines = []
    if len(failed) > 1:
        lines.append(f"{len(failed)} gates failed: {', '.join(map(gate_title, failed))}")
    for gate in failed:
        place = f"{run.path}:{gate.line}" if gate.line else run.path
        lines.append(f"{place}: {gate_sentence(gate, run, notes)}{_owner(gate)}")
        if gate.costliest:
            lines.append(f"cases that cost most: {', '.join(gate.costliest)}")
    return lines


def gate_line(gate: GateOutcome, run: Run, notes: Sequence[Note]) -> str:
    """Return the state of *gate* with its reason, in one line."""
    return f"{gate.state}: {gate_sentence(gate, run, notes)}{_owner(gate)}"


def unjudged(gates: Sequence[GateOutcome], run: Run) -> str:
    """Return why none of *gates* could be judged."""
    return "; ".join(dict.fromkeys(gate_sentence(gate, run) for gate in gates))


def _owner(gate: GateOutcome) -> str:
    return f" (owner: {gate.owner})" if gate.owner else ""
