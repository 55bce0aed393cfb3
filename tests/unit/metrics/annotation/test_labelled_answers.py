"""Metrics over labels of answers, and claims that become labels."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.annotation.labelled import (
    ConditionalFabrication,
    Contradiction,
    GroundingPresence,
    Helpfulness,
    OnTopic,
    UnsupportedClaim,
)
from pytest_auepora.metrics.annotation.labels import answer_hash, labels_from_claims

from ..samples import ANSWER, case, gave, is_na, reason, value


def test_a_changed_answer_is_never_given_the_old_label() -> None:
    sample = case(
        answer_labels=[{"answer": ANSWER, "helpful": True}, {"answer_hash": answer_hash("No."), "helpful": False}]
    )
    assert value(Helpfulness(), sample, gave(ANSWER)) == 1
    assert value(Helpfulness(), sample, gave("Refunds  take\n30 days [1]. ")) == 1
    assert value(Helpfulness(), sample, gave("No.")) == 0
    for changed in ("Refunds take 31 days [1].", "refunds take 30 days [1].", ""):
        assert is_na(Helpfulness(), sample, gave(changed))
    assert reason(Helpfulness(), case(), gave(ANSWER)) == "no answer_labels"
    assert is_na(OnTopic(), sample, gave(ANSWER))


def test_fabrication_is_counted_among_answers_that_cite() -> None:
    samples = [
        case(answer_labels={"answer": "1", "source_cited": True, "fabricated_source": True}),
        case(answer_labels={"answer": "1", "source_cited": True, "fabricated_source": False}),
        case(answer_labels={"answer": "1", "source_cited": False}),
        case(answer_labels={"answer": "1", "source_cited": True}),
    ]
    result = ConditionalFabrication().compute(samples, [gave("1")] * 4)
    assert (result.value, result.details) == (0.5, {"num_samples": 2, "num_skipped": 2})
    assert is_na(ConditionalFabrication(), samples[2], gave("1"))
    assert is_na(ConditionalFabrication(), samples[3], gave("1"))


def test_claims_become_labels() -> None:
    assert labels_from_claims([], "row") == {
        "support_present": False,
        "unsupported_claim_present": False,
        "contradicted_claim_present": False,
    }
    assert labels_from_claims(["Entailment", "neutral"], "row")["unsupported_claim_present"] is True
    sample = case(answer_labels={"answer": "1", "claims": [{"text": "t", "label": "Contradiction"}, "supported"]})
    assert value(Contradiction(), sample, gave("1")) == 1
    assert value(GroundingPresence(), sample, gave("1")) == 1
    assert value(UnsupportedClaim(), sample, gave("1")) == 0
    with pytest.raises(MetricError, match="row: a claim is one of"):
        labels_from_claims(["maybe"], "row")


@pytest.mark.parametrize(
    "labels", [{"helpful": True}, {"answer": "1", "answer_hash": "2", "helpful": True}, [{"helpful": True}]]
)
def test_answer_labels_without_an_answer_are_an_error(labels: Any) -> None:
    with pytest.raises(MetricError, match="say which answer"):
        Helpfulness().measure(case(answer_labels=labels), gave("1"))
