"""What broke, told first: where the failing cases point to, which gates failed, what changed, the worst cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ...core.run import Run
from ...regression.verdict import Verdict
from ..diagnosis import alike, diagnose
from ..notes import next_steps, provenance_changes
from ..numbers import plural
from ..tally import FAILING, Kind, cases_of

MOST_CASES = 6
_OF_METRICS = ("threshold", "regression")


@dataclass(frozen=True, slots=True)
class Part:
    """How many of the failing cases are the fault of one part of the system."""

    name: str
    n: int
    share: float


@dataclass(frozen=True, slots=True)
class BadCase:
    """A case to look at first: its place in the run, what became of it, and the diagnosis."""

    index: int
    case_id: str
    kind: Kind
    why: str


@dataclass(slots=True)
class Broken:
    """The short answer.  ``gates`` are the messages of failed gates that are about no metric."""

    summary: str = ""
    parts: list[Part] = field(default_factory=list)
    gates: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    cases: list[BadCase] = field(default_factory=list)
    n_cases: int = 0
    n_gates: int = 0

    def __bool__(self) -> bool:
        return bool(self.n_cases or self.n_gates)


def what_broke(run: Run, verdict: Verdict) -> Broken:
    """Return what is wrong with *run*; false where nothing is."""
    out = Broken()
    compared = verdict.comparison.cases if verdict.comparison is not None else {}
    places = {case_id: i for i, case_id in enumerate(run.cases)}
    parts, told = Counter[str](), set[str]()
    for kind, cases in cases_of(run, verdict).items():
        if kind not in FAILING:
            continue
        for case in sorted(cases, key=lambda c: compared[c.case_id].worst if c.case_id in compared else 0.0):
            if case.state == "passed":  # an assertion that failed in the accepted baseline as well: listed, not red
                continue
            why = diagnose(case, compared.get(case.case_id), run.metrics)
            parts[why.component if why else "system"] += 1
            key = alike(str(why), case) or case.case_id
            if len(out.cases) < MOST_CASES and key not in told:
                told.add(key)
                out.cases.append(BadCase(places[case.case_id], case.case_id, kind, str(why or case.state)))
    out.n_cases = parts.total()
    out.parts = [Part(name, n, n / out.n_cases) for name, n in parts.most_common()]
    failed = [g for g in verdict.gates if g.state == "failed"]
    out.n_gates, out.gates = len(failed), [g.message for g in failed if g.kind not in _OF_METRICS]
    out.changed, out.steps = provenance_changes(verdict), next_steps(verdict, html="")
    out.summary = _summary(out)
    return out


def _summary(broken: Broken) -> str:
    if not broken.parts:
        return "No case failed by itself; the suite as a whole did." if broken else ""
    first, *others = broken.parts
    if not others:
        return f"{_all(broken.n_cases)} to {_named(first.name)}."
    if first.share >= 0.5:
        return f"Mostly {_named(first.name)}: {first.n} of {plural(broken.n_cases, 'failing case')}."
    return f"No single part: {', '.join(f'{p.name} {p.n}' for p in broken.parts)} of {broken.n_cases} failing cases."


def _all(n: int) -> str:
    return "The failing case points" if n == 1 else f"All {n} failing cases point"


def _named(part: str) -> str:
    return {"error": "the call: it raised", "timeout": "the call: it timed out", "output": "the answer's shape"}.get(
        part, f"the {part} metric" if part == "metric" else part
    )
