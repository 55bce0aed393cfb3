"""The notes below a metrics table: what is missing, latency, noise, flaky cases, changed provenance, cost of judges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..base.grouping import grouped
from ..base.pages import reference
from ..base.text import names_words
from ..core.run import Run
from ..metrics.judge.usage import JudgeUsage, usage_of
from ..regression.compare import Comparison
from ..regression.guards.gates import GateOutcome
from ..regression.verdict import Verdict
from .metric_rows import MetricRow, chosen_metrics, rank_of
from .numbers import change, metric_value, number, plural
from .tally import long_note
from .text import listed

_MOST_FLAKY = 10
_MOST_METRICS = 4
_MOST_UNEVEN = 5
_CLEAR = 0.001  # below this p-value, a drop is not called possible chance
_MOST_OPEN = 12  # most gates in a group that is open by default
_VARIES = "non-deterministic"
_PERHAPS = "nothing changed: metrics that vary make a share `alpha` of such runs red; run again, see "
_STOPPED = "JudgeBudgetError: "


def warnings(verdict: Verdict, most_flaky: int = _MOST_FLAKY) -> list[str]:
    """Return the warnings about the numbers: notes of the verdict, flaky cases, a missing baseline.

    In a failed run, the number of cases needed to detect smaller drops is left out.
    """
    left_out = [gate.warning for gate in verdict.gates if gate.warning and verdict.outcome == "failed"]
    notes = [note for note in verdict.notes if not any(warning in note for warning in left_out)]
    return [note for note in (*notes, flaky_line(verdict, most_flaky), long_note(verdict)) if note]


def balance_note(verdict: Verdict) -> str:
    """Return a note if about as many cases scored higher as lower in a failed run; else an empty string.

    The counts may differ by one standard deviation of a fair coin at most.  The gains and losses must be of similar
    size as well: noise of many cases does not balance the losses of a few.
    """
    if verdict.outcome != "failed" or verdict.comparison is None:
        return ""
    gains = [sum(case.gains) / len(case.gains) for case in verdict.comparison.cases.values() if case.gains]
    lower, higher = ([gain for gain in gains if gain * sign > 0] for sign in (-1, 1))
    if min(len(lower), len(higher)) < 2 or (len(lower) - len(higher)) ** 2 > len(lower) + len(higher):
        return ""
    sums = sorted((sum(higher), -sum(lower)))
    if sums[0] * _MOST_UNEVEN < sums[1]:
        return ""
    summaries = [f"{len(side)}, {change(sum(side) / len(side), 2)} on average" for side in (higher, lower)]
    return f"about as many cases scored higher ({summaries[0]}) as lower ({summaries[1]})"


def lowest_note(run: Run, verdict: Verdict) -> str:
    """Return the worst cases of the first metric whose values differ and are not all perfect: for a green run."""
    names = chosen_metrics(run, verdict, len(run.metrics))
    for name in sorted(names, key=lambda name: rank_of(name, run, verdict)):
        info = run.metrics[name]
        best = info.range[1] if info.direction == "higher" else info.range[0]
        scored = [(s.value, c.case_id) for c in run.cases.values() if (s := c.scores.get(name)) and s.value is not None]
        worst = sorted((pair for pair in scored if pair[0] != best), reverse=info.direction == "lower")[:3]
        if worst and len({value for value, _ in scored}) > 1:
            return f"worst {name}: {', '.join(f'{case_id} {metric_value(value, info)}' for value, case_id in worst)}"
    return ""


def gate_reason(gate: GateOutcome) -> str:
    """Return the reason of *gate*; for a failed regression only the finding, without the arithmetic."""
    return gate.finding if gate.finding and gate.state == "failed" else full_reason(gate)


def full_reason(gate: GateOutcome) -> str:
    """Return the full reason of *gate*, with the name of its part only where that is part of the sentence."""
    return gate.reason if gate.subject.endswith(": ") else gate.message


def owner_and_cost(gates: Sequence[GateOutcome], run: Run, named: Collection[str] = ()) -> list[str]:
    """Return the owners of *gates*, without that of the suite, and the costliest cases, unless all are *named*."""
    owners = sorted({gate.owner for gate in gates} - {"", run.owner})
    worst_cases = gates[0].costliest[:3]
    parts = [f"owner {', '.join(owners)}"] if owners else []
    return parts if {*worst_cases} <= {*named} else [*parts, f"costs most: {', '.join(worst_cases)}"]


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
        ("inconclusive", "{} could not be decided", not red),
        ("advisory", "{} cannot fail the run", not red),
        ("not judged", "{} was not judged", True),
    ):
        gates = [g for g in verdict.gates if state == ("slices" if g.is_of_slice and g.state == "failed" else g.state)]
        gates = [g for g in gates if state != "not judged" or g.kind == "baseline"]
        if gates:
            count_text = plural(len(gates), "slice" if state == "slices" else "gate")
            is_open = opens and (state in ("failed", "not judged") or len(gates) <= _MOST_OPEN)
            yield GateGroup(title.format(count_text), is_open, "failed" if state == "slices" else state, gates)


def next_steps(verdict: Verdict, html: str | None = None) -> list[str]:
    """Return the next steps for a run that failed or got better, a sentence each; none for others.

    *html* is the HTML report, where there is one; empty in the HTML report itself.
    """
    word = verdict.word
    if verdict.outcome != "failed":
        accept = "got better: accept it with `pytest --auepora-update`, and later runs are held to it"
        return [accept] if word == "better" else []
    is_worse, steps = word in ("worse", "mixed"), []
    if errors := [g for g in verdict.gates if g.metric == "error_rate" and g.state != "passed" and g.value]:
        errored = f"{round((errors[0].value or 0.0) * errors[0].n)} of {errors[0].n} cases"
        steps.append(f"{errored} errored: fix that, then `pytest --auepora-resume` asks only those again")
    elif is_worse:
        failed = [gate for gate in verdict.gates if gate.state == "failed"]
        steady = verdict.comparison.steady if verdict.comparison is not None else ()
        small = all(g.p is not None and g.p >= _CLEAR and g.metric not in steady for g in failed)
        steps += [_PERHAPS + reference(_VARIES)] if small and not verdict.failed_cases else []
        kinds, words = {gate.kind for gate in failed if gate.word == "worse"}, ""
        if "anchor" in kinds:
            words = " all,anchor" if verdict.regressed_cases or "regression" in kinds else " anchor"
        steps.append(f"intended: accept it with `pytest --auepora-update{words}`, and commit the baseline")
    if verdict.varies:
        cases = plural(len(verdict.varies), "case")
        steps.append(f"varies: {cases} answered differently when asked again; see {reference(_VARIES)}")
    if html is None and (is_worse or not steps):
        shows = " shows each case beside its baseline" if is_worse else ""
        html = f"`pytest --auepora-report html:report.html`{shows}"
    return [*steps, f"look closer: {html}"] if html else steps


def changed_lines(verdict: Verdict) -> list[str]:
    """Return ``index: v1 → v2`` for everything that changed since the baseline."""
    changes = verdict.comparison.provenance.items() if verdict.comparison is not None else ()
    texts = {key: ["(nothing)" if value is None else listed([value]) for value in change] for key, change in changes}
    return [f"{key} {old} → {new}" for key, (old, new) in texts.items()]


def changed_note(verdict: Verdict) -> str:
    """Return `changed_lines` in one line; empty where nothing changed."""
    changes = changed_lines(verdict)
    return f"changed since the baseline: {', '.join(changes)}" if changes else ""


def missing_notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> Iterator[str]:
    """Yield notes on the denominators of *rows*: errors, n/a and why, changes over fewer cases than the value."""
    if any(row.n for row in rows) and (errors := _error_counts(run, rows)):
        yield f"{errors}: left out of the values, the worst value in gates and changes"
    gaps = grouped(_gaps(run, verdict))
    if gaps:
        texts = (f"{n} in {', '.join(names)}{f' ({reason})' if reason else ''}" for (n, reason), names in gaps.items())
        yield f"n/a: {'; '.join(texts)}"
    for row in rows:
        if (aggregate := verdict.aggregates.get(row.name)) is None:
            continue
        if aggregate.details.get("reliable") is False:
            yield f"{row.name}: needs at least {aggregate.details.get('needs')} values, got {aggregate.n}"
        if note := aggregate.details.get("reason") or aggregate.details.get("note"):
            yield f"{row.name}: {note}"
    details = ((name, *item) for name, aggregate in verdict.aggregates.items() for item in aggregate.details.items())
    shares = ((f"{key} {number(share)}", n) for n, key, share in details if key.startswith("judged@") and share < 1)
    if text := _by_metric("beside", shares):  # of metrics that count unlabelled documents as irrelevant
        yield f"labelled: {text}"
    if verdict.comparison is not None:
        yield from _comparison_notes(verdict, verdict.comparison, rows)
    by_owner = grouped((info.owner, name) for name, info in run.metrics.items() if info.owner not in ("", run.owner))
    if by_owner:
        yield f"owners: {'; '.join(f'{owner} of {_join_names(names)}' for owner, names in by_owner.items())}"


def _gaps(run: Run, verdict: Verdict) -> Iterator[tuple[tuple[int | str, str], str]]:
    """Yield each metric that is n/a in some cases, after their number and the reasons."""
    for name, aggregate in verdict.aggregates.items():
        if aggregate.n_na:
            reasons = sorted({s.reason for s in run.scores_of(name) if s.state == "n/a" and s.reason})[:2]
            yield (aggregate.n_na if aggregate.n or aggregate.n_error else "all", "; ".join(reasons)), name


def _by_metric(word: str, pairs: Iterable[tuple[object, str]]) -> str:
    return "; ".join(f"{value} {word} {', '.join(names)}" for value, names in grouped(pairs).items())


def _error_counts(run: Run, rows: Sequence[MetricRow]) -> str:
    cases = sum(case.state == "error" for case in run.cases.values())
    by_count = grouped((row.n_error - cases, row.name) for row in rows if row.n_error > cases)
    parts = [f"{plural(cases, 'case')} errored"] if cases else []
    noun = "other case" if cases else "case"
    parts += [f"{', '.join(names)} errored in {plural(n, noun)}" for n, names in by_count.items()]
    return "; ".join(parts)


def _comparison_notes(verdict: Verdict, comparison: Comparison, rows: Sequence[MetricRow]) -> Iterator[str]:
    changed = ((row.change.n, row) for row in rows if row.change is not None)
    if fewer := _by_metric("in", ((n, row.name) for n, row in changed if n != row.n + row.n_error)):
        yield f"changes are over the cases that compare: {fewer}"
    for reason, names in grouped((reason, name) for name, reason in comparison.incomparable.items()).items():
        brackets = ", the baseline's value is in brackets" if comparison.former.keys() & set(names) else ""
        yield f"not comparable{brackets}: {', '.join(names)} ({reason})"
    gates = (gate for gate in verdict.gates if gate.state != "not judged" and gate.is_of_whole)
    by_size = grouped((number(gate.mde), gate.metric) for gate in gates if gate.mde is not None)
    if by_size and verdict.outcome != "failed":
        is_same = len(by_size) == 1
        text = "; ".join(size if is_same else f"{size} in {', '.join(names)}" for size, names in by_size.items())
        yield f"minimum detectable drop (80 % power): {text}"


def latency_line(run: Run, verdict: Verdict) -> str:
    """Return the times without a row of their own: ``latency: mean 12 ms, p50 10 ms, p95 35 ms over 44 cases``."""
    gated = {g.metric for g in verdict.gates if g.kind == "threshold"}
    parts, n = [], 0
    for name, aggregate in verdict.aggregates.items():
        info = run.metrics.get(name)
        if info is not None and info.target == "LATENCY" and name not in gated and aggregate.value is not None:
            needs = f" (needs at least {aggregate.details.get('needs')} cases)"
            unreliable = aggregate.details.get("reliable") is False
            value = metric_value(aggregate.value, info)
            parts.append(f"{name.replace('_latency', '')} {value}{needs if unreliable else ''}")
            n = aggregate.n
    return f"latency: {', '.join(parts)} over {plural(n, 'case')}" if parts else ""


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def repeats_line(run: Run) -> str:
    """Return ``each case asked 5 times, seed 7``; empty where nothing was repeated or seeded."""
    times, parts = sorted({case.repeats for case in run.in_state("passed", "failed")}), []
    if times and times[-1] > 1:
        each = f"each case asked {times[0]} times"
        parts.append(each if len(times) == 1 else f"asked {times[0]} to {times[-1]} times")
    if (seed := run.provenance.get("seed")) is not None:
        parts.append(f"seed {seed}")
    return ", ".join(parts)


def flaky_line(verdict: Verdict, most: int = _MOST_FLAKY) -> str:
    """Return ``2 flaky cases: late-return (passes in 2 of 5 repeats), …``; empty without any."""
    parts = [f"{case_id} ({reason.split(' and ')[0]})" for case_id, reason in verdict.flaky.items()]
    return f"{plural(len(parts), 'flaky case')}: {names_words(parts, most)}" if parts else ""


def noise_lines(verdict: Verdict) -> list[str]:
    """Return a line for each metric that varied between repeats, those that more repeats help most first."""
    splits = sorted(verdict.noise.items(), key=lambda item: -item[1].most_shrink)
    by_split = grouped((str(split), name) for name, split in splits)
    lines = [f"{', '.join(names)}: {split}" for split, names in by_split.items()]
    n_left = sum(len(names) for names in list(by_split.values())[_MOST_METRICS:])
    return lines[:_MOST_METRICS] + ([f"{plural(n_left, 'other metric')} varied as well"] if n_left else [])


def run_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return notes on the run: its repeats, the noise between them, the cost of judges."""
    return [note for note in (repeats_line(run), *noise_lines(verdict), *judge_lines(run)) if note]


def judge_lines(run: Run) -> list[str]:
    """Return ``judge: 24 requests, 2,400 + 240 tokens, cost 0.0072``, the same by metric, and problems, if any."""
    if not (usages := usage_of(run)):
        return []
    total = _total(usages)
    lines = [f"judge: {usage_text(total)}"]
    if len(usages) > 1:
        lines.append(f"judge by metric: {'; '.join(f'{name} {usage_text(usage)}' for name, usage in usages.items())}")
    stopped = [s.reason for c in run.cases.values() for s in c.scores.values() if s.reason.startswith(_STOPPED)]
    if stopped:
        lines.append(f"{stopped[0].removeprefix(_STOPPED)}: {plural(len(stopped), 'score')} not judged")
    return lines + total.notes


def judge_usage_dict(run: Run) -> dict[str, Any]:
    """Return the usage by metric, and in ``total``; empty for a run without judge requests."""
    if not (usages := usage_of(run)):
        return {}
    return {"total": _total(usages).to_dict(), "metrics": {name: usage.to_dict() for name, usage in usages.items()}}


def cost_text(cost: float) -> str:
    """Return a cost with up to six decimals."""
    return f"{cost:,.6f}".rstrip("0").rstrip(".")


def _total(usages: dict[str, JudgeUsage]) -> JudgeUsage:
    total = JudgeUsage()
    for usage in usages.values():
        total.add(**usage.to_dict())
    return total


def usage_text(usage: JudgeUsage) -> str:
    """Return ``24 requests (1 retry), 2,400 + 240 tokens, cost 0.0072``: tokens of prompts, then of replies."""
    extras = [plural(usage.retries, "retry", "retries")] if usage.retries else []
    extras += [f"{usage.cache_hits:,} more from the cache"] if usage.cache_hits else []
    parts = [plural(usage.requests, "request") + (f" ({', '.join(extras)})" if extras else "")]
    if usage.tokens or not usage.unreported:
        parts.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    if usage.unreported:
        parts.append(f"{plural(usage.unreported, 'reply', 'replies')} without token counts")
    if usage.cost is not None:
        parts.append(f"cost {cost_text(usage.cost)}")
    return ", ".join(parts)
