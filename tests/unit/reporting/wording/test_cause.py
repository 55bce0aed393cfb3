"""The sentences on a cause."""

from __future__ import annotations

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.regression.cause import CaseCause, Cause, Effect, LeftOut, MetricCause, Refusal
from pytest_auepora.regression.statistics.intervals import Difference
from pytest_auepora.reporting.wording.cause import case_cause_text, cause_lines

from ..builders import infos_of

RUN = Run("shop", metrics=infos_of())


def difference(value: float, half_width: float | None = None) -> Difference:
    low, high = (None, None) if half_width is None else (value - half_width, value + half_width)
    return Difference(value, low, high, 12, 12, 12, 0.05)


def cause() -> Cause:
    effect = Effect(0.9, 0.47, 0.54)
    cases = {f"c{i}": CaseCause("generator", "token_f1", {"token_f1": effect}, calls=1) for i in range(7)}
    cases["r"] = CaseCause("retrieval", "token_f1", {"token_f1": effect}, calls=1)
    metric = MetricCause(8, effect, difference(-0.36, 0.09), difference(-0.07))
    return Cause("generator", "token_f1", cases, {"token_f1": metric}, {"recall@5": -0.25}, 8, {"x": "limit"})


def refused(refusal: Refusal, detail: str = "", **left_out: LeftOut) -> Cause:
    return Cause(refusal=refusal, detail=detail, left_out=left_out)


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (None, []),
        (cause(),
         ["why: the generator (8 cases, 8 calls with the accepted documents)",
          "recall@5 is worse by 0.250; of the -0.430 in token_f1, generator -0.360 [-0.450, -0.270], retrieval -0.070",
          "by case: retrieval 1 (r), generator 7 (c0, c1, c2, c3, c4 and 2 more)",
          "not asked: 1 case (x): beyond the most cases that are asked"]),
        (refused("nothing worse"), ["why: no case is worse than when it was accepted, and the suite is not"]),
        (refused("no baseline"), ["why: there is no baseline that the suite could be worse than"]),
        (refused("no generator", "ask: it cannot\ngive another"),
         ["why: not shown: ask: it cannot", "give another"]),
        (refused("no retriever"),
         ["why: not shown: no document was seen, neither when the answers were accepted nor today; "
          "return them with the answer"]),
        (refused("no accepted documents"),
         ["why: not shown: the documents of the accepted answers are not kept here: the next "
          "`pytest --auepora-update` keeps them, `auepora_accepted = texts` beside the baseline for other checkouts "
          "(`auepora help why`)"]),
        (refused("no accepted documents", a="not kept whole"),
         ["why: not shown: the accepted documents cannot be given again",
          "not asked: 1 case (a): the accepted documents were cut, or changed by pytest_auepora_redact"]),
        (refused("partial run"), ["why: not shown: not all cases of the suite ran: run the whole golden file"]),
        (refused("workers"),
         ["why: not shown: workers of pytest-xdist ran the cases: run without -n, or `auepora why last`"]),
        (refused("scope"),
         ["why: not shown: the system lives for one test only: give its fixture the scope of a module or session"]),
        (refused("calls"),
         ["why: not shown: no call may be made any more: raise --auepora-max-calls, or the budget"]),
        (refused("raised", "E: down"), ["why: not shown: the generator raised with the accepted documents: E: down"]),
        (refused("evaluate"), ["why: not shown: a test evaluates this suite: ask with `run.why()` there"]),
    ],
)  # fmt: skip
def test_what_a_run_is_worse_by_or_why_that_is_not_shown(found: Cause | None, lines: list[str]) -> None:
    assert cause_lines(found, RUN) == lines


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (cause().cases["c0"],
         "generator: token_f1 accepted 0.900, with the accepted documents 0.540, now 0.470 "
         "(generator -0.360, retrieval -0.070)"),
        (CaseCause("generator", "must_contain", {"must_contain": Effect(1.0, 0.0, 0.0)}),
         "generator: must_contain accepted 1.000, today's documents are the accepted ones, now 0.000 "
         "(generator -1.000, retrieval 0.000)"),
        (CaseCause("retrieval", fell=("mrr@10",)), "retrieval: mrr@10 fell"),
    ],
)  # fmt: skip
def test_a_case_is_told_with_its_three_cells(case: CaseCause, text: str) -> None:
    assert case_cause_text(case, RUN.metrics) == text
