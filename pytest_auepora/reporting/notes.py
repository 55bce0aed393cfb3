"""The notes below a metrics table: what is missing, latency, noise, flaky cases, changed provenance, cost of judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..core.grouping import grouped
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
_CLEAR = 0.001
"""A drop that chance gives less often than this is not told as perhaps chance."""
_PERHAPS = (
    "nothing changed: metrics that vary make a share `alpha` of such runs red; run again, see the page "
    "Non-deterministic systems"
)
_MOST_OPEN = 12
"""Gates that are told without being asked for."""

_STOPPED = "JudgeBudgetError: "


def warnings(verdict: Verdict, most_flaky: int = _MOST_FLAKY) -> list[str]:
    """Return what a reader has to know to trust the numbers: notes of the verdict, flaky cases, a missing baseline.

    How many cases would detect more is no news in a run that failed.
    """
    notes = verdict.notes
    if verdict.outcome == "failed":
        notes = [note for note in notes if not any(g.warning and g.warning in note for g in verdict.gates)]
    return [note for note in (*notes, flaky_line(verdict, most_flaky), long_note(verdict)) if note]


def balance_note(verdict: Verdict) -> str:
    """Return that about as many cases scored higher as lower, where that is so in a run that failed; else nothing.

    Both numbers are alike if a fair coin would often part them so: they differ by one standard deviation at most.
    Nor may one side have moved far more than the other: noise of many cases does not balance what a few lost.
    """
    if verdict.outcome != "failed" or verdict.comparison is None:
        return ""
    gains = [sum(case.gains) / len(case.gains) for case in verdict.comparison.cases.values() if case.gains]
    lower, higher = ([gain for gain in gains if gain * sign > 0] for sign in (-1, 1))
    if min(len(lower), len(higher)) < 2 or (len(lower) - len(higher)) ** 2 > len(lower) + len(higher):
        return ""
    moved = sorted((sum(higher), -sum(lower)))
    if moved[0] * _MOST_UNEVEN < moved[1]:
        return ""
    by = [f"{len(some)}, {change(sum(some) / len(some), 2)} on average" for some in (higher, lower)]
    return f"about as many cases scored higher ({by[0]}) as lower ({by[1]})"


def lowest_note(run: Run, verdict: Verdict) -> str:
    """Return the worst cases of the first metric that is not perfect and not alike in all: for a green run."""
    names = chosen_metrics(run, verdict, len(run.metrics))
    for name in sorted(names, key=lambda name: rank_of(name, run, verdict)):
        info = run.metrics[name]
        best = info.range[1] if info.direction == "higher" else info.range[0]
        scored = [(s.value, c.case_id) for c in run.cases.values() if (s := c.scores.get(name)) and s.value is not None]
        short = sorted((one for one in scored if one[0] != best), reverse=info.direction == "lower")[:3]
        if short and len({value for value, _ in scored}) > 1:
            return f"worst {name}: {', '.join(f'{case_id} {metric_value(value, info)}' for value, case_id in short)}"
    return ""


def gate_reason(gate: GateOutcome) -> str:
    """Return why *gate* is what it is; of a regression the finding, without the arithmetic, which the reports have."""
    return gate.finding if gate.finding and gate.state == "failed" else full_reason(gate)


def full_reason(gate: GateOutcome) -> str:
    """Return why *gate* is what it is, with the name of its part only where that is part of the sentence."""
    return gate.reason if gate.subject.endswith(": ") else gate.message


class GateGroup(NamedTuple):
    """Gates of one state under one heading; what nobody has to read at once is not ``open``."""

    title: str
    open: bool
    state: str
    gates: list[GateOutcome]


def gate_groups(verdict: Verdict) -> Iterator[GateGroup]:
    """Yield the gates that did not pass: those that failed, then slices, then what could not be decided.

    Why a partial run is not judged is in its headline.
    """
    red = verdict.outcome == "failed"
    for state, title, wanted in (
        ("failed", "{} failed: why", True),
        ("slices", "{} got worse", False),
        ("inconclusive", "{} could not be decided", not red),
        ("advisory", "{} cannot fail the run", not red),
        ("not judged", "{} was not judged", True),
    ):
        gates = [g for g in verdict.gates if state == ("slices" if g.is_of_slice and g.state == "failed" else g.state)]
        gates = [g for g in gates if state != "not judged" or g.kind == "baseline"]
        if gates:
            what = plural(len(gates), "slice" if state == "slices" else "gate")
            is_open = wanted and (state in ("failed", "not judged") or len(gates) <= _MOST_OPEN)
            yield GateGroup(title.format(what), is_open, "failed" if state == "slices" else state, gates)


def _words(verdict: Verdict) -> str:
    """Return the words of an update: a run that its anchor fails is not accepted by a baseline alone."""
    failed = {gate.kind for gate in verdict.gates if gate.state == "failed" and gate.word == "worse"}
    if "anchor" not in failed:
        return ""
    return " all,anchor" if verdict.fell or "regression" in failed else " anchor"


def next_steps(verdict: Verdict, html: str | None = None) -> list[str]:
    """Return what to do about a run that is red or got better, a sentence each; nothing for others.

    *html* is the HTML report to look closer at, where there is one; empty where that is what is being read.
    """
    word = verdict.word
    if verdict.outcome != "failed":
        accept = "got better: accept it with `pytest --auepora-update`, and later runs are held to it"
        return [accept] if word == "better" else []
    steps = []
    if errors := [g for g in verdict.gates if g.metric == "error_rate" and g.state != "passed" and g.value]:
        errored = f"{round((errors[0].value or 0.0) * errors[0].n)} of {errors[0].n} cases"
        steps.append(f"{errored} errored: mend that, then `pytest --auepora-resume` asks only those again")
    elif word in ("worse", "mixed"):
        steps += [_PERHAPS] if _perhaps_chance(verdict) else []
        steps.append(f"intended: accept it with `pytest --auepora-update{_words(verdict)}`, and commit the baseline")
    if verdict.varies:
        many = plural(len(verdict.varies), "case")
        steps.append(f"varies: {many} answered differently when asked again; see the page Non-deterministic systems")
    if html is None and word in ("worse", "mixed"):
        html = "`pytest --auepora-report html:report.html` shows each case beside its baseline"
    elif html is None and not steps:
        html = "`pytest --auepora-report html:report.html`"
    return [*steps, f"look closer: {html}"] if html else steps


def _perhaps_chance(verdict: Verdict) -> bool:
    """Whether the run is red by nothing but means of metrics that vary, and not by much."""
    steady = verdict.comparison.steady if verdict.comparison is not None else ()
    failed = [gate for gate in verdict.gates if gate.state == "failed"]
    return not verdict.failed_cases and all(
        g.p is not None and g.p >= _CLEAR and g.metric not in steady for g in failed
    )


def changed_lines(verdict: Verdict) -> list[str]:
    """Return ``index: v1 → v2`` for everything that changed since the baseline."""
    if verdict.comparison is None:
        return []
    changes = verdict.comparison.provenance.items()
    shown = {key: ["(nothing)" if value is None else listed([value]) for value in change] for key, change in changes}
    return [f"{key} {old} → {new}" for key, (old, new) in shown.items()]


def changed_note(verdict: Verdict) -> str:
    """Return the same in one line; empty where nothing changed."""
    changes = changed_lines(verdict)
    return f"changed since the baseline: {', '.join(changes)}" if changes else ""


def missing_notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> Iterator[str]:
    """Say what the denominators of *rows* lack: errors, n/a and why, changes over fewer cases than the value."""
    if any(row.n for row in rows) and (errors := _errored(run, rows)):
        yield f"{errors}: left out of the values, the worst value in gates and changes"
    gaps = grouped(
        ((found.n_na if found.n or found.n_error else "all", _reasons(run, name)), name)
        for name, found in verdict.aggregates.items()
        if found.n_na
    )
    if gaps:
        told = (f"{n} in {', '.join(names)}{f' ({why})' if why else ''}" for (n, why), names in gaps.items())
        yield f"n/a: {'; '.join(told)}"
    for row in rows:
        if (aggregate := verdict.aggregates.get(row.name)) is None:
            continue
        if aggregate.details.get("reliable") is False:
            yield f"{row.name}: needs at least {aggregate.details.get('needs')} values, got {aggregate.n}"
        if note := aggregate.details.get("reason") or aggregate.details.get("note"):
            yield f"{row.name}: {note}"
    yield from _labelled(verdict)
    if verdict.comparison is not None:
        yield from _comparison_notes(verdict.comparison, rows)
        yield from _found_from(verdict)
    by = grouped((info.owner, name) for name, info in run.metrics.items() if info.owner not in ("", run.owner))
    if by:
        yield f"owners: {'; '.join(f'{owner} of {_and(names)}' for owner, names in by.items())}"


def _by_metric(word: str, pairs: Iterable[tuple[object, str]]) -> str:
    return "; ".join(f"{what} {word} {', '.join(names)}" for what, names in grouped(pairs).items())


def _errored(run: Run, rows: Sequence[MetricRow]) -> str:
    """Return how many cases errored, and how many metrics of other cases."""
    cases = sum(case.state == "error" for case in run.cases.values())
    by = grouped((row.n_error - cases, row.name) for row in rows if row.n_error > cases)
    said = [f"{plural(cases, 'case')} errored"] if cases else []
    other = "other case" if cases else "case"
    said += [f"{', '.join(names)} errored in {plural(n, other)}" for n, names in by.items()]
    return "; ".join(said)


def _comparison_notes(comparison: Comparison, rows: Sequence[MetricRow]) -> Iterator[str]:
    changed = ((row.change.n, row) for row in rows if row.change is not None)
    if fewer := _by_metric("in", ((n, row.name) for n, row in changed if n != row.n + row.n_error)):
        yield f"changes are over the cases that compare: {fewer}"
    for reason, names in grouped((why, name) for name, why in comparison.incomparable.items()).items():
        brackets = ", the baseline's value is in brackets" if comparison.former.keys() & set(names) else ""
        yield f"not comparable{brackets}: {', '.join(names)} ({reason})"


def _labelled(verdict: Verdict) -> Iterator[str]:
    """Say how much of what was returned somebody labelled, where a score over labels takes the rest for irrelevant."""
    details = ((name, item) for name, found in verdict.aggregates.items() for item in found.details.items())
    shares = ((name, key, share) for name, (key, share) in details if key.startswith("judged@") and share < 1)
    if told := _by_metric("beside", ((f"{key} {number(share)}", name) for name, key, share in shares)):
        yield f"labelled: {told}"


def _found_from(verdict: Verdict) -> Iterator[str]:
    """Say how small a loss these cases would show, of the metrics that were tested as a whole."""
    gates = (gate for gate in verdict.gates if gate.state != "not judged" and gate.is_of_whole)
    found = grouped((number(gate.mde), gate.metric) for gate in gates if gate.mde is not None)
    if found and verdict.outcome != "failed":
        every = len(found) == 1
        said = "; ".join(size if every else f"{size} in {', '.join(names)}" for size, names in found.items())
        yield f"minimum detectable drop (80 % power): {said}"


def _reasons(run: Run, name: str) -> str:
    return "; ".join(sorted({s.reason for s in run.scores_of(name) if s.state == "n/a" and s.reason})[:2])


def latency_line(run: Run, verdict: Verdict) -> str:
    """Return the times that have no row of their own: ``latency: mean 12 ms, p50 10 ms, p95 35 ms over 44``."""
    gated = {g.metric for g in verdict.gates if g.kind == "threshold"}
    said: list[str] = []
    n = 0
    for name, found in verdict.aggregates.items():
        info = run.metrics.get(name)
        if info is None or info.target != "LATENCY" or name in gated or found.value is None:
            continue
        text = f"{name.replace('_latency', '')} {metric_value(found.value, info)}"
        if found.details.get("reliable") is False:
            text += f" (needs at least {found.details.get('needs')} cases)"
        said.append(text)
        n = found.n
    return f"latency: {', '.join(said)} over {plural(n, 'case')}" if said else ""


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def repeats_line(run: Run) -> str:
    """Return ``each case asked 5 times, seed 7``; empty where nothing was repeated or seeded."""
    repeated = any(run.having("repeats"))
    times = sorted({c.repeats for c in run.cases.values() if c.state in ("passed", "failed")}) if repeated else []
    said = ""
    if times and times[-1] > 1:
        said = f"each case asked {times[-1]} times" if len(times) == 1 else f"asked {times[0]} to {times[-1]} times"
    seed = run.provenance.get("seed")
    return ", ".join(filter(None, [said, "" if seed is None else f"seed {seed}"]))


def flaky_line(verdict: Verdict, most: int = _MOST_FLAKY) -> str:
    """Return ``2 flaky cases: late-return (passes in 2 of 5 repeats), …``; empty without any."""
    told = [f"{case_id} ({why.split(' and ')[0]})" for case_id, why in verdict.flaky.items()]
    more = [f"and {len(told) - most} more"] if len(told) > most else []
    return f"{plural(len(told), 'flaky case')}: {', '.join([*told[:most], *more])}" if told else ""


def noise_lines(verdict: Verdict) -> list[str]:
    """Return one line for each metric that varied between repeats, those with most to gain from more of them first."""
    splits = sorted(verdict.noise.items(), key=lambda item: -(item[1].most_shrink or 0.0))
    alike = grouped((str(split), name) for name, split in splits)
    told = [f"{', '.join(names)}: {split}" for split, names in alike.items()]
    left = sum(len(names) for names in list(alike.values())[_MOST_METRICS:])
    return told[:_MOST_METRICS] + ([f"{plural(left, 'other metric')} varied as well"] if left else [])


def run_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return how the run went: its repeats, what varied between them, what judges spent."""
    return [note for note in (repeats_line(run), *noise_lines(verdict), *judge_lines(run)) if note]


def judge_lines(run: Run) -> list[str]:
    """Return ``judge: 24 requests, 2,400 + 240 tokens, cost 0.0072``, the same by metric, and what went wrong.

    Nothing for a run that asked no judge.
    """
    found = usage_of(run)
    if not found:
        return []
    total = _total(found)
    lines = [f"judge: {usage_text(total)}"]
    if len(found) > 1:
        lines.append(f"judge by metric: {'; '.join(f'{name} {_brief(usage)}' for name, usage in found.items())}")
    stopped = [s.reason for c in run.cases.values() for s in c.scores.values() if s.reason.startswith(_STOPPED)]
    if stopped:
        lines.append(f"{stopped[0].removeprefix(_STOPPED)}: {plural(len(stopped), 'score')} not judged")
    return lines + total.notes


def judge_usage_dict(run: Run) -> dict[str, Any]:
    """Return the usage by metric, and in ``total``; nothing for a run that asked no judge."""
    found = usage_of(run)
    if not found:
        return {}
    return {"total": _total(found).to_dict(), "metrics": {name: usage.to_dict() for name, usage in found.items()}}


def cost_text(cost: float) -> str:
    """Return a cost to the millionth."""
    return f"{cost:,.6f}".rstrip("0").rstrip(".")


def _total(found: dict[str, JudgeUsage]) -> JudgeUsage:
    total = JudgeUsage()
    for usage in found.values():
        total.add(**usage.to_dict())
    return total


def _brief(usage: JudgeUsage) -> str:
    cost = "" if usage.cost is None else f", {cost_text(usage.cost)}"
    return f"{plural(usage.requests, 'request')}, {usage.tokens:,} tokens{cost}"


def usage_text(usage: JudgeUsage) -> str:
    """Return ``24 requests (1 retry), 2,400 + 240 tokens, cost 0.0072``: prompts' tokens, then replies'."""
    beside = [plural(usage.retries, "retry", "retries")] if usage.retries else []
    beside += [f"{usage.cache_hits:,} more from the cache"] if usage.cache_hits else []
    told = [plural(usage.requests, "request") + (f" ({', '.join(beside)})" if beside else "")]
    if usage.tokens or not usage.unreported:
        told.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    if usage.unreported:
        told.append(f"{plural(usage.unreported, 'reply', 'replies')} without token counts")
    if usage.cost is not None:
        told.append(f"cost {cost_text(usage.cost)}")
    return ", ".join(told)
