"""The one sentence that says what broke: each of these is what a person should read first."""

from __future__ import annotations

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.reporting.diagnosis import blamed_metrics, cause_key, cutoff, details_text, diagnose

from .builders import METRICS, Case, infos_of, judged

MANY = [f"doc-{i}.md" for i in range(12)]
CASE = Case("refund-window", got=["index.md", "refunds.md", "terms.md"], thresholds={"recall@5": 0.8})
MUST = {"must_contain": ["30 days"], "forbidden": ["60 days"]}


def at_rank(rank: int, *names: str) -> list[str]:
    got = [d for d in MANY if d not in names]
    for i, name in enumerate(names or ("refunds.md",)):
        got.insert(rank - 1 + i, name)
    return got[:12]


def said(now: Case, before: Case | None = None) -> str:
    return str(diagnose(*judged(now, before)))


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (CASE.with_(got=at_rank(9)), CASE, "retrieval: refunds.md fell from rank 2 to 9 (recall@5 looks at 5)"),
        (CASE.with_(got=MANY), CASE, "retrieval: refunds.md fell out, was at rank 2 (not among the 12 returned)"),
        (CASE.with_(got=MANY), None, "retrieval: refunds.md was not found (not among the 12 returned)"),
        (CASE.with_(got=at_rank(9)), None, "retrieval: refunds.md is only at rank 9 (recall@5 looks at 5)"),
        (CASE.with_(got=at_rank(9)), CASE.with_(got=at_rank(7)),
         "retrieval: refunds.md is only at rank 9, was 7 (recall@5 looks at 5)"),
        (CASE.with_(got=MANY), CASE.with_(got=MANY),
         "retrieval: refunds.md was again not found (not among the 12 returned)"),
        (CASE.with_(got=[]), CASE, "retrieval: nothing was returned"),
        (CASE.with_(got=["x"]), CASE, "retrieval: refunds.md fell out, was at rank 2 (not the one returned)"),
    ],
)  # fmt: skip
def test_a_document_is_not_where_it_should_be(now: Case, before: Case | None, text: str) -> None:
    assert said(now, before) == text


def test_the_document_named_is_the_one_that_matters_most() -> None:
    case = CASE.with_(relevant=["a.md", ("b.md", 2), "c.md"], got=MANY)
    assert said(case).startswith("retrieval: b.md was not found")
    assert said(case).endswith("; 2 more documents missed")
    before = case.with_(got=["c.md"])
    assert said(case, before).startswith("retrieval: c.md fell out, was at rank 1")


def test_no_more_documents_are_missed_than_the_top_has_room_for() -> None:
    case = CASE.with_(relevant=["a.md", "b.md"], got=["x", "b.md", "y", "a.md"], thresholds={"hit@1": 1})
    before = case.with_(got=["a.md", "x", "b.md"])
    assert str(diagnose(*judged(case, before, ["hit@1"]))) == "retrieval: a.md fell from rank 1 to 4 (hit@1 looks at 1)"


def test_a_ranking_that_holds_everything_but_too_low() -> None:
    case = CASE.with_(got=["x", "y", "refunds.md"], thresholds={"mrr@10": 0.5})
    assert said(case) == "retrieval: the first relevant document is at rank 3 (mrr@10 0.33, wanted >= 0.5)"
    assert said(case, CASE) == "retrieval: refunds.md fell from rank 2 to 3 (mrr@10 0.333)"


def test_too_much_noise() -> None:
    names = [*METRICS, "precision@5"]
    case = CASE.with_(got=["refunds.md", "x", "y"], thresholds={"precision@5": 0.5})
    assert str(diagnose(*judged(case, None, names))) == (
        "retrieval: 1 of the first 5 is relevant (precision@5 0.20, wanted >= 0.5)"
    )


def test_generation_is_named_when_the_documents_were_there() -> None:
    case = CASE.with_(answer="Within two weeks.", labels=MUST, thresholds={"assertion_pass": 1})
    assert said(case) == "generation: the document was found, the answer misses '30 days'"
    both = case.with_(answer="Within 60 days.", relevant=["refunds.md", "terms.md"])
    assert said(both) == "generation: the documents were found, the answer misses '30 days' and says '60 days'"


def test_a_bad_answer_without_documents_is_retrievals_fault() -> None:
    case = CASE.with_(answer="Within 60 days.", labels=MUST, got=MANY, thresholds={"assertion_pass": 1})
    assert said(case).startswith("retrieval: refunds.md was not found, and the answer misses '30 days'")
    before = CASE.with_(relevant=["refunds.md", "a.md"], got=["a.md", "refunds.md"])
    now = before.with_(got=["a.md"], answer="Within 60 days.", labels=MUST, thresholds={"assertion_pass": 1})
    loss = "refunds.md fell out, was at rank 2 (not the one returned)"
    assert said(now, before).startswith(f"retrieval: {loss}, and the answer misses")


def test_some_documents_were_there() -> None:
    case = CASE.with_(relevant=["refunds.md", "a.md"], answer="No.", labels=MUST, thresholds={"assertion_pass": 1})
    assert said(case) == "generation: 1 of 2 documents were found, the answer misses '30 days'"


def test_passages_that_fell_are_the_cause_of_a_bad_answer() -> None:
    names = [f"p{i}.md" for i in range(4)]
    before = CASE.with_(relevant=names, got=names, thresholds={"token_f1": 0.5})
    now = before.with_(got=["p0.md", *MANY[:11], *names[1:]], answer="Bananas.")
    told = diagnose(*judged(now, before, policy=RegressionPolicy(policy="report")))
    assert str(told) == (
        "retrieval: p1.md fell from rank 2 to 13 (recall@5 looks at 5); 2 more documents missed, and the answer falls "
        "short (token_f1 0.00, wanted >= 0.5)"
    )
    without = now.with_(got=["p0.md", "x"])
    assert said(without).startswith("retrieval: 1 of 4 documents was found, and the answer falls short")


def test_what_fell_is_told_before_what_was_never_found() -> None:
    before = CASE.with_(relevant=["refunds.md", "never.md"], got=at_rank(1), thresholds={"mrr@10": 0.5})
    assert said(before.with_(got=at_rank(4)), before) == "retrieval: refunds.md fell from rank 1 to 4 (mrr@10 0.250)"
    assert "never.md was again not found" in said(before.with_(thresholds={"recall@5": 0.8}), before)


def test_both_went_wrong() -> None:
    case = CASE.with_(got=MANY, answer="Hm.", labels=MUST, thresholds={"recall@5": 0.8, "assertion_pass": 1})
    assert said(case, CASE).startswith("retrieval: refunds.md fell out")
    assert said(case, CASE).endswith(", and the answer misses '30 days'")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("", "generation: the document was found, the answer is empty"),
        ("I don\u2019t know.", "generation: the document was found, the system refused to answer"),
        ("Bananas.", "generation: the document was found, the answer falls short (token_f1 0.00, wanted >= 0.5)"),
    ],
)
def test_poor_answers(answer: str, text: str) -> None:
    assert said(CASE.with_(answer=answer, thresholds={"token_f1": 0.5})) == text


def test_what_the_documents_do_not_say() -> None:
    names = ["recall@5", "evidence_overlap"]
    case = CASE.with_(answer="Pink elephants dance on purple roofs.", thresholds={"evidence_overlap": 0.5})
    told = str(diagnose(*judged(case, None, names)))
    assert told.startswith("generation: the document was found, the answer says what the documents do not: '")
    assert "evidence_overlap 0.00, wanted >= 0.5" in told


def test_a_refusal_is_what_the_metric_takes_for_one() -> None:
    answer = "The documents do not mention how long refunds take. " + "Please ask the support team. " * 10
    names = ["recall@5", "token_f1"]
    now = CASE.with_(got=["refunds.md"], answer=answer, thresholds={"token_f1": 0.9})
    assert (
        str(diagnose(*judged(now, None, names))) == "generation: the document was found, the system refused to answer"
    )


def test_an_answer_where_a_refusal_was_expected() -> None:
    case = Case("ceo", relevant=[], reference=None, answer="A lot.", thresholds={"refusal_correctness": 1})
    assert said(case) == (
        "generation: a refusal was expected, the system answered (refusal_correctness 0.00, wanted >= 1)"
    )


@pytest.mark.parametrize(
    ("got", "answer", "text"),
    [
        ([], "I don't know.", "retrieval: nothing was returned, and the system refused to answer"),
        (MANY, "I don't know.", "retrieval: refunds.md fell out, was at rank 2 (not among the 12 returned), "
                                "and the system refused to answer"),
        (["refunds.md"], "I don't know.", "generation: the document was found, the system refused to answer"),
        (["refunds.md"], "Sadly, " + "and so on, " * 30 + "I do not know.",
         "generation: the document was found, the system refused to answer"),
    ],
)  # fmt: skip
def test_a_refusal_for_want_of_documents_is_retrievals_fault(got: list[str], answer: str, text: str) -> None:
    names = ["recall@5", "over_refusal"]
    now = CASE.with_(got=got, answer=answer, thresholds={"over_refusal": 0, "recall@5": 0.8})
    assert str(diagnose(*judged(now, CASE, names))) == text
    without = now.with_(thresholds={"over_refusal": 0})
    assert str(diagnose(*judged(without, None, names))).startswith(text.partition(":")[0])


def test_latency_is_neither() -> None:
    case = CASE.with_(seconds=3.0, thresholds={"mean_latency": 2})
    assert said(case) == "latency: mean_latency 3.00, wanted <= 2"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("ValueError: no index\n  File …", "error: ValueError: no index"),
        ("pytest_auepora.errors.CallTimeoutError: no answer within 5 s", "timeout: no answer within 5 s"),
        ("pytest_auepora.errors.OutputShapeError: got None", "output: got None"),
        ("pytest_auepora.adapters.http.HttpCallError: 503", "error: HttpCallError: 503"),
        ("shop.pytest_auepora.errors.DownError: 503", "error: shop.pytest_auepora.errors.DownError: 503"),
        ("", "error: no result"),
    ],
)
def test_errors(error: str, text: str) -> None:
    result = CaseResult("a", "error", error=error)
    assert str(diagnose(result, None, {})) == text


def test_what_differs_from_call_to_call_parts_no_outage() -> None:
    def said(trace: str, query: str, status: int = 503, state: str = "error") -> str:
        case = CaseResult("a", "error" if state == "error" else "failed", texts=CaseTexts(query))
        return cause_key(f"{state}: HttpError: {status} on {query!r}, trace {trace}, at 1795396169.01", case)

    first = said("669f92f8-98e2-404f", "How long?")
    assert said("1ae5dcd3-4549-4592", "Who pays the postage?") == first != ""
    assert said("669f92f8-98e2-404f", "How long?", 404) != first
    assert said("669f92f8-98e2-404f", "How long?", state="metric") != ""
    assert said("669f92f8-98e2-404f", "How long?", state="retrieval") == "", "each case its own"


def test_outputs_of_one_wrong_shape_are_alike() -> None:
    def said(answer: str, key: str = "result") -> str:
        case = CaseResult("a", "error", texts=CaseTexts("How long?"))
        return cause_key(f"output: no 'hits' in dict with the keys {key!r}: {{{key!r}: {answer!r}}}", case)

    assert said("Within 30 days.") == said("You have a month.") != said("Within 30 days.", "reply")
    numbers = [
        cause_key(f"output: document 1 is not a document: int: {n}; accepted: …", CaseResult("a", "error"))
        for n in (0, 7)
    ]
    assert numbers[0] == numbers[1]


def test_a_metric_that_raised_is_no_fault_of_the_system() -> None:
    result, _, infos = judged(CASE)
    result.state, result.scores["recall@5"] = "failed", Score("error", reason="MetricError: bad label")
    result.problems = ["recall@5: the metric raised MetricError: bad label"]
    assert str(diagnose(result, None, infos)) == "metric: recall@5 raised MetricError: bad label"


def test_a_case_that_passed_has_nothing_wrong() -> None:
    assert diagnose(*judged(CASE)) is None
    assert diagnose(CaseResult("a", "skipped"), None, {}) is None


def test_problems_name_metrics_exactly() -> None:
    infos = infos_of(["recall@5", "recall@50"])
    result = CaseResult("a", problems=["recall@50 0.1, wanted >= 0.2", "recall@50 fell from 1.00 to 0.10"])
    assert blamed_metrics(result, infos) == ["recall@50"]
    result.problems = ["recall@5: the metric raised X", "recall@5 0.1, wanted >= 0.2"]
    assert blamed_metrics(result, infos) == ["recall@5"]


def test_cutoffs() -> None:
    infos = infos_of(["recall@5", "recall@10[capped=true]", "mrr", "token_f1"])
    assert [cutoff(i) for i in infos.values()] == [5, 10, None, None]
    own = MetricInfo("judged@7", 1, {}, "RETRIEVAL_RELEVANCE", "higher", (0, 1), True, True)
    assert cutoff(own) == 7


def test_details_in_words() -> None:
    assert details_text(Score("number", 0.5, details={"missed": ["a", "b", "c", "d"]})) == "missed a, b, c and 1 more"
    assert details_text(Score("number", 0.0, details={"missing": ["x"], "forbidden_present": ["y"]})) == (
        "misses 'x'; says 'y'"
    )
    assert details_text(Score("number", 0.0, details={"rank": None})) == "no hit"
    assert details_text(Score("number", 0.0, details={"of": 3, "wrong": ["z"]})) == "wrong: 'z'"
    assert details_text(Score("number", 0.3, details={"rank": 3})) == "first hit at rank 3"
    assert details_text(Score("number", 0.0, details={"note": "the answer is empty"})) == "the answer is empty"
    assert details_text(Score("error", reason="KeyError: 'x'")) == "error: KeyError: 'x'"
    assert details_text(Score("number", 1.0)) == ""


def test_a_long_quotation_is_cut_to_a_line() -> None:
    case = CASE.with_(answer="No.", labels={"must_contain": ["so many\nwords " * 30]}, thresholds={"assertion_pass": 1})
    assert "\n" not in said(case)
    assert len(said(case)) < 160


def test_an_assertion_that_fails_still_is_named() -> None:
    case = Case("a", answer="Never.", labels={"must_contain": ["30 days"]})
    result, comparison, infos = judged(case, case)
    assert (result.state, list(result.extra["still_failing"])) == (
        "passed",
        ["assertion_pass: the answer misses '30 days'"],
    )
    told = diagnose(result, comparison, infos)
    assert str(told) == "generation: the document was found, the answer misses '30 days'"
