"""The cases of a golden file too large for the memory: of each only its id and its place in a temporary file stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.spool import Spool
from ..core.types import Document, EvaluationSample, Response
from ..regression.thresholds import Bound
from .golden.model import GoldenCase

__all__ = ["SpooledCases"]

_MOST_BOUNDS = 10_000


class SpooledCases(Spool[GoldenCase]):
    """Cases in order; each is read when it is asked for, and is another object every time.

    Attributes:
        ids: their ids.
        rows: where each stands, by id.
        skipped: where those stand that are not run.
    """

    def __init__(self, cases: Iterable[GoldenCase] = ()) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        self.skipped: list[int] = []
        self._bounds: dict[tuple[Any, ...], Bound] = {}
        for case in cases:
            self.append(case)

    def append(self, case: GoldenCase) -> None:
        """Put *case*, whose id is new, at the end."""
        if case.skip is not None:
            self.skipped.append(len(self.ids))
        self.rows[case.id] = len(self.ids)
        self.ids.append(case.id)
        super().append(case)

    def replace(self, case: GoldenCase) -> None:
        """Put *case* in the place of the one with its id."""
        self[self.rows[case.id]] = case

    def _taken_apart(self, value: GoldenCase) -> tuple[Any, ...]:
        return _flat(value)

    def _made(self, kept: tuple[Any, ...]) -> GoldenCase:
        (sample_id, query, relevant, candidates, reference, labels, metadata), (*before, thresholds), after = kept
        sample = EvaluationSample(
            sample_id, query, _documents(relevant), _documents(candidates),
            None if reference is None else Response(*reference), labels, metadata,
        )  # fmt: skip
        bounds = {name: tuple([self._bound(one) for one in some]) for name, some in thresholds.items()}
        rest: tuple[Any, ...] = (*before, bounds, *after)
        return GoldenCase(sample, *rest)

    def _bound(self, said: tuple[Any, Any]) -> Bound:
        key = (*said, type(said[1]))  # 1 and 1.0 are equal
        if (bound := self._bounds.get(key)) is None:  # the same few come back in every case
            if len(self._bounds) >= _MOST_BOUNDS:
                self._bounds.clear()
            bound = self._bounds[key] = Bound(*said)
        return bound


def _flat(case: GoldenCase) -> tuple[Any, ...]:
    """Take *case* apart into plain values, in the order of its fields."""
    said, reference = case.sample, case.sample.reference_answer
    sample = (
        said.sample_id, said.query, _taken(said.relevant_docs), _taken(said.candidate_docs),
        None if reference is None else (reference.text, reference.structured, reference.metadata),
        said.labels, said.metadata,
    )  # fmt: skip
    bounds = {name: [(b.op, b.limit) for b in some] for name, some in case.thresholds.items()}
    before = (case.line, case.col, case.end_col, case.tags, bounds)
    after = (case.top_k, case.cluster, case.content_hash, case.must_pass, case.quarantine, case.skip, case.xfail,
             case.timeout, case.benchmark, case.moved)  # fmt: skip
    return sample, before, after


def _taken(documents: list[Document] | None) -> list[tuple[Any, ...]] | None:
    return None if documents is None else [(d.doc_id, d.text, d.metadata) for d in documents]


def _documents(taken: list[tuple[Any, ...]] | None) -> list[Document] | None:
    return None if taken is None else [Document(*one) for one in taken]
