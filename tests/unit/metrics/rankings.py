"""Short ways to write a ranking, and strategies that draw one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.catalogue import SPELLINGS
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.retrieval_basic import Ranked

from .samples import value

REGISTRY = Registry()
RANKED = [
    spelling
    for spelling, home in SPELLINGS.items()
    if home.startswith("retrieval") and isinstance(REGISTRY.get(spelling.replace("{k}", "5")), Ranked)
    if not spelling.endswith("_doc")
]
"""Spellings of the metrics over the relevant slots of a ranking."""


def doc(doc_id: str, text: str = "", **metadata: Any) -> Document:
    return Document(doc_id, text, metadata)


def graded(**grades: int) -> list[Document]:
    """Gold documents by id."""
    return [doc(name, grade=grade) for name, grade in grades.items()]


def wants(*gold: Document | str, **more: Any) -> EvaluationSample:
    """A case with relevant documents: ids (several in one string), or documents."""
    docs = [d for g in gold for d in ([g] if isinstance(g, Document) else map(Document, g.split()))]
    return EvaluationSample("case", "q", relevant_docs=docs, labels=more.pop("labels", {}), **more)


def got(*returned: Document | str, scores: Sequence[float] | None = None) -> SystemOutputs:
    """A returned list: ids (several in one string), or documents; scores fall unless given."""
    docs = [d for r in returned for d in ([r] if isinstance(r, Document) else map(Document, r.split()))]
    marks = scores if scores is not None else [1 / (i + 1) for i in range(len(docs))]
    pairs = zip(docs, marks, strict=True)
    return SystemOutputs([RetrievedDocument(d, s, i) for i, (d, s) in enumerate(pairs, 1)], Response("an answer"))


def score(name: str | Metric, sample: EvaluationSample, outputs: SystemOutputs) -> float:
    """The score of one case under a metric, by name."""
    return value(REGISTRY.get(name) if isinstance(name, str) else name, sample, outputs)


names = st.sampled_from([f"d{i}" for i in range(12)] + ["é", "漢字", "🙂"])
judgments = st.dictionaries(names, st.integers(0, 3), min_size=1, max_size=8).filter(lambda g: any(g.values()))
rankings = st.lists(names, max_size=15)
ks = st.integers(1, 20)


def for_each(metrics: Iterable[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a property for every metric on each example drawn: drawing is what takes the time."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **drawn: Any) -> None:
            for name in metrics:
                try:
                    test(name, *args, **drawn)
                except AssertionError as exc:
                    raise AssertionError(f"{name}: {exc}") from exc

        signature = inspect.signature(test)
        others = [p for p in signature.parameters.values() if p.name != "name"]
        vars(run)["__signature__"] = signature.replace(parameters=others)
        return run

    return decorate
