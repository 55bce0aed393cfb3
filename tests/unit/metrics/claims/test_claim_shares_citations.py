"""Citations sentence by sentence: which are read, which are needed."""

from __future__ import annotations

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.claims.claim_shares import CitationPrecision, CitationRecall

from ..samples import REFUSAL, case, gave, is_na, reason, value
from .checkers import ByWords

DOCS = (Document("rent", "rent is due monthly"), Document("pets", "pets cost money"), Document("x", "cake"))


def scores(answer: str) -> tuple[float | str, float | str]:
    outputs, checker = gave(answer, *DOCS), ByWords()
    seen = [metric(checker).measure(case(), outputs) for metric in (CitationRecall, CitationPrecision)]
    return tuple(getattr(s, "value", None) if hasattr(s, "value") else s.reason for s in seen)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "recall", "precision"),
    [
        ("Rent is due [1].", 1, 1),
        ("Rent is due [2].", 0, 0),
        ("Rent is due. [1] Pets cost money. [2]", 1, 1),
        ("Rent is due [rent]. Pets cost money [pets; rent].", 1, 2 / 3),
        ("Rent is due and pets cost money.", 0, "the answer cites nothing"),
        ("Rent is due pets cost money [1][2].", 1, 1),
        ("Rent cost money [1, 2, 3].", 1, 2 / 3),  # two are needed together, the third is idle
        ("Rent is due [1] monthly [1].", 1, 1),
        ("Rent is due [1, 3].", 1, 1 / 2),
        ("Rent is due [7]. Pets cost money [2].", 1 / 2, 1 / 2),
        ("Rent is due [sic] [1].", 0, 0),
    ],
)
def test_recall_and_precision(answer: str, recall: float, precision: float | str) -> None:
    assert scores(answer) == (recall, precision)


def test_an_id_returned_twice_keeps_its_ranks() -> None:
    outputs = gave(
        "Rent is due [rent]. Pets cost money [3].", Document("rent", "rent is due"), Document("rent"), DOCS[1]
    )
    assert value(CitationRecall(ByWords()), case(), outputs) == 1


def test_nothing_to_judge() -> None:
    recall = CitationRecall(ByWords())
    assert reason(recall, case(), gave("", *DOCS)) == "no answer"
    assert is_na(recall, case(), gave(REFUSAL, *DOCS))
    assert is_na(recall, case(), gave("Rent [1].", Document("rent")))
    whole = gave("Rent is due.", *DOCS, metadata={"citations": ["rent"]})
    assert is_na(recall, case(), whole)
    assert value(recall, case(), gave("Rent is due [1].")) == 0


def test_what_is_not_supported_is_named() -> None:
    outputs = gave("Rent is due [1]. Cake is free [1, 3]. Pets cost money [2, 3].", *DOCS)
    seen = CitationRecall(ByWords()).measure(case(), outputs)
    assert seen.details == {"of": 3, "unsupported": ["Cake is free."]}  # type: ignore[union-attr]
    seen = CitationPrecision(ByWords()).measure(case(), outputs)
    assert seen.details == {"of": 5, "idle": ["Pets cost money."]}  # type: ignore[union-attr]


def test_a_matrix_does_not_say_it() -> None:
    with pytest.raises(MetricError, match="needs a checker"):
        CitationRecall("given").measure(case(), gave("Rent is due [1].", *DOCS))
