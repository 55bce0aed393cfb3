"""Claim checkers split texts into claims and check whether texts support them: a judge, an NLI model, a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.grouping import grouped
from ...errors import MetricError
from ..judge.critic import Form, JudgeReplyError, LLMCritic, Question, object_form, object_schema, unwrap, yes_or_no
from ..judge.prompts import fingerprint, label_prompt, load_prompt, number_texts
from ..judge.settings import AsksCritic
from ..text.tokens import sentences

Entails = Callable[[Sequence[str], Sequence[str]], Sequence[bool]]
"""Whether each premise supports the hypothesis at the same place."""


class ClaimChecker(ABC):
    """Splits texts into claims and says which evidence supports them.

    Implement `entails`; override `split` for claims that are finer than sentences, and `params` so that another
    model gives another fingerprint.  Give it to all metrics: ``registry.give(checker=MyNli())``.

    Class attributes:
        judged: its word may fail a run only once people have agreed with it (`auepora calibrate`).
        deterministic: it says the same about the same texts every time.
        concurrency: of how many cases it may be asked at once, in threads.
    """

    judged = True
    deterministic = False
    concurrency = 1

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
        """Metrics of the same key share its verdicts, while it lives."""
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


_PAIR_QUESTION = (
    "Does the evidence support the claim? Yes only where every part of the claim follows from the evidence; "
    "what is true but not in the evidence is not supported."
)
_CLAIMS_FORM: Form[list[str]] = object_form(
    "claims", {"claims": {"type": "array", "items": {"type": "string"}}}, lambda fields: fields["claims"]
)  # fmt: skip
_VERDICT_SCHEMA = object_schema({"number": {"type": "integer"}, "verdict": {"type": "string", "enum": ["yes", "no"]}})


def _verdicts_form(n_claims: int) -> Form[dict[int, bool]]:
    """Return the form of verdicts about claims 1 to *most*."""

    def read(fields: Mapping[str, Any]) -> dict[int, bool]:
        verdicts = {int(v["number"]): {"yes": True, "no": False}[v["verdict"]] for v in fields["verdicts"]}
        if verdicts.keys() != set(range(1, n_claims + 1)):
            raise JudgeReplyError(f"the judge was asked about claims 1 to {n_claims}, and spoke of {[*verdicts]}")
        return verdicts

    return object_form("verdicts", {"verdicts": {"type": "array", "items": _VERDICT_SCHEMA}}, read)


_REPLY = "Reply with one JSON object and nothing else: "
_REPLIES = {
    "claims": {"reply": _REPLY + '{"claims": ["<claim>"]}'},
    "entailment": {"reply": _REPLY + '{"verdicts": [{"number": <of the claim>, "verdict": "<yes or no>"}]}'},
}


class JudgeChecker(AsksCritic, ClaimChecker):  # type: ignore[override]  # concurrency is that of the critic
    """Asks a critic to split texts into claims, and about all claims that one text may support at once.

    A critic that can only score is asked one yes-or-no question a pair, and claims are sentences.  Without a critic,
    the model of the judge's settings is asked.
    """

    @property
    def key(self) -> Any:
        """Metrics of one critic share its verdicts, and so do all that ask the model of the settings."""
        return "judge", id(self.critic)

    def _can_complete(self) -> bool:
        return self.critic is None or type(self.critic).complete is not LLMCritic.complete

    def split_many(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the claims of each text; raises what the first failing question gave, after all were asked."""
        if not self._can_complete():
            return super().split_many(texts)
        prompt = load_prompt("claims")
        questions = [Question(prompt.fill(_REPLIES["claims"], text=text), form=_CLAIMS_FORM) for text in texts]
        return [unwrap(reply) for reply in self.critic_in_use().ask_many(questions)]

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Sequence[bool]:
        """Raises what the first failing question gave, after all were asked."""
        pairs = [*zip(premises, hypotheses, strict=True)]
        if not self._can_complete():
            questions = [
                Question(label_prompt(_PAIR_QUESTION, evidence=p, claim=c), {"scale": (0.0, 1.0)}) for p, c in pairs
            ]
            return [yes_or_no(reply) for reply in self.critic_in_use().ask_many(questions)]
        claims_of = grouped(pairs)
        prompt = load_prompt("entailment")
        questions = [
            Question(
                prompt.fill(_REPLIES["entailment"], evidence=premise, claims=number_texts(claims)),
                form=_verdicts_form(len(claims)),
            )
            for premise, claims in claims_of.items()
        ]
        verdict_of_pair: dict[tuple[str, str], bool] = {}
        for (premise, claims), reply in zip(claims_of.items(), self.critic_in_use().ask_many(questions), strict=True):
            verdicts = unwrap(reply)
            verdict_of_pair.update({(premise, claim): verdicts[n] for n, claim in enumerate(claims, 1)})
        return [verdict_of_pair[pair] for pair in pairs]

    def params(self) -> dict[str, Any]:
        """What the critic says of itself, and versions and hashes of the prompts."""
        if self._can_complete():
            prompts = [load_prompt(name).fingerprint for name in _REPLIES]
        else:
            prompts = [fingerprint(label_prompt(_PAIR_QUESTION))]
        return {"judge": self.critic_params(), "prompt": prompts}


def as_checker(checker: str | ClaimChecker | Entails, critic: LLMCritic | None = None) -> ClaimChecker | None:
    """Return what the option *checker* stands for: ``judge``, a `ClaimChecker` or a function; None for ``given``."""
    if isinstance(checker, ClaimChecker):
        return checker
    if checker == "judge":
        return JudgeChecker(critic)
    if checker == "given":
        return None
    if isinstance(checker, str) or not callable(checker):
        raise MetricError(f"checker must be judge, given, a ClaimChecker or a function, got {checker!r:.80}")
    return _ByFunction(checker)
