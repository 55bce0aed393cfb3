"""Who says which claims a text makes, and whether one text supports another: a judge, an NLI model, a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import MetricError
from ..judge.critic import LLMCritic, Question, yes_or_no
from ..judge.prompts import fingerprint, label_prompt
from ..text.sentences import sentences

__all__ = ["ClaimChecker", "Entails", "JudgeChecker", "as_checker"]

Entails = Callable[[Sequence[str], Sequence[str]], Sequence[bool]]
"""Whether each premise supports the hypothesis at the same place."""


class ClaimChecker(ABC):
    """Splits texts into claims and says which evidence supports them.

    Implement `entails`; override `split` for claims that are finer than sentences, and `params` so that another
    model gives another fingerprint.  Give it to all metrics: ``registry.give(checker=MyNli())``.

    Class attributes:
        judged: its word may fail a run only once people have agreed with it (`auepora calibrate`).
        deterministic: it says the same about the same texts every time.
    """

    judged = True
    deterministic = False

    @abstractmethod
    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Sequence[bool]:
        """Return for each pair whether the premise supports the hypothesis: booleans, never shares.

        All pairs that a case needs for one metric come in one call, each different pair once.
        """

    def split(self, text: str) -> list[str]:
        """Return the claims of *text*, each to be understood alone; by default its sentences."""
        return sentences(text)

    def split_many(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the claims of each text."""
        return [self.split(text) for text in texts]

    def params(self) -> dict[str, Any]:
        """What changes its word: model, prompt, …; JSON-able."""
        return {"checker": type(self).__qualname__}

    @property
    def key(self) -> Any:
        """What metrics have in common that may share what it said, while it lives."""
        return id(self)


class _ByFunction(ClaimChecker):
    def __init__(self, entails: Entails) -> None:
        self._entails = entails

    @property
    def key(self) -> Any:
        return id(self._entails)

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Sequence[bool]:
        return self._entails(premises, hypotheses)

    def params(self) -> dict[str, Any]:
        return {"checker": getattr(self._entails, "__qualname__", type(self._entails).__qualname__)}


_ASKED = (
    "Does the evidence support the claim? Yes only where every part of the claim follows from the evidence; "
    "what is true but not in the evidence is not supported."
)


class JudgeChecker(ClaimChecker):
    """Asks a critic one yes-or-no question a pair; without a critic, the model that the environment names."""

    def __init__(self, critic: LLMCritic | None = None) -> None:
        self._critic = self._given = critic

    @property
    def key(self) -> Any:
        """Metrics of one critic share what it said, and so do all that ask the model of the environment."""
        return "judge", id(self._given)

    def critic(self) -> LLMCritic:
        """Return who is asked.

        Raises:
            MetricError: there is no critic, and the environment names no model.
        """
        if self._critic is None:
            from ..judge.settings import critic_from_environment

            self._critic = critic_from_environment()
        return self._critic

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Sequence[bool]:
        """Raises what the first failing question gave, after all were asked."""
        questions = [
            Question(label_prompt(_ASKED, evidence=premise, claim=claim), {"scale": (0.0, 1.0)})
            for premise, claim in zip(premises, hypotheses, strict=True)
        ]
        return [yes_or_no(reply) for reply in self.critic().judge_many(questions)]

    def params(self) -> dict[str, Any]:
        """What the critic says of itself, and a hash of the question."""
        try:
            said = self.critic().params()
        except MetricError:
            said = {}
        return {"judge": said, "prompt": fingerprint(label_prompt(_ASKED, evidence="", claim=""))}


def as_checker(given: str | ClaimChecker | Entails, critic: LLMCritic | None = None) -> ClaimChecker | None:
    """Return the checker that *given* is or names: ``judge``, a `ClaimChecker`, or a function ``entails``.

    None for ``given``: nobody is asked.

    Raises:
        MetricError: it is none of these.
    """
    if isinstance(given, ClaimChecker):
        return given
    if given == "judge":
        return JudgeChecker(critic)
    if given == "given":
        return None
    if isinstance(given, str) or not callable(given):
        raise MetricError(f"checker must be judge, given, a ClaimChecker or a function, got {given!r:.80}")
    return _ByFunction(given)
