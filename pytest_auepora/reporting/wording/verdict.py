"""The whole run: its first line, which is true by itself, and the causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ...base.complaints import Problem
from ...base.grouping import grouped
from ...core.run import CaseResult, Run
from ...regression.outcomes import HAS_NUMBER, BaselineNote, GateOutcome
from ...regression.verdict import Verdict, losses_of, word_of
from ..diagnosis import Diagnosis, component, diagnose
from ..numbers import plural
from ..tally import FAILING, ORDER, CaseStatus, cases_of, tally
from ..text import listed
from .cases import causes_text, diagnosis_text, error_text
from .changes import by_reason, provenance_lines
from .checks import problem_lines
from .gates import gate_sentence, metric_names
from .notes import baseline_text, flaky_line, notes_of
from .statistics import detectable_text

_MOST_LINES = 20  # of a failed assertion


class LostCase(NamedTuple):
    """A case by which the suite lost, though it did not fail by itself."""

    case: CaseResult
    diagnosis: Diagnosis | None


def headline(verdicts: Sequence[Verdict], runs: Sequence[Run]) -> str:
    """Return what became of the cases: ``2 newly failing (2 refused to answer), 1 fixed, 57 unchanged``.

    Where no case failed by itself and the suite did, that and its cause come first: the counts alone would read as the
    all-clear.
    """
    pairs = list(zip(runs, verdicts, strict=True))
    by_suite_alone = any(v.outcome == "failed" for v in verdicts) and not any(v.failed_cases for v in verdicts)
    compared, uncompared = Counter[CaseStatus](), Counter[CaseStatus]()
    for run, verdict in pairs:
        (uncompared if verdict.comparison is None else compared).update(tally(run, verdict))
    parts = []
    if by_suite_alone:
        parts = [*_suite_text(pairs), *_gate_counts(verdicts)]
        compared, uncompared = _without_good(compared), _without_good(uncompared)
    if compared:
        parts.append(_counts_text(compared, pairs))
    without = [verdict.baseline_note for verdict in verdicts if verdict.comparison is None]
    if uncompared:
        text = _counts_text(uncompared, pairs)
        said = f"without a baseline {text}" if compared else f"{text} ({_baseline_reason(without)}: thresholds only)"
        parts.append(said)
    elif by_suite_alone and without and not compared:
        parts.append(_baseline_reason(without))
    if not parts:
        return "nothing was measured"
    if n_varying := sum(len(verdict.varies) for verdict in verdicts):
        parts.append(f"{plural(n_varying, 'case')} {'varies' if n_varying == 1 else 'vary'}")
    suspects = [run.cases[i] for run, verdict in pairs for i in verdict.suspects]
    if n_suspect := sum(case.state == "passed" for case in suspects):  # others failed by what is certain
        parts.append(f"{plural(n_suspect, 'case')} {'is' if n_suspect == 1 else 'are'} suspect")
    parts += [*_comparability(verdicts), *([] if by_suite_alone else _gate_counts(verdicts))]
    return "; ".join([*parts, *_partial_text(runs)])


def headline_against(run: Run, verdict: Verdict) -> str:
    """Return the same of a run held against another one, where cases fail nothing by themselves: gates come first."""
    pairs = [(run, verdict)]
    parts = [*_gate_counts([verdict]), _counts_text(tally(run, verdict), pairs), *_comparability([verdict])]
    return "; ".join([*parts, *_partial_text([run])])


def _suite_text(pairs: Sequence[tuple[Run, Verdict]]) -> list[str]:
    """Return why the suite failed of which no case did: the cases that it lost by, and what they have in common."""
    lost = [one for run, verdict in pairs for one in lost_cases(run, verdict)]
    if not lost:
        return ["no case failed by itself"]
    causes = causes_text([one.diagnosis for one in lost])
    n_cases = sum(len(run.cases) for run, _ in pairs)
    return [f"no case failed by itself, {len(lost):,} of {n_cases:,} lost{f': {causes}' if causes else ''}"]


def _without_good(counts: Counter[CaseStatus]) -> Counter[CaseStatus]:
    """Return the counts without those of cases that are well: above a red verdict they read as the all-clear."""
    return Counter({status: n for status, n in counts.items() if status not in ("unchanged", "passed", "new")})


def first_line(run: Run, verdict: Verdict) -> str:
    """Return the word and the headline: ``worse: no case failed by itself, 12 of 60 lost (9 refused to answer, …)``."""
    return ": ".join(filter(None, [comparison_word(verdict), headline([verdict], [run])]))


def comparison_word(verdict: Verdict) -> str:
    """Return ``worse``, ``better (3 rose)``, ``mixed (the suite is the same)``, …; empty where nothing was compared.

    A run that failed by something else, as a threshold, is called ``failed``, however it compares.
    """
    word, rose = verdict.word, len(verdict.improved_cases)
    if verdict.comparison is None or word == "not judged":
        return ""
    if verdict.outcome == "failed" and word not in ("worse", "mixed"):
        return "failed"
    rest = f", {rose} rose" if rose else ""
    if word == "mixed":
        of_suite = word_of(verdict.gates)
        return f"mixed (the suite is {'the same' if of_suite == 'same' else of_suite}{rest})"
    return f"better ({rose} rose)" if word == "better" and rose else word


def lost_cases(run: Run, verdict: Verdict) -> list[LostCase]:
    """Return the cases by which the suite is worse, in a run of which no case failed: the largest loss first."""
    worse = [g for g in verdict.gates if g.state == "failed" and g.word == "worse" and g.kind == "regression"]
    names = {gate.metric for gate in worse}
    losses = losses_of(run, verdict)
    out = []
    for case_id in sorted(losses, key=lambda case_id: losses[case_id]):
        case, pair = run.cases[case_id], verdict.case_comparisons[case_id]
        fell = [name for name, change in pair.changes.items() if change.gain < 0 and name in names]
        out.append(LostCase(case, diagnose(case, pair, run.metrics, fell)))
    return out


def lost_groups(lost: Sequence[LostCase], run: Run) -> dict[str, list[CaseResult]]:
    """Return the cases by which the suite lost, those with the same sentence together."""
    return grouped((diagnosis_text(one.diagnosis, one.case, run.metrics) or "scored lower", one.case) for one in lost)


def _counts_text(counts: Counter[CaseStatus], pairs: Sequence[tuple[Run, Verdict]]) -> str:
    """Return the number of cases of each kind, the causes beside those that fail the run."""
    parts = []
    for status in ORDER:
        if not counts[status]:
            continue
        causes = ""
        if status in FAILING and status != "still failing":
            found = [
                diagnose(case, verdict.case_comparisons.get(case.case_id), run.metrics)
                for run, verdict in pairs
                for case in cases_of(run, verdict, (status,)).get(status, ())
            ]
            causes = causes_text(found)
        word = "not comparable (edited)" if status == "edited" else status
        parts.append(f"{counts[status]:,} {word}{f' ({causes})' if causes else ''}")
    return ", ".join(parts)


def _baseline_reason(notes: Sequence[BaselineNote]) -> str:
    """Return the shared reason why there is no baseline, in short; `baseline_line` has a long one."""
    if any(note.state == "unreadable" for note in notes):
        return "a baseline cannot be read"
    if notes and all(note.state == "unnamed" for note in notes):
        return baseline_text(notes[0])
    places = {note.place for note in notes if note.state == "none"}
    return f"no baseline yet ({places.pop()})" if len(places) == 1 and len(notes) == 1 else "no baseline yet"


def baseline_line(verdict: Verdict) -> str:
    """Return why there is no baseline, where neither headline nor a gate says all of it."""
    note = verdict.baseline_note
    said = any(gate.reason in ("unreadable", "no baseline") for gate in verdict.gates)
    is_long = note.state in ("other variant", "replaced", "unreadable")
    return baseline_text(note) if is_long and not said else ""


def no_baseline_text(run: Run, verdict: Verdict) -> str:
    """Return why *run* compares with nothing, and what to do."""
    return f"{run.title}: {baseline_text(verdict.baseline_note)}; accept the present state with --auepora-update"


def _comparability(verdicts: Sequence[Verdict]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.comparison is not None:
            for reason, names in by_reason(verdict.comparison.incomparable, hashes=False).items():
                reasons.setdefault(reason, []).extend(names)
    return [f"{plural(len({*names}), 'metric')} not comparable ({reason})" for reason, names in reasons.items()]


def _gate_counts(verdicts: Sequence[Verdict]) -> list[str]:
    gates = [gate for verdict in verdicts for gate in verdict.gates]
    failed = [gate for gate in gates if gate.state == "failed"]
    out = [f"{plural(len(failed), 'gate')} failed ({listed(metric_names(failed), 3)})"] if failed else []
    if n_would_fail := sum(gate.would_be == "failed" for gate in gates):
        out.append(f"{plural(n_would_fail, 'advisory gate')} would fail")
    return out


def _partial_text(runs: Sequence[Run]) -> list[str]:
    partial = [run for run in runs if not run.is_full]
    ran, total = sum(len(run.cases) for run in partial), sum(len(run.expected_ids) for run in partial)
    return [f"{ran:,} of {total:,} cases ran, gates not judged"] if partial else []


def mistakes_text(mistakes: Sequence[Problem]) -> str:
    """Return how many there are: ``3 mistakes in 2 files``."""
    return f"{plural(len(mistakes), 'mistake')} in {plural(len({mistake.path for mistake in mistakes}), 'file')}"


def warnings(run: Run, verdict: Verdict, most_flaky: int = 10) -> list[str]:
    """Return what to know about the numbers: the notes, flaky cases of a run that repeats, a missing baseline."""
    is_repeated = any(case.repeats > 1 for case in run.cases.values())
    flaky = flaky_line(verdict, most_flaky) if is_repeated else ""
    return [note for note in (*notes_of(run, verdict), flaky, baseline_line(verdict)) if note]


def changed_line(verdict: Verdict) -> str:
    """Return what of the system changed since the baseline, in one line; empty where nothing did."""
    changes = provenance_lines(verdict.comparison)
    return f"changed since the baseline: {', '.join(changes)}" if changes else ""


def _is_steady_ranking(gate: GateOutcome, run: Run) -> bool:
    return gate.steady and gate.metric in run.metrics and component(run.metrics[gate.metric]) == "retrieval"


def detectable_line(run: Run, verdict: Verdict) -> str:
    """Return the minimum detectable drop of the metrics that vary, and what one lost document costs in the others."""
    gates = [g for g in verdict.gates if g.is_of_whole and g.test is not None and g.state != "not judged"]
    gates = [g for g in gates if g.stat != HAS_NUMBER]  # whether there is a number is no score that drops
    groups = grouped((detectable_text(g.test), g.metric) for g in gates if g.test is not None and not g.steady)
    groups.pop("", None)
    texts = [size if len(groups) == 1 else f"{listed(names, 4)} {size}" for size, names in groups.items()]
    lines = [f"minimum detectable drop (80 % power): {' | '.join(texts)}"] if texts else []
    steady = grouped(
        (detectable_text(g.test), g.metric) for g in gates if g.test is not None and _is_steady_ranking(g, run)
    )
    steady.pop("", None)
    costs = "; ".join(f"{size} in {listed(names, 4)}" for size, names in steady.items())
    return "; ".join([*lines, *([f"one lost document costs {costs}"] if costs else [])])


# -- for assertions in a user's own tests


def got_worse_text(run: Run, verdict: Verdict) -> str:
    """Return what `assert_no_regression` says: what fell, by how much, in which cases; empty where nothing did."""
    cases = [c for c in run.cases.values() if c.state == "error" or c.case_id in verdict.regressed_cases]
    kinds = ("regression", "coverage", "anchor", "baseline")
    return _broken_text(f"{run.title} got worse than its baseline", run, verdict, kinds, cases)


def missed_thresholds_text(run: Run, verdict: Verdict) -> str:
    """Return what `assert_thresholds` says: the thresholds of the suite and of cases that do not hold."""
    cases = run.in_state("failed", "error")
    return _broken_text(f"{run.title} misses its thresholds", run, verdict, ("threshold",), cases)


def _broken_text(title: str, run: Run, verdict: Verdict, kinds: Collection[str], cases: Iterable[CaseResult]) -> str:
    """Return *title*, the failed gates of *kinds* and those of *cases* that may not fail; empty without any."""
    gates = [gate for gate in verdict.gates if gate.kind in kinds and gate.state == "failed"]
    lines = [gate_sentence(gate, run, verdict.notes) for gate in gates]
    for case in cases:
        if not case.expected_to_fail:
            broken = [error_text(case)] if case.state == "error" else problem_lines(case, run.metrics)
            lines.append(f"{case.case_id}: {'; '.join(broken)}")
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"… and {len(lines) - _MOST_LINES} more"]
    return "\n".join([title, *(f"  {line}" for line in lines)]) if lines else ""
