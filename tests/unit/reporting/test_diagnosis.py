"""What went wrong in a case: the part at fault, the fault, the document; sentences are in `wording.cases`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.reporting.diagnosis import Diagnosis, blamed_metrics, cutoff, diagnose, group_by_cause

from .builders import Case, infos_of, judged, run_of

MANY = [f"doc-{i}.md" for i in range(12)]
CASE = Case("refund-window", got=["index.md", "refunds.md", "terms.md"], thresholds={"recall@5": 0.8})
MUST = {"must_contain": ["30 days"], "forbidden": ["60 days"]}


def at_rank(rank: int, *names: str) -> list[str]:
    got = [d for d in MANY if d not in names]
    for i, name in enumerate(names or ("refunds.md",)):
        got.insert(rank - 1 + i, name)
    return got[:12]


def found(now: Case, before: Case | None = None, **options: Any) -> Diagnosis:
    told = diagnose(*judged(now, before, **options))
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("now", "before", "fault"),
    [
        (CASE.with_(got=at_rank(9)), CASE, "document lost"),
        (CASE.with_(got=MANY), CASE, "document lost"),
        (CASE.with_(got=MANY), None, "document missed"),
        (CASE.with_(got=at_rank(9)), None, "document missed"),
        (CASE.with_(got=MANY), CASE.with_(got=MANY), "document missed"),
        (CASE.with_(got=[]), CASE, "nothing returned"),
        (CASE.with_(got=at_rank(3), thresholds={"mrr@10": 0.5}), None, "ranked low"),
        (CASE.with_(got=at_rank(3), thresholds={"mrr@10": 0.5}), CASE, "rank fell"),
    ],
)  # fmt: skip
def test_a_document_is_not_where_it_should_be(now: Case, before: Case | None, fault: str) -> None:
    told = found(now, before)
    assert (told.component, told.fault) == ("retrieval", fault)


def test_the_document_named_is_the_one_that_matters_most() -> None:
    case = CASE.with_(relevant=["a.md", ("b.md", 2), "c.md"], got=MANY)
    ranking = found(case).ranking
    assert (ranking.doc and ranking.doc.label, ranking.missed) == ("b.md", 3)
    lost = found(case, case.with_(got=["c.md"])).ranking.doc
    assert lost is not None
    assert lost.label == "c.md"


def test_no_more_documents_are_missed_than_the_top_has_room_for() -> None:
    case = CASE.with_(relevant=["a.md", "b.md"], got=["x", "b.md", "y", "a.md"], thresholds={"hit@1": 1})
    told = diagnose(*judged(case, case.with_(got=["a.md", "x", "b.md"]), ["hit@1"]))
    assert told is not None
    assert (told.ranking.missed, told.k) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "component", "fault"),
    [
        ({"answer": "Within two weeks."}, "generation", "assertion"),
        ({"answer": ""}, "generation", "empty"),
        ({"answer": "I don\u2019t know."}, "generation", "refused"),
        ({"answer": "Within 60 days.", "got": MANY}, "retrieval", "document missed"),
        ({"answer": "I do not know.", "got": []}, "retrieval", "nothing returned"),
    ],
)
def test_a_bad_answer(changes: dict[str, Any], component: str, fault: str) -> None:
    told = found(CASE.with_(thresholds={}, labels=MUST, **changes))
    assert (told.component, told.fault) == (component, fault)


def test_a_document_that_was_missing_when_accepted_is_no_cause() -> None:
    before = CASE.with_(thresholds={}, labels=MUST, got=MANY)
    told = found(before.with_(answer="Bananas."), before)
    assert (told.component, told.fault, told.ranking.found) == ("generation", "assertion", 0)


def test_a_document_that_was_lost_is_the_cause_of_a_bad_answer() -> None:
    before = CASE.with_(thresholds={}, labels=MUST)
    told = found(before.with_(answer="Bananas.", got=MANY), before)
    assert (told.component, told.fault, told.answer) == ("retrieval", "document lost", "assertion")


def test_what_fails_as_it_did_when_accepted_is_no_cause() -> None:
    before = CASE.with_(got=MANY, labels=MUST)
    told = found(before.with_(answer="Bananas."), before)
    assert (told.component, [finding.metric for finding in told.findings]) == (
        "generation",
        ["must_contain", "token_f1"],
    )


def test_an_answer_where_a_refusal_was_expected() -> None:
    case = Case("ceo", relevant=[], reference=None, answer="A lot.", thresholds={"refusal_correctness": 1})
    assert found(case).fault == "answered"
    assert found(case.with_(answer=" "), case.with_(answer="I do not know.")).fault == "empty"


def test_latency_is_neither_retrieval_nor_generation() -> None:
    told = found(CASE.with_(seconds=3.0, thresholds={"mean_latency": 2}))
    assert (told.component, told.fault) == ("latency", "slow")


@pytest.mark.parametrize(
    ("result", "component", "fault"),
    [
        (CaseResult("a", "error"), "error", "raised"),
        (CaseResult("a", "error", timed_out=True), "timeout", "timed out"),
        (CaseResult("a", "error", wrong_shape=True), "output", "wrong shape"),
    ],
)
@pytest.mark.parametrize("said", ["ValueError: no index", "OutputShapeError: timed out", "accepted: nothing"])
def test_errors_are_told_apart_by_what_is_known_of_them(
    result: CaseResult, component: str, fault: str, said: str
) -> None:
    told = diagnose(replace(result, error=f"{said}\n  File …"), None, {})
    assert told is not None
    assert (told.component, told.fault, told.text) == (component, fault, said)


def errored(text: str, query: str = "How long?") -> CaseResult:
    return CaseResult(text, "error", error=text, texts=CaseTexts(query))


def causes(*cases: CaseResult) -> list[int]:
    """How many cases each cause has."""
    return [len(group) for _, group in group_by_cause(cases, run_of([]), {})]


def test_what_differs_from_call_to_call_parts_no_outage() -> None:
    said = "HttpError: {} on {!r}, trace {}, at 1795396169.01"
    first = errored(said.format(503, "How long?", "669f92f8-98e2-404f"))
    second = errored(said.format(503, "Who pays the postage?", "1ae5dcd3-4549"), "Who pays the postage?")
    other = errored(said.format(404, "How long?", "669f92f8-98e2-404f"))
    assert causes(first, second, other) == [2, 1]


def test_outputs_of_a_wrong_shape_are_one_outage() -> None:
    shape = "no 'hits' in dict: {{'result': {!r}}}"
    assert causes(
        *(
            replace(errored(shape.format(answer)), wrong_shape=True)
            for answer in ("Within 30 days.", "You have a month.")
        )
    ) == [2]


def test_cases_that_failed_are_each_their_own_cause() -> None:
    bad = [CASE.with_(id=f"case-{i}", got=MANY) for i in range(2)]
    run = run_of(bad)
    assert [len(group) for _, group in group_by_cause(run.cases.values(), run, {})] == [1, 1]


def test_a_metric_that_raised_is_no_fault_of_the_system() -> None:
    raised = Finding("metric raised", "recall@5", reason="MetricError: bad label")
    told = diagnose(CaseResult("a", "failed", findings=[raised]), None, infos_of())
    assert told is not None
    assert (told.component, told.metrics, told.text) == ("metric", ("recall@5",), "MetricError: bad label")


def test_a_case_that_passed_has_nothing_wrong() -> None:
    assert diagnose(*judged(CASE)) is None
    assert diagnose(CaseResult("a", "skipped"), None, {}) is None


def test_a_case_that_the_suite_lost_by_is_diagnosed_as_well() -> None:
    result, comparison, infos = judged(CASE.with_(thresholds={}, answer="I do not know. Within 30 days."), CASE)
    assert result.findings == []
    told = diagnose(result, comparison, infos, ["token_f1"])
    assert told is not None
    assert (told.component, told.fault) == ("generation", "refused")


def test_blamed_are_the_metrics_of_what_failed() -> None:
    infos = infos_of(["recall@5", "recall@50", "assertion_pass"])
    failed = [
        Finding("threshold", "recall@50"),
        Finding("assertion", "must_contain"),
        Finding("metric raised", "recall@5"),
    ]
    assert blamed_metrics(CaseResult("a", "failed", findings=failed), infos) == ["recall@50", "assertion_pass"]


def test_cutoffs() -> None:
    infos = infos_of(["recall@5", "recall@10[capped=true]", "mrr", "token_f1"])
    assert [cutoff(i) for i in infos.values()] == [5, 10, None, None]
    own = MetricInfo("judged@7", 1, {}, "RETRIEVAL_RELEVANCE", "higher", (0, 1), True, True)
    assert cutoff(own) == 7
