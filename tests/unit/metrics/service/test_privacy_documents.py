"""Forbidden documents among those returned."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.scoring import failed_scores
from pytest_auepora.core.types import Document, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.registry import Registry

from ..rankings import score
from ..samples import case, gave, reason

metric = Registry().get
OPEN = Document("faq#1", "Refunds take 30 days.", {"document_id": "faq.md"})
SECRET = Document("hr#7", "The CEO earns a lot.", {"document_id": "hr.md", "source": "docs/hr.md"})
LIST = Document("salaries", "ranks and sums")


def returned(*documents: Document) -> SystemOutputs:
    return gave("answer", *documents)


@pytest.mark.parametrize(
    ("forbidden", "leaked"),
    [
        (["hr#7"], ["hr#7"]),
        (["hr.md"], ["hr#7 (hr.md)"]),
        (["docs/hr.md"], ["hr#7 (docs/hr.md)"]),
        ([{"doc": "hr.md"}], ["hr#7 (hr.md)"]),
        ([Document("hr#7")], ["hr#7"]),
        ("salaries", ["salaries"]),
        (["salaries", "hr.md"], ["hr#7 (hr.md)", "salaries"]),
        ([{"doc": "hr.md", "quote": "CEO  earns"}], ['hr#7 (hr.md: "CEO  earns")']),
        ([{"quote": "The CEO earns"}], ['hr#7 ("The CEO earns")']),
        ([{"doc": "hr.md", "quote": "nothing of this"}], []),
        ([{"id": "hr#8", "doc": "hr.md"}], []),
        (["other.md"], []),
    ],
)
def test_a_forbidden_document_is_found_by_what_it_is_called(forbidden: Any, leaked: list[str]) -> None:
    sample = case(forbidden_docs=forbidden)
    outcome = metric("no_leak").measure(sample, returned(OPEN, SECRET, LIST))
    assert outcome == Measurement(float(not leaked), details={"leaked": leaked} if leaked else {})
    assert score(metric("leak_rate@3"), sample, returned(OPEN, SECRET, LIST)) == float(bool(leaked))


def test_the_rate_is_that_of_the_top_k_and_the_contract_of_all() -> None:
    sample = case(forbidden_docs=["salaries"])
    assert score(metric("leak_rate@2"), sample, returned(OPEN, SECRET, LIST)) == 0.0
    assert score(metric("no_leak"), sample, returned(OPEN, SECRET, LIST)) == 0.0
    assert metric("leak_rate@2").direction == "lower"


def test_cases_that_forbid_nothing_do_not_count() -> None:
    for name in ("no_leak", "leak_rate@5"):
        assert reason(metric(name), case(), returned(SECRET)) == "no forbidden_docs"
        assert reason(metric(name), case(forbidden_docs=[]), returned(SECRET)) == "no forbidden_docs"
        assert failed_scores([metric(name)], case(), "timeout")[name].state == "n/a"
        assert failed_scores([metric(name)], case(forbidden_docs=["x"]), "timeout")[name].state == "error"


def test_a_chunk_that_cannot_be_compared_is_an_error() -> None:
    sample = case(forbidden_docs=[{"doc": "hr.md", "quote": "The CEO earns"}])
    chunks = [Document("hr#7", "open", {"document_id": "hr.md"}), Document("hr#9", "", {"document_id": "hr.md"})]
    with pytest.raises(MetricError, match="cannot tell whether chunk 'hr#9'"):
        metric("no_leak").measure(sample, returned(*chunks))
    with pytest.raises(MetricError, match="names no document"):
        metric("no_leak").measure(case(forbidden_docs=[3]), returned(OPEN))
