"""Who is asked: a judge, an NLI function, a class; what they may reply; what of them is in the fingerprint."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_auepora.errors import MetricError, UnknownNameError
from pytest_auepora.metrics.claims.checker import JudgeChecker
from pytest_auepora.metrics.claims.claim_shares import AnswerCorrectness, ClaimF1, ClaimPrecision, Faithfulness
from pytest_auepora.metrics.judge.critic import JudgeReplyError, LLMCritic
from pytest_auepora.metrics.registry import Registry

from ..samples import case, gave, is_na, value
from .checkers import ByWords

ANSWER = gave("Rent is due. Pets are free.", "Rent is due.", "Pets cost money.")


class Says(LLMCritic):
    """Says yes where the claim stands in the evidence, or what it is told to say."""

    def __init__(self, said: Any = None) -> None:
        self.said = said
        self.prompts: list[str] = []

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        self.prompts.append(prompt)
        if self.said is not None:
            return self.said  # type: ignore[no-any-return]  # tests give what a critic should not
        evidence, claim = (re.findall(rf"<{tag}>\n(.*)\n</{tag}>", prompt)[0] for tag in ("evidence", "claim"))
        return float(claim in evidence)


def test_a_judge_is_asked_yes_or_no_about_each_pair() -> None:
    critic = Says()
    metric = Faithfulness(critic=critic)
    assert value(metric, case(), ANSWER) == 1 / 2
    assert len(critic.prompts) == 4
    assert (metric.judged, metric.deterministic) == (True, False)
    assert metric.params() == {"checker": "judge", **JudgeChecker(critic).params()}
    assert metric.params()["judge"] == {"critic": "Says"}


@pytest.mark.parametrize("said", [0.5, 2, True, float("nan")])
def test_a_judge_that_says_neither_is_an_error(said: Any) -> None:
    with pytest.raises(JudgeReplyError, match="0 or 1"):
        Faithfulness(critic=Says(said)).measure(case(), ANSWER)


def test_passages_of_more_and_fewer_claims_are_asked_at_once() -> None:
    both = threading.Barrier(2)

    class Meets(LLMCritic):
        concurrency = 2

        def complete(self, *, prompt: str, schema: Any = None, metadata: Any = None) -> str:
            both.wait(timeout=10)  # broken, and an error, where one is asked after the other
            n = 2 if "[2] " in prompt else 1
            return json.dumps({"verdicts": [{"number": i, "verdict": "yes"} for i in range(1, n + 1)]})

    assert JudgeChecker(Meets()).entails(["one", "two", "two"], ["Rent is due.", "Pets are free.", "Rent is due."])


def test_metrics_of_one_judge_ask_it_once() -> None:
    critic = Says()
    sample = case("Rent is due.")
    value(Faithfulness(critic=critic), sample, ANSWER)
    value(ClaimPrecision(critic=critic), sample, ANSWER)
    assert len(critic.prompts) == 4 + 2
    value(Faithfulness("judge", critic), sample, ANSWER)
    assert len(critic.prompts) == 4 + 2


def test_a_function_is_a_checker() -> None:
    def exact(premises: Sequence[str], hypotheses: Sequence[str]) -> list[bool]:
        return [p == h for p, h in zip(premises, hypotheses, strict=True)]

    metric = Faithfulness(exact)
    assert value(metric, case(), ANSWER) == 1 / 2
    assert metric.name == "faithfulness[checker=exact]"
    assert metric.params()["checker"] == "exact"
    assert "exact" in metric.params()["judge"]["checker"]


@pytest.mark.parametrize("given", ["nli", 3, None])
def test_what_is_no_checker_is_refused(given: Any) -> None:
    with pytest.raises(MetricError, match="checker must be judge, given, a ClaimChecker or a function"):
        Faithfulness(given)


@pytest.mark.parametrize("said", [[0.9] * 4, [1, 0, 1, 0], [None] * 4, ["yes"] * 4])
def test_what_is_no_boolean_is_an_error(said: list[Any]) -> None:
    with pytest.raises(MetricError, match="true or false"):
        Faithfulness(lambda _p, _h: said).measure(case(), ANSWER)


def test_as_many_replies_as_pairs() -> None:
    with pytest.raises(MetricError, match="asked about 4 pairs and said something about 1"):
        Faithfulness(lambda _p, _h: [True]).measure(case(), ANSWER)


def test_a_registry_gives_its_checker_to_all_that_take_one() -> None:
    registry, checker = Registry(), ByWords()
    assert registry.get("faithfulness").params()["checker"] == "judge"
    registry.give(checker=checker)
    metric = registry.get("faithfulness")
    assert metric.name == "faithfulness"
    assert metric.params() == {"checker": "ByWords", "judge": {"checker": "ByWords"}}
    assert value(metric, case(), ANSWER) == 1 / 2
    assert registry.get("faithfulness[given]").params() == {"checker": "given"}
    assert registry.get("recall@5").name == "recall@5"
    with pytest.raises(UnknownNameError, match="did you mean 'checker'"):
        registry.give(cheker=checker)


def test_a_registry_gives_its_critic_to_judged_metrics() -> None:
    registry, critic = Registry(), Says(1)
    registry.give(critic=critic)
    for name in ("faithfulness", "llm_faithfulness"):
        assert registry.get(name).measure(case(), ANSWER).value == 1  # type: ignore[union-attr]
    assert len(critic.prompts) == 4 + 1


def test_without_a_judge_the_error_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    with pytest.raises(MetricError, match="AUEPORA_JUDGE_URL"):
        Faithfulness().measure(case(), ANSWER)


class Completes(LLMCritic):
    """Splits at full stops, and finds supported what stands in the evidence."""

    def __init__(self, **replies: str) -> None:
        self.replies = replies
        self.prompts: list[str] = []

    def complete(
        self, *, prompt: str, schema: Mapping[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        self.prompts.append(prompt)
        told = dict(re.findall(r"<(\w+)>\n(.*?)\n</\1>", prompt, re.DOTALL))
        if "text" in told:
            return self.replies.get("claims") or json.dumps({"claims": told["text"].split(". ")})
        claims = re.findall(r"\[(\d+)\] (.+)", told["claims"])
        said = [{"number": int(n), "verdict": "yes" if c.strip(".") in told["evidence"] else "no"} for n, c in claims]
        return self.replies.get("verdicts") or json.dumps({"verdicts": said})


def test_a_judge_splits_and_checks_all_claims_of_a_text_at_once() -> None:
    critic = Completes()
    assert value(Faithfulness(critic=critic), case(), ANSWER) == 1 / 2
    assert len(critic.prompts) == 1 + 2
    assert "[1] Rent is due\n\n[2] Pets are free." in critic.prompts[1]
    only_scores = Faithfulness(critic=Says()).params()["prompt"]
    assert Faithfulness(critic=critic).params()["prompt"] != only_scores


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"claims": '{"claims": "one"}'}, "the judge's claims cannot be read"),
        ({"claims": "I cannot."}, "has no claims"),
        ({"verdicts": '{"verdicts": [{"number": 1, "verdict": "maybe"}]}'}, "the judge's verdicts cannot be read"),
        ({"verdicts": '{"verdicts": [{"number": 1e999, "verdict": "yes"}]}'}, "verdicts cannot be read"),
        (
            {"verdicts": '{"verdicts": [{"number": 1, "verdict": "yes"}]}'},
            "asked about claims 1 to 2, and spoke of .1.",
        ),
    ],
)
def test_a_judge_that_says_too_little_is_an_error(reply: dict[str, str], told: str) -> None:
    with pytest.raises(JudgeReplyError, match=told):
        Faithfulness(critic=Completes(**reply)).measure(case(), ANSWER)


def test_an_answer_without_a_claim_is_not_applicable() -> None:
    critic = Completes(claims='{"claims": []}')
    assert is_na(Faithfulness(critic=critic), case(), ANSWER)


def test_as_many_cases_at_once_as_the_critic_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    critic = Says()
    critic.concurrency = 5
    assert Faithfulness(critic=critic).concurrency == 5
    assert Faithfulness().concurrency == 1  # there is no judge
    assert Faithfulness("given").concurrency == 1
    assert Faithfulness.shares


def test_answer_correctness_is_the_f1_of_claims() -> None:
    sample, answer = case("Rent is due. Pets are free. Heating is included."), gave("Rent is due. Parking is extra.")
    ours, theirs = AnswerCorrectness(critic=Says()), ClaimF1(critic=Says())
    assert value(ours, sample, answer) == value(theirs, sample, answer) == pytest.approx(0.4)
    assert Registry().get("answer_correctness").name == ours.name
