"""Labelled items get their scores: from a judge that is asked, or from a run that was kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_auepora.calibration.asking import ask, fill_from_run
from pytest_auepora.calibration.labels import Item
from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.errors import AueporaError, MetricError
from pytest_auepora.metrics.annotation.labels import answer_hash
from pytest_auepora.metrics.judge.critic import JudgeReplyError
from pytest_auepora.metrics.judge.usage import REPEAT

Reply = Callable[[EvaluationSample, SystemOutputs], float | None]


class Opinion(Metric):
    """Gives what *reply* says, and remembers what it was asked: query, answer, evidence, number of the repeat."""

    name = "opinion"
    target = TargetCategory.GENERATION_RELEVANCE
    judged = True

    def __init__(self, reply: Reply = lambda *_: 0.5) -> None:
        self.reply = reply
        self.asked: list[tuple[str, str, list[str], int]] = []

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        evidence = [one.doc.text for one in outputs.retrieved]
        assert [one.text for one in sample.relevant_docs or ()] == evidence
        self.asked.append((sample.query, outputs.response.text, evidence, REPEAT.get()))
        value = self.reply(sample, outputs)
        return NotApplicable("no claims") if value is None else Measurement(value)


def item(number: int = 1, **more: Any) -> Item:
    return Item(f"i{number}", [True], query=f"q{number}", answer=f"a{number}", line=number, **more)


def unreadable(*answers: str) -> Reply:
    def reply(sample: EvaluationSample, outputs: SystemOutputs) -> float:
        if outputs.response.text in answers:
            raise JudgeReplyError(f"not JSON: {outputs.response.text}")
        return 0.5

    return reply


def test_only_items_without_a_score_are_asked_about() -> None:
    metric = Opinion()
    items = [item(1), item(2, scores=[0.0]), item(3, error="not JSON"), item(4, evidence=["one", "two"])]
    ask(metric, items)
    assert metric.asked == [("q1", "a1", [], 0), ("q4", "a4", ["one", "two"], 0)]
    assert [one.scores for one in items] == [[0.5], [0.0], [], [0.5]]
    ask(metric, [])
    ask(metric, items)
    assert len(metric.asked) == 2


def test_asking_again_forgets_what_another_judge_said() -> None:
    items = [item(1, scores=[0.0, 0.1], swapped=0.9, evidence=["one", "two"]), item(2, error="not JSON")]
    metric = Opinion(lambda _, outputs: 0.25 if [one.doc.text for one in outputs.retrieved] == ["two", "one"] else 0.5)
    ask(metric, items, again=True, swap=True)
    assert [(one.scores, one.swapped, one.error) for one in items] == [([0.5], 0.25, ""), ([0.5], None, "")]


def test_repeats_fill_up_and_each_has_a_cache_of_its_own() -> None:
    metric = Opinion()
    items = [item(1), item(2, scores=[0.0])]
    ask(metric, items, repeats=3)
    assert [one.scores for one in items] == [[0.5] * 3, [0.0, 0.5, 0.5]]
    assert [(query, repeat) for query, *_, repeat in metric.asked] == [
        ("q1", 0), ("q1", 1), ("q1", 2), ("q2", 1), ("q2", 2),
    ]  # fmt: skip


def test_only_evidence_that_has_an_order_is_turned_round() -> None:
    metric = Opinion()
    items = [item(1, evidence=["one", "two", "three"]), item(2, evidence=["one"]), item(3),
             item(4, evidence=["one", "two"], swapped=0.0, scores=[0.0])]  # fmt: skip
    ask(metric, items, swap=True)
    assert [evidence for *_, evidence, _ in metric.asked] == [
        ["one", "two", "three"], ["three", "two", "one"], ["one"], [],
    ]  # fmt: skip
    assert [one.swapped for one in items] == [0.5, None, None, 0.0]


def test_a_reply_that_is_no_score_stops_nobody_else() -> None:
    items = [item(1), item(2, evidence=["one", "two"]), item(3)]
    ask(Opinion(unreadable("a2")), items, repeats=2, swap=True)
    assert [(one.scores, one.error) for one in items] == [([0.5, 0.5], ""), ([], "not JSON: a2"), ([0.5, 0.5], "")]
    assert items[1].swapped is None


def test_an_unreadable_reply_to_turned_evidence_is_no_error() -> None:
    def reply(_: EvaluationSample, outputs: SystemOutputs) -> float:
        if outputs.retrieved[0].doc.text == "two":
            raise JudgeReplyError("not JSON")
        return 1.0

    one = item(1, evidence=["one", "two"])
    ask(Opinion(reply), [one], swap=True)
    assert (one.scores, one.swapped, one.error) == ([1.0], None, "")


@pytest.mark.parametrize("answer", ["", " \n"])
def test_without_an_answer_nobody_is_asked(answer: str) -> None:
    metric = Opinion()
    with pytest.raises(MetricError, match=r"^line 7: neither a score nor an answer to ask the judge about$"):
        ask(metric, [item(1), Item("x", [True], answer=answer, line=7)])
    assert not metric.asked


def test_items_without_a_score_are_left_out_with_why() -> None:
    one, two = item(1), item(2)
    left = ask(Opinion(lambda sample, _: None if sample.query == "q2" else 0.5), [one, two], repeats=2)
    assert left == ["line 2: no claims"]
    assert (one.scores, two.scores, two.error) == ([0.5, 0.5], [], "")
    with pytest.raises(MetricError, match=r"^opinion has nothing to say: line 1: no claims; line 2: no claims$"):
        ask(Opinion(lambda *_: None), [item(1), item(2)])


def test_a_judge_that_cannot_be_reached_ends_it() -> None:
    def gone(*_: Any) -> float:
        raise AueporaError("no judge there")

    with pytest.raises(AueporaError, match="no judge there"):
        ask(Opinion(gone), [item(1)])


def run_of(**scores: Score | None) -> Run:
    run = Run("shop", metrics={"opinion": MetricInfo.of(Opinion())})
    run.add(
        CaseResult(
            name,
            scores={} if score is None else {"opinion": score},
            texts=CaseTexts(f"query {name}", outputs={"answer": f"answer {name}"}),
        )
        for name, score in scores.items()
    )
    return run


def test_answers_and_scores_of_a_run() -> None:
    items = [
        Item("1", case="a"),
        Item("2", case="b", query="mine", answer="mine"),
        Item("3", case="c", scores=[0.75]),
        Item("4", case="d", answer_hash=answer_hash("answer d")),
        Item("5", case="a", error="not JSON"),
    ]
    number, failed = Score("number", 0.25), Score.failed("JudgeReplyError: not JSON")
    fill_from_run(items, run_of(a=number, b=failed, c=number, d=None), "opinion")
    assert [(one.query, one.answer, one.scores, one.error) for one in items] == [
        ("query a", "answer a", [0.25], ""),
        ("mine", "mine", [], failed.reason),
        ("query c", "answer c", [0.75], ""),
        ("query d", "answer d", [], ""),
        ("query a", "answer a", [], "not JSON"),
    ]


@pytest.mark.parametrize(
    ("one", "metric", "message"),
    [
        (Item("1", case="a"), "opinoin", r"the run of shop has no opinoin \(did you mean 'opinion'\?\)"),
        (Item("1", line=4), "opinion", "line 4: no case; which of the run's answers was labelled?"),
        (Item("1", case="refnd", line=4), "opinion",
         r"line 4: the run has no case 'refnd' \(did you mean 'refund'\?\)"),
        (Item("1", case="refund", answer_hash="0" * 16, line=4), "opinion",
         r"line 4: the answer to refund is not the one that was labelled \(hash \w+, labelled 0{16}\)"),
    ],
)  # fmt: skip
def test_what_a_run_does_not_have(one: Item, metric: str, message: str) -> None:
    with pytest.raises(MetricError, match=f"^{message}"):
        fill_from_run([one], run_of(refund=Score("number", 1.0), a=None), metric)
