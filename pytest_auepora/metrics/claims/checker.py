"""Claim checkers split texts into claims and check which texts support them; what is known of the claims of a case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.grouping import grouped
from ...base.text import did_you_mean
from ...core.metrics_base import NotApplicable
from ...core.types import EvaluationSample, SystemOutputs
from ...errors import MetricError
from ..judge.critic import Form, JudgeReplyError, LLMCritic, Question, object_form, object_schema, unwrap, yes_or_no
from ..judge.prompts import fingerprint, label_prompt, load_prompt, number_texts
from ..judge.settings import AsksCritic
from ..options import needed, where_applicable
from ..text.comparands import answer_text, claiming_answer, retrieved_texts, targets
from ..text.tokens import sentences
from ..values import expected_behaviour, read_list

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


class _ByFunction(ClaimChecker):
    def __init__(self, entails: Entails) -> None:
        self._entails = entails

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


RELATIONS = {
    "answer_by_reference": ("answer", "reference"),
    "reference_by_answer": ("reference", "answer"),
    "answer_by_chunks": ("answer", "chunks"),
    "reference_by_chunks": ("reference", "chunks"),
}
"""Whose claims are looked for in which texts."""

_RAGCHECKER = {
    "answer2response": "answer_by_reference",
    "response2answer": "reference_by_answer",
    "retrieved2response": "answer_by_chunks",
    "retrieved2answer": "reference_by_chunks",
    "response_claims": "answer",
    "gt_answer_claims": "reference",
}
_KEYS = ("answer", "reference", *RELATIONS)
_ENTAILMENT_WORDS = {"entailment": True, "neutral": False, "contradiction": False}

Rows = list[list[bool]]
"""For each claim, whether each of the texts supports it."""


@dataclass(slots=True, eq=False)
class ClaimCase:
    """One answer, and what is known about its claims.

    ``claims`` are the texts of both sides where these are known; ``rows`` has a relation's claims by texts: the
    retrieved chunks in order, or the one other text.
    """

    sample: EvaluationSample
    outputs: SystemOutputs
    claims: dict[str, list[str]]
    rows: dict[str, Rows]

    @classmethod
    def of(cls, sample: EvaluationSample, outputs: SystemOutputs, checker: ClaimChecker | None, key: Any) -> ClaimCase:
        """Return the case with the claims that were given, or found before and kept under *key*."""
        if key in outputs.memo:
            return cls(sample, outputs, *outputs.memo[key][:2])
        case = cls(sample, outputs, *_read_claims(outputs))
        if "reference" not in case.claims and (claims := sample.labels.get("claims")):
            case.claims["reference"] = [str(claim) for claim in read_list(claims, "labels['claims']")]
        case.check_sizes()
        outputs.memo[key] = case.claims, case.rows, checker  # which lives as long, or another got its key
        return case

    def supported(self, relation: str) -> list[bool]:
        """Whether each claim is supported by any of the texts."""
        return [any(row) for row in self.rows[relation]]

    def relevant(self) -> list[bool]:
        """Whether each chunk supports a claim of the reference."""
        return [any(column) for column in zip(*self.rows["reference_by_chunks"], strict=True)]

    def size(self, side: str) -> int | None:
        """Return how many claims a side has; None where that is not known yet."""
        if side in self.claims:
            return len(self.claims[side])
        return next((len(rows) for relation, rows in self.rows.items() if RELATIONS[relation][0] == side), None)

    def check_sizes(self) -> None:
        """Raise `MetricError` where the rows that were given do not fit the claims, or the chunks."""
        for relation, rows in self.rows.items():
            (side, texts), retrieved = RELATIONS[relation], len(self.outputs.retrieved)
            if len(rows) != (size := self.size(side)):
                raise MetricError(f"claims[{relation!r}] has {len(rows)} rows for {size} claims of the {side}")
            for row in rows if texts == "chunks" else ():
                if len(row) != retrieved:
                    where = f"claims[{relation!r}] has a row of {len(row)} values"
                    raise MetricError(f"{where}, but {retrieved} chunks were retrieved")

    def check(self, relations: Sequence[str]) -> None:
        """Raise `DoesNotApply` where *relations* do not apply to this case, as far as is known by now."""
        sides = dict.fromkeys(RELATIONS[relation][0] for relation in relations)
        if "answer" in sides:
            claiming_answer(self.outputs)
        unknown = {kind for r in relations if r not in self.rows for kind in RELATIONS[r]}
        if "reference" in unknown:
            check_reference(self.sample, self.claims.get("reference"))
        if "chunks" in unknown:
            retrieved_texts(self.outputs)
        for side in sides:
            needed(self.size(side) != 0, f"the {side} makes no claim")

    def texts(self, kind: str) -> list[str]:
        """Return the texts of the retrieved ``chunks``, of the ``answer``, or of the ``reference`` and its like."""
        if kind == "chunks":
            return [r.doc.text or "" for r in self.outputs.retrieved]
        if kind == "answer":
            return [answer_text(self.outputs)]
        references = where_applicable(targets, self.sample)
        return ["\n".join(self.claims["reference"])] if isinstance(references, NotApplicable) else references

    def pairs(self, relation: str) -> list[list[tuple[str, str]]]:
        """Return, for each claim, the texts that may support it, each with the claim."""
        side, kind = RELATIONS[relation]
        texts = self.texts(kind)
        return [[(text, claim) for text in texts] for claim in self.claims[side]]


def check_reference(sample: EvaluationSample, claims: Sequence[str] | None = None) -> None:
    """Raise `DoesNotApply` where *sample* has nothing to claim: a refusal is expected, or there is no reference."""
    needed(expected_behaviour(sample) != "refuse", "a refusal is expected")
    is_known = claims or sample.labels.get("claims") or isinstance(where_applicable(targets, sample), list)
    needed(is_known, "neither claims nor reference_answer")


def fill(cases: Sequence[ClaimCase], relations: Sequence[str], checker: ClaimChecker | None) -> None:
    """Fill in missing *relations* of *cases*, with one split and one question of *checker* for all."""
    todo = [(case, relation) for case in cases for relation in relations if relation not in case.rows]
    if not todo:
        return
    if checker is None:
        raise MetricError(f"checker=given: the outputs have no claims[{todo[0][1]!r}]")
    sides = dict.fromkeys((case, RELATIONS[relation][0]) for case, relation in todo)
    if unsplit := [(case, side) for case, side in sides if side not in case.claims]:
        claim_lists = checker.split_many([case.texts(side)[0] for case, side in unsplit])
        for (case, side), claims in zip(unsplit, claim_lists, strict=True):
            case.claims[side] = [claim for claim in claims if claim.strip()]
    verdicts = ask_checker(checker, [pair for case, relation in todo for row in case.pairs(relation) for pair in row])
    for case, relation in todo:
        case.rows[relation] = [[verdicts[pair] for pair in row] for row in case.pairs(relation)]


def ask_checker(checker: ClaimChecker, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return whether the first of each pair supports the second; an empty text supports nothing."""
    unique = list(dict.fromkeys(pair for pair in pairs if pair[0].strip()))
    verdicts = list(checker.entails([text for text, _ in unique], [claim for _, claim in unique])) if unique else []
    if len(verdicts) != len(unique):
        raise MetricError(f"the checker was asked about {len(unique)} pairs and said something about {len(verdicts)}")
    return dict.fromkeys(pairs, False) | dict(zip(unique, map(_as_bool, verdicts), strict=True))


def _as_bool(value: object) -> bool:
    """Return *value* as a bool: true, false, or RAGChecker's words Entailment, Neutral, Contradiction; no share."""
    if isinstance(value, str) and value.lower() in _ENTAILMENT_WORDS:
        return _ENTAILMENT_WORDS[value.lower()]
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # numpy has a bool of its own
        return bool(value)
    raise MetricError(f"whether a claim is supported is true or false, got {value!r:.80}")


def _read_claims(outputs: SystemOutputs) -> tuple[dict[str, list[str]], dict[str, Rows]]:
    """Read ``claims`` of the answer's metadata or of the outputs: a list of the answer's claims, or a mapping."""
    raw = outputs.response.metadata.get("claims", outputs.extra.get("claims"))
    if raw is None:
        raw = {key: outputs.extra[key] for key in _RAGCHECKER if key in outputs.extra}
    if isinstance(raw, (list, tuple)):
        raw = {"answer": raw}
    if not isinstance(raw, Mapping):
        raise MetricError(f"claims must be a list of claims or a mapping with {', '.join(_KEYS)}, got {raw!r:.80}")
    claims: dict[str, list[str]] = {}
    rows: dict[str, Rows] = {}
    for name, value in raw.items():
        key = _RAGCHECKER.get(name, name)
        if key not in _KEYS:
            raise MetricError(f"claims: no key {name!r}{did_you_mean(str(name), _KEYS)}; available: {', '.join(_KEYS)}")
        if not isinstance(value, (list, tuple)):
            raise MetricError(f"claims[{name!r}] must be a list, got {value!r:.80}")
        if key in RELATIONS:
            rows[key] = [list(map(_as_bool, row if isinstance(row, (list, tuple)) else [row])) for row in value]
        else:  # RAGChecker's claims are triples
            claims[key] = [" ".join(map(str, read_list(c, f"a claim in claims[{name!r}]"))) for c in value]
    return claims, rows
