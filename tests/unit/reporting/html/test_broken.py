from __future__ import annotations

from pytest_auepora.reporting.html.broken import MOST_CASES, what_broke

from ..builders import Case, baseline_of, run_of, verdict_of

GONE = {"got": ["index.md"]}


def test_nothing_broke() -> None:
    run = run_of([Case("a")])
    assert not what_broke(run, verdict_of(run, {"recall@5": 0.5}))


def test_all_point_to_one_part() -> None:
    cases = [Case(f"c{i}") for i in range(10)]
    baseline = baseline_of(run_of(cases), steady=True)
    run = run_of([case.with_(**GONE) for case in cases], baseline=baseline)
    broken = what_broke(run, verdict_of(run, {"recall@5": 0.5}, baseline=baseline))
    assert broken.summary == "All 10 failing cases point to retrieval."
    assert len(broken.cases) == MOST_CASES
    assert broken.n_cases == 10


def test_most_point_to_one_part() -> None:
    cases = [Case(f"c{i}", thresholds={"recall@5": 0.5, "token_f1": 0.9}) for i in range(4)]
    run = run_of([case.with_(**(GONE if i else {"answer": "Never."})) for i, case in enumerate(cases)])
    broken = what_broke(run, verdict_of(run))
    assert broken.summary == "Mostly retrieval: 3 of 4 failing cases."
    assert [(part.name, part.n) for part in broken.parts] == [("retrieval", 3), ("generation", 1)]


def test_an_outage_is_told_once() -> None:
    run = run_of([Case(f"c{i}", error="ConnectionError: refused") for i in range(30)])
    broken = what_broke(run, verdict_of(run))
    assert [case.case_id for case in broken.cases] == ["c0"]
    assert broken.n_cases == 30
    assert broken.summary == "All 30 failing cases point to the call: it raised."


def test_only_the_suite_as_a_whole_failed() -> None:
    run = run_of([Case("a", got=["index.md", "refunds.md"])])
    broken = what_broke(run, verdict_of(run, {"mrr@10": 0.9}))
    assert broken.summary == "No case failed by itself; the suite as a whole did."
    assert not broken.cases


def test_gates_without_a_metric_are_told_in_full() -> None:
    both = [Case("a"), Case("b")]
    baseline = baseline_of(run_of(both))
    run = run_of(both[:1], baseline=baseline)
    broken = what_broke(run, verdict_of(run, baseline=baseline))
    assert len(broken.gates) == 1
    assert "b" in broken.gates[0]


def test_what_is_listed_and_not_red_did_not_break() -> None:
    run = run_of([Case("known"), Case("lost", got=["index.md"], thresholds={"recall@5": 0.5})])
    run.cases["known"].extra["still_failing"] = ["assertion_pass: the answer misses '30 days'"]
    baseline = baseline_of(run_of([Case("known"), Case("lost")]))
    found = what_broke(run, verdict_of(run, baseline=baseline))
    assert found.n_cases == 1
    assert [case.case_id for case in found.cases] == ["lost"]
    assert [(part.name, part.n) for part in found.parts] == [("retrieval", 1)]
