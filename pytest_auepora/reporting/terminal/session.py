"""Lines around a pytest run: its settings, the scores of a passed case, accepted baselines, suggested thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.files import shown_path
from ...base.grouping import grouped
from ...base.text import names_words
from ...core.run import CaseResult, MetricInfo, Run
from ..diagnosis import blamed_metrics, component
from ..numbers import metric_value, number, percent, plural, score
from ..text import listed
from ..wording.checks import check_text
from ..wording.notes import flaky_line
from .layout import Cell, Column, Line, table

if TYPE_CHECKING:
    from ...regression.accept import Accepted
    from ...regression.suggest import Suggestion
    from ...regression.verdict import Verdict

_MOST = 10  # most cases named of a written baseline
_NOISE_COLUMNS = (
    Column("metric", least=12),
    *(Column(title, right=True) for title in ("mean", "n", "sd in a case", "sd of the mean", "vary", "suggested")),
)


def header_lines(
    *, files: Sequence[str] = (), concurrency: int | None = None, timeout: float | None = None, seed: int | None = None,
    spread: bool = False, accepting: str = "", baseline: str = "",
) -> list[str]:  # fmt: skip
    """Return the lines below pytest's own header, before collection.

    *timeout* is in seconds.  *spread* says whether the cases are shared out among workers, each of which makes one call
    at a time; *accepting* are the words of ``--auepora-update``; *baseline* is where baselines are, if not beside them.
    """
    parts = [f"golden files {' '.join(files)}"] if files else []
    one_call = "one call at a time" + (" in each worker" if spread else "")
    if concurrency is not None and seed is None:
        parts.append(one_call if spread else f"concurrency {concurrency}")
    if timeout is not None:
        parts.append(f"timeout {timeout:g} s")
    if seed is not None:
        parts.append(f"seed {seed}, {one_call}")
    if baseline:
        parts.append(f"baselines in {baseline}")
    lines = [f"auepora: {', '.join(parts)}"] if parts else []
    if accepting:
        lines.append(f"auepora: accepting results into the baseline ({accepting})")
    return lines


def case_word(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> str:
    """Return what became of a case in a few words: ``recall@5=0.90 token_f1=0.45``, ``still failing: must_contain``.

    What varies or still fails comes first; then the metrics of checks that failed, one metric of retrieval, one of
    generation and one of neither.  Scores that are n/a, times and what the golden file does not list are left out.
    """
    words = [
        f"{status}: {', '.join(dict.fromkeys(map(check_text, findings)))}"
        for status in ("still failing", "varies", "suspect")
        if (findings := result.with_status(status))
    ]
    names = [
        n for n, info in metrics.items()
        if (s := result.scores.get(n)) is not None and s.value is not None
        if info.target != "LATENCY" and info.baselined
    ]  # fmt: skip
    chosen = [n for n in blamed_metrics(result, metrics) if n in names]
    components = {component(metrics[n]) for n in chosen}
    for name in names:
        if component(metrics[name]) not in components:
            chosen.append(name)
            components.add(component(metrics[name]))
    scores = " ".join(f"{n}={score(result.scores[n].value, 2)}" for n in chosen[:3])
    return " ".join(filter(None, ["; ".join(words), scores]))


def accepted_lines(accepted: Accepted, root: Path, *, preview: bool = False) -> list[str]:
    """Return the lines on a baseline update: what was written to ``accepted.path``, and what was left unchanged.

    With *preview* nothing was written, and they say what would be.
    """
    groups = {"added": accepted.added, "changed": accepted.changed, "removed": accepted.removed}
    parts = [f"{len(ids)} {word} ({names_words(ids, _MOST)})" for word, ids in groups.items() if ids]
    parts += ["what it says of metrics changed"] if accepted.written and not parts else []
    unchanged = accepted.unchanged + len(accepted.kept)
    parts += [f"{unchanged} unchanged"] if unchanged else []
    parts += [f"{accepted.not_selected} not asked for"] if accepted.not_selected else []
    written = "would be written" if preview else "written: commit it"
    state = written if accepted.written else "left as it was"
    lines = [f"baseline {shown_path(accepted.path, root)} {state}: {', '.join(parts) or 'nothing to accept'}"]
    if accepted.kept:
        lines.append(
            f"  {plural(len(accepted.kept), 'case')} answered differently by no more than chance, so they stay as they "
            "are: `pytest --auepora-update=anew` writes them"
        )
    for name, falls in accepted.falls.items():
        lines.append(
            f"  {name}: {falls.times} accepted falls in a row add up from {number(falls.before)} to "
            f"{number(falls.after)}; an anchor keeps steps from adding up: `pytest --auepora-update=anchor`"
        )
    by_reason = grouped((why, case_id) for case_id, why in accepted.refused.items())
    words = {"raised": "raised in all answers", "skipped": "skipped"}
    return lines + [f"  not accepted: {names_words(ids, _MOST)} ({words[why]})" for why, ids in by_reason.items()]


def accepted_worse(accepted: Accepted, run: Run, verdict: Verdict, *, in_ci: bool = False) -> str:
    """Return the warning that an update accepted lower scores or failures; empty without, except in CI."""
    pairs = verdict.case_comparisons
    lower = [i for i in accepted.changed if i in pairs and pairs[i].worst < 0]
    results = [case for i in (*accepted.added, *accepted.changed) if not (case := run.cases[i]).expected_to_fail]
    failing = [case.case_id for case in results if case.state == "failed"]
    still = [case.case_id for case in results if case.case_id not in failing and _fails_an_assertion(case)]
    parts = [f"{plural(len(lower), 'case')} scored lower ({names_words(lower, 3)})"] if lower else []
    if lower and verdict.comparison is not None:
        changes = ((info, verdict.comparison.metric(name)) for name, info in run.metrics.items())
        fell = [(info, change) for info, change in changes if change is not None and change.gain < 0]
        parts += [
            f"{info.name} {metric_value(change.before, info)} \u2192 {metric_value(change.after, info)}"
            for info, change in fell
        ]
    parts += [f"{plural(len(failing), 'case')} failed ({names_words(failing, 3)})"] if failing else []
    parts += [f"{len(still)} still failing ({names_words(still, 3)})"] if still else []
    failed = sum(gate.state == "failed" for gate in verdict.gates)
    parts += [f"{plural(failed, 'gate')} failed"] if failed and (accepted.added or accepted.changed) else []
    if not accepted.written or not (parts or in_ci):
        return ""
    return f"accepted {run.title}{' in CI' if in_ci else ''}: {', '.join(parts) or 'nothing scored lower'}"


def _fails_an_assertion(case: CaseResult) -> bool:
    return any(finding.kind == "assertion" for finding in case.with_status("still failing", "excused"))


def noise_table(suggestion: Suggestion, *, width: int = 80) -> list[Line]:
    """Return one row per metric: its mean, its noise between repeats, and the threshold suggested for it."""
    rows = [
        [
            Cell(m.name), Cell(number(m.mean)), Cell(str(m.n)), Cell(number(m.within)), Cell(number(m.sd_of_mean(), 4)),
            Cell(percent(m.varied)), Cell(str(suggestion.bound(m.name) or "")),
        ]
        for m in suggestion.noise
    ]  # fmt: skip
    return table(_NOISE_COLUMNS, rows, width) if rows else []


def suggestion_notes(run: Run, verdict: Verdict, suggestion: Suggestion) -> list[str]:
    """Return the notes on a suggestion: its data, and the problems that no threshold solves."""
    out = [f"learned from {plural(suggestion.repeats, 'answer')} to each of {plural(len(run.cases), 'case')}"]
    if errors := sum(case.state == "error" for case in run.cases.values()):
        out.append(f"{plural(errors, 'case')} errored and could teach nothing")
    if suggestion.repeats < 2:
        out.append("one answer to each shows no noise: ask more often with --auepora-repeat")
    if text := flaky_line(verdict):
        out.append(f"{' '.join(text.split())}; fix them, or quarantine them for a while")
    if suggestion.by_chance:
        text = "assert what every right answer says, or let `assertions: report` judge them over all cases"
        out.append(f"assertions that hold in some answers only: {listed(suggestion.by_chance, 5)}; {text}")
    if suggestion.missed:
        out.append(f"missed, and not by noise, so left as they are: {', '.join(suggestion.missed)}")
    if suggestion.too_noisy:
        out.append(f"missed by noise now and then, and no bound leaves room for it: {', '.join(suggestion.too_noisy)}")
    if suggestion.tolerant:
        out.append(f"policy: tolerance takes noise for loss: {', '.join(suggestion.tolerant)}; policy: auto does not")
    return out
