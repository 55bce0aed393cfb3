"""Why ``assert run["recall@5"] >= 0.8`` failed: the score, its denominator, the cases that cost most."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...core.comparable_score import ComparableScore
from ...core.run import CaseResult, Run
from ...regression.guards.gates import is_counted
from ...regression.thresholds import Bound
from ..diagnosis import cutoff
from ..numbers import metric_value, plural
from ..relevant_docs import relevant_docs
from ..wording.cases import details_text, error_text
from ..wording.checks import problem_lines
from ..wording.gates import errored_text
from .failure import add_answer, add_expected, add_place, add_question, add_ranking
from .layout import Page, plain

MOST_CASES = 5


def explain_score(left: ComparableScore, op: str, right: object) -> list[str]:
    """Return the lines that explain a failed comparison of *left* with *right*.

    The first is the comparison itself, as pytest shows it.  For the score of a run, its denominator and the cases that
    cost most follow; for the score of a case, the expected and the actual output.
    """
    page, bound = Page(76), _bound(op, right)  # pytest adds a margin
    other = (
        f"{right.name} {metric_value(right.value, right.info)}" if isinstance(right, ComparableScore) else repr(right)
    )
    page.paragraph(f"{left.name} {metric_value(left.value, left.info, bound)} {op} {other}")
    if left.case is not None:
        _explain_case(page, left, left.case)
    elif left.run is not None:
        _explain_run(page, left, left.run, bound)
    return [plain(line) for line in page.lines]


def _bound(op: str, right: object) -> Bound | None:
    """Return the bound of the comparison; scores are then shown with enough digits to see it broken."""
    try:
        limit = float(right)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not math.isfinite(limit):
        return None
    return Bound("min", limit) if op in (">=", ">") else Bound("max", limit) if op in ("<=", "<") else None


def _explain_run(page: Page, left: ComparableScore, run: Run, bound: Bound | None) -> None:
    scores = {i: s for i, c in run.cases.items() if (s := c.scores.get(left.name)) is not None}
    if not scores:  # error_rate and pass_rate count cases, not scores
        _explain_rate(page, left, run)
        return
    n = sum(s.measurement is not None for s in scores.values())
    parts = [f"over {n} of {plural(len(scores), 'case')} of {run.title}"]
    if n_error := sum(s.state == "error" for s in scores.values()):
        parts.append(errored_text(n_error))
        if left.aggregate is not None and left.aggregate.value is not None:
            parts.append(f"{metric_value(left.aggregate.value, left.info)} without them")
    if n_na := sum(s.state == "n/a" for s in scores.values()):
        parts.append(f"{n_na} n/a")
    page.paragraph(", ".join(parts))
    sign, perfect = (1, 0) if left.info is not None and left.info.direction == "lower" else (-1, -1)
    costs = {i: math.inf for i, s in scores.items() if s.state == "error"}
    values = {i: s.value for i, s in scores.items() if s.value is not None}
    for case_id, value in values.items():
        if sign * value > perfect if bound is None else not bound.holds(value):
            costs[case_id] = sign * value
    texts = {i: f"{metric_value(value, left.info)} " for i, value in values.items()}
    worst = sorted(costs, key=lambda case_id: costs[case_id], reverse=True)
    _add_cases(page, run, {i: f"{texts.get(i, '')}{details_text(scores[i])}" for i in worst})


def _add_cases(page: Page, run: Run, explanations: Mapping[str, str]) -> None:
    for case_id, explanation in list(explanations.items())[:MOST_CASES]:
        page.paragraph(f"{run.cases[case_id].where or run.path} {case_id}: {explanation}", indent=2, most=3)
    page.more(len(explanations) - MOST_CASES)


def _explain_rate(page: Page, left: ComparableScore, run: Run) -> None:
    word = "errored" if left.name == "error_rate" else "passed"
    ran = list(run.in_state("passed", "failed", "error"))
    page.paragraph(f"{sum(is_counted(c, left.name) for c in ran)} of {plural(len(ran), 'case')} of {run.title} {word}")
    bad = run.in_state("failed", "error")
    _add_cases(
        page, run, {case.case_id: error_text(case) or "; ".join(problem_lines(case, run.metrics)) for case in bad}
    )


def _explain_case(page: Page, left: ComparableScore, case: CaseResult) -> None:
    add_place(page, case)
    add_question(page, case)
    if (score := case.scores.get(left.name)) is not None:
        page.text("details", details_text(score))
    infos = {left.name: left.info} if left.info is not None else {}
    add_expected(page, case, relevant_docs(case), cutoff(left.info) if left.info is not None else None)
    add_ranking(page, case, infos, list(infos))
    add_answer(page, case, compare=True)
