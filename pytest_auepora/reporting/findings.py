"""What is wrong with the judged runs, one finding each, worst first: for annotations of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ..core.run import CaseResult, Run
from ..errors import Problem
from ..regression.guards.gates import GateKind, GateOutcome
from ..regression.verdict import Verdict
from .diagnosis import blamed_metrics, diagnose, together, worst_first
from .tally import FAILING, Kind, cases_of
from .text import listed

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at.  ``key`` names it across runs; *line* is 1-based, 0 where there is none.

    ``kind`` is that of a case (``newly failing``, …) or of a gate (``threshold``, ``regression``, ``coverage``,
    ``baseline``), or ``mistake`` for one in a golden file.
    """

    severity: Severity
    kind: str
    title: str
    message: str
    path: str
    line: int
    key: str

    @property
    def told(self) -> str:
        """Title and message together, in one line."""
        return titled(self.title, "; ".join(self.message.splitlines()))

    def path_from(self, prefix: str) -> str:
        """Return the path, which *prefix* leads to from the root of the repository; empty where there is none."""
        return f"{prefix.rstrip('/')}/{self.path}" if prefix and self.path else self.path

    @property
    def of_gate(self) -> bool:
        """Whether it is about a whole suite, not a case."""
        return self.kind in get_args(GateKind)


def titled(title: str, message: str) -> str:
    """Return *message* with its title before it; a subject that ends the one and begins the other is said once."""
    subject = title.rpartition(": ")[2]
    if message.startswith((f"{title}: ", f"{title} ")):
        return message
    if message.startswith((f"{subject}: ", f"{subject} ")):
        return title.removesuffix(subject) + message
    return f"{title}: {message}"


def findings(runs: Sequence[Run], verdicts: Sequence[Verdict], mistakes: Sequence[Problem] = ()) -> list[Finding]:
    """Return the findings of all runs, and the *mistakes* that kept golden files from being judged.

    These come first.  Then failed gates, as one of them may stand for many cases; then cases that errored, those of
    the same error together; then failing cases, newly failing before others and the largest drop first; inconclusive
    gates, what only a judge would fail, and baselines that nothing compares with come last.
    """
    pairs = list(zip(runs, verdicts, strict=True))
    out = [_mistake(one) for one in mistakes]
    out += [f for run, verdict in pairs for f in _gates(run, verdict, "failed")]
    out += [f for run, verdict in pairs for f in _errors(run, verdict)]
    for kind in FAILING:
        if kind != "errored":
            out += [f for run, verdict in pairs for f in _failures(run, verdict, kind)]
    out += [f for run, verdict in pairs for f in _gates(run, verdict, "inconclusive")]
    out += [f for run, verdict in pairs for f in _gates(run, verdict, "advisory")]
    out += [f for run, verdict in pairs for f in _gates(run, verdict, "not judged") if f.kind == "baseline"]
    return out


def _mistake(one: Problem) -> Finding:
    return Finding(
        "error", "mistake", "golden file", one.message, one.path, one.line, f"{one.path}|mistake|{one.message}"
    )


def _gates(run: Run, verdict: Verdict, state: str) -> Iterator[Finding]:
    for gate in verdict.gates:
        if gate.state == state and gate.would_be in ("", "failed"):
            yield _gate(run, gate)


def _gate(run: Run, gate: GateOutcome) -> Finding:
    told = [gate.message]
    if gate.culprits and gate.kind != "coverage":
        told.append(f"Cases that cost most: {', '.join(gate.culprits[:5])}")
    if gate.owner:
        told.append(f"Owner: {gate.owner}")
    return Finding(
        "error" if gate.state == "failed" else "warning",
        gate.kind,
        f"{run.title}: {gate.title}",
        "\n".join(told),
        run.path,
        gate.line,
        f"{run.title}|{gate.kind}|{gate.title}",
    )


def _errors(run: Run, verdict: Verdict) -> Iterator[Finding]:
    for cases in together(cases_of(run, verdict).get("errored", ()), run, {}):
        why = str(diagnose(cases[0], None, run.metrics))
        path, line = _place(cases[0], run)
        ids = [c.case_id for c in cases]
        who = ids[0] if len(ids) == 1 else f"{len(ids)} cases errored ({listed(ids)})"
        yield Finding("error", "errored", f"{run.title}: {who}", why, path, line, f"{run.title}|errored|{ids[0]}")


def _failures(run: Run, verdict: Verdict, kind: Kind) -> Iterator[Finding]:
    compared = verdict.comparison.cases if verdict.comparison is not None else {}
    cases = cases_of(run, verdict).get(kind, [])
    for case, *others in together(worst_first(cases, compared), run, compared):
        why = diagnose(case, compared.get(case.case_id), run.metrics)
        path, line = _place(case, run)
        whose = sorted({run.metrics[name].owner for name in blamed_metrics(case, run.metrics)} - {""})
        told = [f"Owner: {', '.join(whose)}"] if whose else []
        message = "\n".join([str(why), *case.problems, *told])
        ids = [c.case_id for c in (case, *others)]
        who = f"{len(ids)} cases {kind} ({listed(ids)})" if others else f"{case.case_id} {kind}"
        title = f"{run.title}: {who}"
        yield Finding("error", kind, title, message, path, line, f"{run.title}|case|{case.case_id}")


def _place(case: CaseResult, run: Run) -> tuple[str, int]:
    path, _, line = case.where.rpartition(":")
    return (path, int(line)) if path and line.isdigit() else (case.where or run.path, 0)
