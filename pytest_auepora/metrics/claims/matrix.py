"""Which claims are supported by which texts: given with the outputs, or asked of a checker, once for all metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.metrics_base import NotApplicable
from ...core.types import EvaluationSample, SystemOutputs
from ...errors import MetricError, did_you_mean
from ..ranking.gold import expected_behaviour
from ..refusal import is_refusal
from ..text.comparands import answer_text, evidence_texts, targets
from ..values import read_list
from .checker import ClaimChecker

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


@dataclass(slots=True)
class Matrix:
    """What is known about the claims of one answer.

    ``claims`` are the texts of both sides where these are known; ``rows`` has a relation's claims by texts: the
    retrieved chunks in order, or the one other text.  ``checker`` gave the rows; it lives as long as they are cached.
    """

    claims: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)
    checker: ClaimChecker | None = None

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


@dataclass(slots=True, eq=False)
class ClaimCase:
    """One answer, and what is known about its claims."""

    sample: EvaluationSample
    outputs: SystemOutputs
    matrix: Matrix = field(default_factory=Matrix)

    @classmethod
    def of(cls, sample: EvaluationSample, outputs: SystemOutputs, checker: ClaimChecker | None) -> ClaimCase:
        """Return the case with the claims that were given, as `_read_matrix` reads them, or found before."""
        key = ("claims", None if checker is None else checker.key)
        if key not in outputs.memo:
            matrix = _read_matrix(outputs)
            matrix.checker = checker
            if "reference" not in matrix.claims and (claims := sample.labels.get("claims")):
                matrix.claims["reference"] = [str(claim) for claim in read_list(claims, "labels['claims']")]
            _check_sizes(matrix, len(outputs.retrieved))
            outputs.memo[key] = matrix
        return cls(sample, outputs, outputs.memo[key])

    def check_applicable(self, relations: Sequence[str]) -> NotApplicable | None:
        """Return why *relations* do not apply to this case, before the checker is asked; None where they do."""
        sides = dict.fromkeys(RELATIONS[relation][0] for relation in relations)
        if "answer" in sides and (reason := without_claims(self.outputs)) is not None:
            return reason
        needed = {kind for r in relations if r not in self.matrix.rows for kind in RELATIONS[r]}
        if "reference" in needed:
            if expected_behaviour(self.sample) == "refuse":
                return NotApplicable("a refusal is expected")
            if not self.matrix.claims.get("reference") and isinstance(targets(self.sample), NotApplicable):
                return NotApplicable("neither claims nor reference_answer")
        if "chunks" in needed:
            evidence = evidence_texts(self.sample, self.outputs, "retrieved")
            if isinstance(evidence, NotApplicable):
                return evidence
        empty = next((side for side in sides if self.matrix.size(side) == 0), None)
        return None if empty is None else NotApplicable(f"the {empty} makes no claim")

    def texts(self, kind: str) -> list[str]:
        """Return the texts of the retrieved ``chunks``, of the ``answer``, or of the ``reference`` and its like."""
        if kind == "chunks":
            return [r.doc.text or "" for r in self.outputs.retrieved]
        if kind == "answer":
            return [answer_text(self.outputs)]
        references = targets(self.sample)
        return ["\n".join(self.matrix.claims["reference"])] if isinstance(references, NotApplicable) else references

    def pairs(self, relation: str) -> list[list[tuple[str, str]]]:
        """Return, for each claim, the texts that may support it, each with the claim."""
        side, kind = RELATIONS[relation]
        texts = self.texts(kind)
        return [[(text, claim) for text in texts] for claim in self.matrix.claims[side]]


def without_claims(outputs: SystemOutputs) -> NotApplicable | None:
    """Return why the answer claims nothing, as far as that is known without asking."""
    if not answer_text(outputs).strip():
        return NotApplicable("no answer")
    return NotApplicable("a refusal makes no claim") if is_refusal(outputs) else None


def fill(cases: Sequence[ClaimCase], relations: Sequence[str], checker: ClaimChecker | None) -> None:
    """Fill in missing *relations* of *cases*, with one split and one question of *checker* for all."""
    todo = [(case, relation) for case in cases for relation in relations if relation not in case.matrix.rows]
    if not todo:
        return
    if checker is None:
        raise MetricError(f"checker=given: the outputs have no claims[{todo[0][1]!r}]")
    sides = dict.fromkeys((case, RELATIONS[relation][0]) for case, relation in todo)
    if unsplit := [(case, side) for case, side in sides if side not in case.matrix.claims]:
        claim_lists = checker.split_many([case.texts(side)[0] for case, side in unsplit])
        for (case, side), claims in zip(unsplit, claim_lists, strict=True):
            case.matrix.claims[side] = [claim for claim in claims if claim.strip()]
    verdicts = ask_checker(checker, [pair for case, relation in todo for row in case.pairs(relation) for pair in row])
    for case, relation in todo:
        case.matrix.rows[relation] = [[verdicts[pair] for pair in row] for row in case.pairs(relation)]


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


def _read_matrix(outputs: SystemOutputs) -> Matrix:
    """Read ``claims`` of the answer's metadata or of the outputs: a list of the answer's claims, or a mapping."""
    raw = outputs.response.metadata.get("claims", outputs.extra.get("claims"))
    if raw is None:
        raw = {key: outputs.extra[key] for key in _RAGCHECKER if key in outputs.extra}
    if isinstance(raw, (list, tuple)):
        raw = {"answer": raw}
    if not isinstance(raw, Mapping):
        raise MetricError(f"claims must be a list of claims or a mapping with {', '.join(_KEYS)}, got {raw!r:.80}")
    matrix = Matrix()
    for name, value in raw.items():
        key = _RAGCHECKER.get(name, name)
        if key not in _KEYS:
            raise MetricError(f"claims: no key {name!r}{did_you_mean(str(name), _KEYS)}; available: {', '.join(_KEYS)}")
        if not isinstance(value, (list, tuple)):
            raise MetricError(f"claims[{name!r}] must be a list, got {value!r:.80}")
        if key in RELATIONS:
            matrix.rows[key] = [list(map(_as_bool, row if isinstance(row, (list, tuple)) else [row])) for row in value]
        else:  # RAGChecker's claims are triples
            matrix.claims[key] = [" ".join(map(str, read_list(c, f"a claim in claims[{name!r}]"))) for c in value]
    return matrix


def _check_sizes(matrix: Matrix, retrieved: int) -> None:
    """Raise `MetricError` where the sizes of given rows and claims do not fit."""
    for relation, rows in matrix.rows.items():
        side, texts = RELATIONS[relation]
        if len(rows) != matrix.size(side):
            raise MetricError(f"claims[{relation!r}] has {len(rows)} rows for {matrix.size(side)} claims of the {side}")
        for row in rows if texts == "chunks" else ():
            if len(row) != retrieved:
                raise MetricError(
                    f"claims[{relation!r}] has a row of {len(row)} values, but {retrieved} chunks were retrieved"
                )
