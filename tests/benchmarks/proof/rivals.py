"""Programs that gate a change, as ours does: each is asked through its own functions, with its own defaults.

Each reads one number a case.  They get the assertion, 1 where an answer is right and 0 where it is not: a broken case
loses all of it, and a second number would be a second chance of a false alarm.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from ..verdict.other_rules import Rule, Scores

__all__ = ["PROGRAMS", "digline", "installed"]

READ = "assertion_pass"


def rag_ci(before: Scores, after: Scores) -> bool:
    """Paired bootstrap and a fall of more than 0.02"""
    from ragci.baseline import decide
    from ragci.runner import CaseResult, RunRecord

    def run(scores: Scores) -> RunRecord:
        cases = [CaseResult(case_id=f"c{i}", status="ok", scores={READ: s or 0.0}) for i, s in enumerate(scores[READ])]
        return RunRecord(golden_hash="", config={}, primary_metric=READ, case_results=cases)

    return not decide(run(before), run(after)).passed


def statgate(before: Scores, after: Scores) -> bool:
    """The whole interval (BCa) below -0.02"""
    from statgate.config import GateSettings
    from statgate.records import EvalRecord
    from statgate.verdict import evaluate_gate

    def run(scores: Scores) -> list[EvalRecord]:
        return [EvalRecord(case_id=f"c{i}", score=s or 0.0) for i, s in enumerate(scores[READ])]

    return bool(evaluate_gate(run(before), run(after), GateSettings(seed=0)).exit_code == 1)


def recallops(before: Scores, after: Scores) -> bool:
    """Bootstrap interval below 0, or McNemar"""
    from recallops.gating import evaluate_gate
    from recallops.models import CalibrationRecord, DiffResult, QueryDiff, QueryEval

    def query(i: int, score: float) -> QueryEval:
        return QueryEval(f"c{i}", [], [], None, {5: bool(score)}, {"recall@5": score})

    pairs = [(b or 0.0, a or 0.0) for b, a in zip(before[READ], after[READ], strict=True)]
    queries = {
        f"c{i}": QueryDiff(f"c{i}", "", "stable", {"recall@5": a - b}, query(i, b), query(i, a))
        for i, (b, a) in enumerate(pairs)
    }
    diff = DiffResult("", "", "", "", {}, False, {}, queries, {}, False, False)
    return not evaluate_gate(diff, CalibrationRecord("", 3, {}, 0.0, {})).passed


def digline(before: Scores, after: Scores) -> bool:
    """A check that passed and fails"""
    pairs = zip(before[READ], after[READ], strict=True)
    return any(b == 1.0 and a is not None and a < b for b, a in pairs)


PROGRAMS: Mapping[str, Rule] = {"rag-ci": rag_ci, "statgate": statgate, "recallops": recallops}
"""By the name of the package that decides."""


def installed() -> dict[str, Rule]:
    """Return the rules of the packages that are there, by name and version."""
    found = {}
    for name, rule in PROGRAMS.items():
        try:
            found[f"{name} {version(name)}"] = rule
        except PackageNotFoundError:
            continue
    return found
