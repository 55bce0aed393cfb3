"""What is read in a judge's reply, and what is an error: never 0, 0.5 or 1 for what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.judge.critic import Judgement, JudgeReplyError, Scale, object_form, read_reply

WORDS = {"no": 0.0, "partly": 0.5, "yes": 1.0}


@pytest.mark.parametrize(
    ("text", "score", "rationale"),
    [
        ("0.5", 0.5, ""),
        (" 4 \n", 4, ""),
        (".75", 0.75, ""),
        ('{"score": 1}', 1, ""),
        ('{"rationale": "a", "score": 0}', 0, "a"),
        ('{"reason": "a", "score": 0}', 0, "a"),
        ('{"rationale": ["a", "b"], "score": 1}', 1, '["a", "b"]'),
        ('```json\n{"score": 3}\n```', 3, ""),
        ('Here it is:\n```\n{"score": 3}\n```\nI hope that helps.', 3, ""),
        ('{"score": 0.8} and more', 0.8, ""),
        ('First {"score": 0.2}. On reflection: {"score": 0.9}', 0.9, ""),
        ('<think>maybe {"score": 0} or {"sc</think>{"score": 1}', 1, ""),
        ('maybe {"score": 0} or {"sc</think>{"score": 1}', 1, ""),
        ('{"rationale": "it says {\\"score\\": 1}", "score": 0}', 0, 'it says {"score": 1}'),
        ("\\frac{1}{2} of it holds. Score: 0.5", 0.5, ""),
        ("Score: 0.9", 0.9, ""),
        ("**Score:** 4", 4, ""),
        ("I give a score = 0.25.", 0.25, ""),
        ("Score: 1. Of the claims, all hold.", 1, ""),
        ("Score: 0.25 (of the answer, a quarter holds)", 0.25, ""),
        ("Score: 0.1\nScore: 0.7", 0.7, ""),
    ],
)
def test_scores_that_are_read(text: str, score: float, rationale: str) -> None:
    assert read_reply(text) == (score, rationale)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would say 4 out of 5.",
        "Score: 8/10",
        "Score: high",
        "Score: 80%",
        "Scores: 3",
        '{"rationale": "no score"}',
        '{"score": "0.8"}',
        '{"score": true}',
        '{"score": null}',
        '{"score": NaN}',
        '{"score": 1e999}',
        f'{{"score": {10**400}}}',
        str(10**400),
        "Score: 1e999",
        "[0.8]",
        "null",
        '{"score": 0.8',
        '{"rationale": "it says {"score": 1}", "score": 0}',
        '{"score": 0, "rationale": "it says {"score": 1}"}',
        "[" * 20_000,
        '{"a":' * 5_000,
        '<think>{"score": 1}</think>',
        '<think>{"score": 1}',
        '{"score": 1}</think>',
        "Score: 1 out of 5",
        "Score: 1 of 5",
        "Score: 1 / 5",
        "Score: 1 %",
        "Score: 0 to 1",
    ],
)
def test_what_is_no_score_is_an_error(text: str) -> None:
    with pytest.raises(JudgeReplyError, match="the judge's"):
        read_reply(text)


def test_verdicts_become_scores() -> None:
    assert read_reply('{"rationale": "so", "verdict": " Partly "}', WORDS) == (0.5, "so")
    assert read_reply('{"score": 1}', WORDS) == (1, "")
    for text in ('{"verdict": "mostly"}', '{"verdict": 1}', "yes", '{"reason": "yes"}'):
        with pytest.raises(JudgeReplyError):
            read_reply(text, WORDS)


def test_an_object_is_the_last_with_all_keys() -> None:
    number = {"type": "number"}
    form = object_form("numbers", {"left": number, "right": number}, dict)
    assert form.read('{"left": 1} {"left": 2, "right": 3} {"right": 4}') == {"left": 2, "right": 3}
    with pytest.raises(JudgeReplyError, match="left and right"):
        form.read('{"left": 1}')


@pytest.mark.parametrize(
    ("text", "score", "unit"), [("0-1", 0.25, 0.25), ("1-5", 2, 0.25), ("0-10", 7, 0.7), ("no:0|fair:0.5|yes:1", 1, 1)]
)
def test_scales(text: str, score: float, unit: float) -> None:
    assert Scale.read(text).to_unit(score) == unit


@pytest.mark.parametrize(
    "text", ["", "5-1", "1", "a-b", "0-inf", "yes:1", "yes:1|no:2", "yes:1|yes:0", "yes:|no:0", ":1|b:0"]
)
def test_scales_that_make_no_sense(text: str) -> None:
    with pytest.raises(MetricError, match="scale must be"):
        Scale.read(text)


@pytest.mark.parametrize("score", [0.25, 2, True, None, float("nan"), pytest.param(10**400, id="no float")])
def test_a_score_beside_the_verdicts_is_an_error(score: Any) -> None:
    with pytest.raises(JudgeReplyError):
        Scale.read("no:0|yes:1").to_unit(score)


def test_the_form_says_what_is_wanted_and_reads_it() -> None:
    scale = Scale.read("no:0|partly:0.5|yes:1")
    assert scale.form.schema["properties"]["verdict"]["enum"] == ["no", "partly", "yes"]
    assert scale.form.schema["required"] == ["rationale", "verdict"]
    assert scale.form.read('{"rationale": "r", "verdict": "yes"}') == Judgement(1.0, "r")
    assert "no, partly, yes" in scale.instruction
    with pytest.raises(JudgeReplyError, match="7 is not between 1 and 5"):
        Scale.read("1-5").form.read("7")
