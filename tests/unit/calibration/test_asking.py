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

Reply = Callable[[EvaluationSample, SystemOutputs], float | None]


class Opinion(Metric):
    """Gives what *reply* says, and remembers what it was asked: query, answer, evidence."""

    name = "opinion"
    target = TargetCategory.GENERATION_RELEVANCE
    judged = True

    def __init__(self, reply: Reply = lambda *_: 0.5) -> None:
        self.reply = reply
        self.asked: list[tuple[str, str, list[str]]] = []

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        evidence = [one.doc.text for one in outputs.retrieved]
        assert [one.text for one in sample.relevant_docs or ()] == evidence
        self.asked.append((sample.query, outputs.response.text, evidence))
        value = self.reply(sample, outputs)
        return NotApplicable("no claims") if value is None else Measurement(value)


def item(number: int = 1, **more: Any) -> Item:
    return placed(Item(f"i{number}", True, query=f"q{number}", answer=f"a{number}", **more), number)


def placed(one: Item, line: int) -> Item:
    one.line = line
    return one


def unreadable(*answers: str) -> Reply:
    def reply(sample: EvaluationSample, outputs: SystemOutputs) -> float:
        if outputs.response.text in answers:
            raise JudgeReplyError(f"not JSON: {outputs.response.text}")
        return 0.5

    return reply


def test_only_items_without_a_score_are_asked_about() -> None:
    metric = Opinion()
    items = [item(1), item(2, score=0.0), item(3, error="not JSON"), item(4, evidence=["one", "two"])]
    ask(metric, items)
    assert metric.asked == [("q1", "a1", []), ("q4", "a4", ["one", "two"])]
    assert [one.score for one in items] == [0.5, 0.0, None, 0.5]
    ask(metric, [])
    ask(metric, items)
    assert len(metric.asked) == 2


def test_asking_again_forgets_what_another_judge_said() -> None:
    items = [item(1, score=0.0, evidence=["one", "two"]), item(2, error="not JSON")]
    ask(Opinion(), items, again=True)
    assert [(one.score, one.error) for one in items] == [(0.5, ""), (0.5, "")]


def test_a_reply_that_is_no_score_stops_nobody_else() -> None:
    items = [item(1), item(2, evidence=["one", "two"]), item(3)]
    ask(Opinion(unreadable("a2")), items)
    assert [(one.score, one.error) for one in items] == [(0.5, ""), (None, "not JSON: a2"), (0.5, "")]


@pytest.mark.parametrize("answer", ["", " \n"])
def test_without_an_answer_nobody_is_asked(answer: str) -> None:
    metric = Opinion()
    with pytest.raises(MetricError, match=r"^line 7: neither a score nor an answer to ask the judge about$"):
        ask(metric, [item(1), placed(Item("x", True, answer=answer), 7)])
    assert not metric.asked


def test_items_without_a_score_are_left_out_with_why() -> None:
    one, two = item(1), item(2)
    left = ask(Opinion(lambda sample, _: None if sample.query == "q2" else 0.5), [one, two])
    assert left == ["line 2: no claims"]
    assert (one.score, two.score, two.error) == (0.5, None, "")
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
        Item("3", case="c", score=0.75),
        Item("4", case="d", answer_hash=answer_hash("answer d")),
        Item("5", case="a", error="not JSON"),
    ]
    number, failed = Score("number", 0.25), Score.failed("JudgeReplyError: not JSON")
    fill_from_run(items, run_of(a=number, b=failed, c=number, d=None), "opinion")
    assert [(one.query, one.answer, one.score, one.error) for one in items] == [
        ("query a", "answer a", 0.25, ""),
        ("mine", "mine", None, failed.reason),
        ("query c", "answer c", 0.75, ""),
        ("query d", "answer d", None, ""),
        ("query a", "answer a", None, "not JSON"),
    ]


@pytest.mark.parametrize(
    ("one", "metric", "message"),
    [
        (Item("1", case="a"), "opinoin", r"the run of shop has no opinoin \(did you mean 'opinion'\?\)"),
        (placed(Item("1"), 4), "opinion", "line 4: no case; which of the run's answers was labelled?"),
        (placed(Item("1", case="refnd"), 4), "opinion",
         r"line 4: the run has no case 'refnd' \(did you mean 'refund'\?\)"),
        (placed(Item("1", case="refund", answer_hash="0" * 16), 4), "opinion",
         r"line 4: the answer to refund is not the one that was labelled \(hash \w+, labelled 0{16}\)"),
    ],
)  # fmt: skip
def test_what_a_run_does_not_have(one: Item, metric: str, message: str) -> None:
    with pytest.raises(MetricError, match=f"^{message}"):
        fill_from_run([one], run_of(refund=Score("number", 1.0), a=None), metric)
