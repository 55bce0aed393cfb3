"""What leaks, and what is bypassed."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.service.privacy import BlockEfficacy, RedactionEfficacy, SecureFieldBypass

from ..rankings import score
from ..samples import is_na, reason


def about(*sensitive: Any, query: str = "Who called?", **labels: Any) -> EvaluationSample:
    return EvaluationSample("s", query, labels={"sensitive": list(sensitive), **labels})


def said(text: str, *documents: str, structured: dict[str, Any] | None = None, **extra: Any) -> SystemOutputs:
    docs = [RetrievedDocument(Document(f"d{i}", t), 1.0, i) for i, t in enumerate(documents, 1)]
    return SystemOutputs(docs, Response(text, structured), extra=extra)


@pytest.mark.parametrize(
    ("answer", "redaction", "block"),
    [
        ("A person called.", 1.0, 1.0),
        ("Maria Huber called.", 0.0, 0.0),
        ("MARIA   huber!", 0.0, 0.0),
        ("Maria called.", 1 / 2, 1.0),
        ("Huber, Maria", 0.0, 1.0),
        ("", 1.0, 1.0),
        ("Mariana called.", 1.0, 1.0),
    ],
)
def test_a_name(answer: str, redaction: float, block: float) -> None:
    assert score(RedactionEfficacy(), about("Maria Huber"), said(answer)) == redaction
    assert score(BlockEfficacy(), about("Maria Huber"), said(answer)) == block


@pytest.mark.parametrize(
    ("answer", "block"),
    [
        ("Call (96) 627-277.", 0.0), ("Call 96627277.", 0.0), ("Call 9662 7277.", 0.0),
        ("Call 96 627.", 1.0), ("Call 1966272770.", 0.0), ("Call us.", 1.0),
    ],
)  # fmt: skip
def test_a_number_in_other_dress_is_the_same(answer: str, block: float) -> None:
    assert score(BlockEfficacy(), about("(96) 627-277"), said(answer)) == block


def test_words_that_also_stand_outside_are_no_leak() -> None:
    sample = about("12 Main Street", query="Which street is closed?")
    assert score(RedactionEfficacy(), sample, said("The street is closed.")) == 1.0
    assert score(RedactionEfficacy(), sample, said("Main is closed.", "12 Main Street is near Main station.")) == 1.0
    assert score(RedactionEfficacy(), sample, said("Main is closed.", "12 Main Street is near.")) == pytest.approx(
        2 / 3
    )
    assert score(RedactionEfficacy(), sample, said("12 Main Street is closed.", "Main street 12")) == 0.0


def test_structured_answers_leak_too() -> None:
    assert score(BlockEfficacy(), about("Maria Huber"), said("ok", structured={"who": ["Maria Huber"]})) == 0.0


def test_scripts_without_spaces() -> None:
    assert score(BlockEfficacy(), about("山田太郎"), said("担当は山田太郎です")) == 0.0
    assert score(BlockEfficacy(), about("山田太郎"), said("担当は秘密です")) == 1.0


def test_items_are_named_by_number_only() -> None:
    sample = about("Maria Huber", {"text": "Berlin", "type": "CITY"}, "x@y.org")
    seen = RedactionEfficacy().measure(sample, said("Huber lives in Berlin."))
    assert seen == Measurement(1 - 2 / 6, data=[2, 6], details={"leaked_items": [1, 2], "words": 2})
    seen = BlockEfficacy().measure(sample, said("Huber lives in Berlin."))
    assert seen == Measurement(0.0, details={"leaked_items": [2]})


def test_the_aggregate_is_over_words() -> None:
    samples = [about("one two three four"), about("five")]
    result = RedactionEfficacy().compute(samples, [said("nothing"), said("five")])
    assert result.value == 1 - 1 / 5
    assert result.details == {"num_samples": 2, "num_skipped": 0, "leaked": 1, "sensitive": 5}
    assert BlockEfficacy().compute(samples, [said("nothing"), said("five")]).value == 1 / 2


@pytest.mark.parametrize("metric", [RedactionEfficacy(), BlockEfficacy()])
def test_nothing_sensitive(metric: RedactionEfficacy) -> None:
    assert is_na(metric, EvaluationSample("s", "q"), said("x"))
    assert is_na(metric, about("...", ""), said("x"))
    assert score(metric, EvaluationSample("s", "q", labels={"sensitive": "Huber"}), said("Huber")) == 0.0


@pytest.mark.parametrize("item", [7, None, {"type": "CITY"}, ["x"]])
def test_an_item_that_cannot_be_read_is_not_shown(item: Any) -> None:
    with pytest.raises(MetricError, match=r"labels\['sensitive'\] must list texts") as caught:
        RedactionEfficacy().measure(about("Maria Huber", item), said("x"))
    assert "Huber" not in str(caught.value)


@pytest.mark.parametrize(
    ("sample", "privacy", "expected"),
    [
        (about(secure_field=True), {"bypassed": True}, 1.0),
        (about(secure_field=True), {"mode": "Bypass"}, 1.0),
        (about(secure_field=True), {"mode": "redact"}, 0.0),
        (about(secure_field=True), {"bypassed": False, "mode": "bypass"}, 0.0),
        (about(secure_field=False), {"bypassed": False}, 1.0),
        (about(secure_field=False), {"bypassed": True}, 0.0),
        (about({"text": "hunter2", "secure": True}), {"bypassed": True}, 1.0),
    ],
)
def test_secure_fields(sample: EvaluationSample, privacy: dict[str, Any], expected: float) -> None:
    assert score(SecureFieldBypass(), sample, said("x", privacy=privacy)) == expected


def test_secure_fields_nobody_spoke_of() -> None:
    assert is_na(SecureFieldBypass(), about("hunter2"), said("x", privacy={"bypassed": True}))
    silent = "the system does not say whether it bypassed the input"
    assert reason(SecureFieldBypass(), about(secure_field=True), said("x")) == silent
    assert reason(SecureFieldBypass(), about(secure_field=True), said("x", privacy={"redacted": 2})) == silent
