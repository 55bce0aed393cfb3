"""Gold passages against returned chunks, in characters."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document, EvaluationSample
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.ranking.spans import SpanIoU, SpanPrecision, SpanRecall

from ..rankings import doc, got, score, wants
from ..samples import reason

TEXT = "You may ask for a refund within 30 days. Later requests are declined."


def chunk(start: int, end: int, name: str = "c", source: str = "d") -> Document:
    return doc(f"{name}{start}", TEXT[start:end], document_id=source, start=start, end=end)


SPAN = doc("d", match="span", start=10, end=30)
QUOTE = doc("d", "within 30\ndays", match="quote")


@pytest.mark.parametrize(
    ("returned", "recall", "precision", "iou"),
    [
        ([(10, 30)], 1.0, 1.0, 1.0),
        ([(0, 40)], 1.0, 20 / 40, 20 / 40),
        ([(0, 20)], 10 / 20, 10 / 20, 10 / 30),
        ([(0, 20), (15, 40)], 1.0, 20 / 45, 20 / 45),
        ([(10, 30), (10, 30)], 1.0, 20 / 40, 20 / 40),
        ([(30, 60)], 0.0, 0.0, 0.0),
        ([], 0.0, 0.0, 0.0),
    ],
)
def test_by_eye(returned: list[tuple[int, int]], recall: float, precision: float, iou: float) -> None:
    outputs = got(*(chunk(*place) for place in returned))
    assert score(SpanRecall(), wants(SPAN), outputs) == recall
    assert score(SpanPrecision(), wants(SPAN), outputs) == precision
    assert score(SpanIoU(), wants(SPAN), outputs) == pytest.approx(iou)


def test_overlapping_gold_counts_once() -> None:
    gold = wants(SPAN, doc("d", match="span", start=20, end=40))
    assert SpanRecall().measure(gold, got(chunk(0, 30))) == Measurement(
        20 / 30, details={"gold": 30, "common": 20, "returned": 30}
    )


def test_a_quote_is_found_in_its_chunk() -> None:
    at = TEXT.index("within")
    outputs = got(chunk(0, 45))
    assert SpanRecall().measure(wants(QUOTE), outputs) == Measurement(
        1.0, details={"gold": 14, "common": 14, "returned": 45}
    )
    assert score(SpanRecall(), wants(QUOTE, doc("d", match="span", start=at, end=at + 14)), outputs) == 1.0
    assert score(SpanRecall(), wants(QUOTE), got(chunk(0, 35))) == 0.0


def test_a_quote_in_a_chunk_without_offsets_counts_as_a_whole() -> None:
    bare = doc("c", TEXT, document_id="d")
    assert score(SpanRecall(), wants(QUOTE), got(bare)) == 1.0
    assert score(SpanPrecision(), wants(QUOTE), got(bare)) == 14 / len(TEXT)


def test_documents_apart() -> None:
    other = doc("e", match="span", start=0, end=20)
    assert score(SpanRecall(), wants(SPAN, other), got(chunk(0, 40), doc("x", "unrelated text"))) == 1 / 2
    assert score(SpanPrecision(), wants(SPAN), got(chunk(10, 30, source="other"))) == 0.0


def test_a_cut() -> None:
    outputs = got(chunk(40, 60), chunk(10, 30))
    assert (score("span_recall@1", wants(SPAN), outputs), score("span_recall@2", wants(SPAN), outputs)) == (0.0, 1.0)


@pytest.mark.parametrize("metric", [SpanRecall(), SpanPrecision(), SpanIoU()])
def test_why_there_is_no_score(metric: SpanRecall) -> None:
    assert reason(metric, EvaluationSample("s", "q"), got("a")) == "no relevant_docs"
    assert reason(metric, wants("a"), got("a")) == "no gold quote or span"
    assert reason(metric, wants(doc("d", match="span", start=1, end=2, grade=0)), got("a")) == "no gold quote or span"


def test_spans_need_offsets() -> None:
    with pytest.raises(MetricError, match="chunk 'c' has no start and end"):
        SpanRecall().measure(wants(SPAN), got(doc("c", TEXT, document_id="d")))
