"""A model that drafts by a script: it takes real sentences as quotes, and makes the mistakes it is told to make."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import cycle
from typing import Any

from pytest_auepora.metrics.generation_llm_judge import LLMCritic
from pytest_auepora.metrics.text.tokens import sentences

TASKS = {
    "You write one question that the passage answers": "single-hop",
    "You write one question that takes both passages": "multi-hop",
    "You write one question that belongs to the subject": "unanswerable",
    "You answer a question from the evidence": "answer",
    "You answer a question from what you know": "know",
    "Do the two answers": "same",
    "Can the question be understood": "alone",
    "You are shown numbered passages": "which",
}


_POINTS = re.compile(r"passage|text|document|excerpt|paragraph|article|snippet|section|above|below|here|author", re.I)


class Scripted(LLMCritic):
    """Goes through *faults* in turns, one for each question it writes; an empty one is a good draft."""

    def __init__(self, faults: Sequence[str] = ("",)) -> None:
        self._faults = cycle(faults)
        self.written: dict[str, tuple[str, str]] = {}
        self.made: list[str] = []
        self.asked: list[str] = []

    def complete(
        self, *, prompt: str, schema: Mapping[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        """Reply as the script says."""
        task = next(task for start, task in TASKS.items() if prompt.startswith(start))
        self.asked.append(task)
        told = dict(re.findall(r"<(\w+)>\n(.*?)\n</\1>", prompt, re.DOTALL))
        said: Any = getattr(self, f"_{task}".replace("-", "_"))(told)
        return said if isinstance(said, str) else json.dumps(said)

    def params(self) -> dict[str, Any]:
        """A model with a name."""
        return {"model": "scripted"}

    def _begin(self) -> tuple[str, str]:
        fault, number = next(self._faults), len(self.made) + 1
        self.made.append(fault)
        question = f"Regarding {number * 7919} with {number * 104_729} and {number * 15_485_863}, what holds?"
        if fault == "leans":
            question = f"What does the passage tell about matter {number}?"
        if fault == "duplicate" and self.written:
            question = next(iter(self.written)).replace("what holds", "what then holds")
        return fault, question

    def _single_hop(self, told: Mapping[str, str]) -> Any:
        fault, question = self._begin()
        quote = _quote(told["passage"])
        answer = _word(quote)
        self.written[question] = fault, answer
        if fault == "unreadable":
            return "I would rather not."
        if fault == "copies":
            question = f"{quote}?"
            self.written[question] = fault, answer
        if fault == "paraphrased":
            quote = f"In other words, {quote.lower()}"
        if fault == "short":
            quote = " ".join(quote.split()[:2])
        return {"question": question, "answer": answer, "quotes": [quote]}

    def _multi_hop(self, told: Mapping[str, str]) -> Any:
        fault, question = self._begin()
        quotes = [_quote(told["passage_1"]), _quote(told["passage_2"])]
        self.written[question] = fault, " ".join(map(_word, quotes))
        return {"question": question, "answer": self.written[question][1], "quotes": quotes[: 1 + (fault != "one")]}

    def _unanswerable(self, told: Mapping[str, str]) -> Any:
        fault, question = self._begin()
        self.written[question] = fault, ""
        return {"question": question}

    def _answer(self, told: Mapping[str, str]) -> Any:
        fault, answer = self.written[told["question"]]
        hops = "\n\n" in told["evidence"]
        if answer in told["evidence"] or hops or fault == "one is enough":
            return {"answer": {"unanswerable": None, "other answer": "Something else."}.get(fault, answer)}
        return {"answer": None}

    def _know(self, told: Mapping[str, str]) -> Any:
        fault, answer = self.written[told["question"]]
        return {"answer": f"I think it is: {answer}!" if fault == "guessable" else None}

    def _same(self, told: Mapping[str, str]) -> Any:
        return {"verdict": "no"}

    def _alone(self, told: Mapping[str, str]) -> Any:
        return {"verdict": "no" if self.written[told["question"]][0] == "vague" else "yes"}

    def _which(self, told: Mapping[str, str]) -> Any:
        fault, _ = self.written[told["question"]]
        first = re.split(r"\n\n\[2\] ", told["passages"])[0].removeprefix("[1] ")
        quote = {"also": _quote(first), "also, made up": "words that stand nowhere", "answered": _quote(first)}.get(
            fault
        )
        return {"passages": [{"number": 1, "quote": quote}] if quote else []}


def _word(quote: str) -> str:
    found: list[str] = re.findall(r"[a-z]+", quote)
    return max(found, key=len)


@cache
def _quote(passage: str) -> str:
    """Return the longest sentence that points at no document, which a question made of it must not do."""
    found = [s for line in passage.split("\n") for s in sentences(line) if 5 < len(s.split()) < 40 and s in passage]
    return max(found or [passage[: len(passage) // 2]], key=lambda s: (not _POINTS.search(s), len(s)))


class Fixed(LLMCritic):
    """Gives one reply to all prompts, and remembers them."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.prompts: list[str] = []

    def complete(
        self, *, prompt: str, schema: Mapping[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        self.prompts.append(prompt)
        return self.reply
