"""What is missing, and why there is no number."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.regression.compare import Change, Incomparable
from pytest_auepora.regression.outcomes import Note
from pytest_auepora.reporting.wording.gates import (
    reason_text,
)

from .outcomes import RUN, gate


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"reason": "cases vanished", "names": ("a", "b"), "renamed": {"b": "c"}},
         "a, b (renamed to c?) in the baseline, no longer in the golden file; "
         "accept with `pytest --auepora-update=prune`"),
        ({"reason": "metrics vanished", "names": ("mrr",)},
         "mrr in the baseline, no longer computed; accept with `pytest --auepora-update=prune`"),
        ({"reason": "scores lost", "names": ("a", "b"), "metric": "mrr", "detail": "no relevant_docs"},
         "a and 1 more had a score in the baseline and has none now (mrr: no relevant_docs); "
         "accept a run with `pytest --auepora-update`"),
        ({"reason": "must_pass skipped", "names": ("a",)}, "a: must pass, and was skipped"),
        ({"reason": "nothing measured", "names": ("mrr", "bleu")},
         "no case has a number in mrr, bleu, so nothing was judged"),
        ({"reason": "aggregate failed", "detail": "it raised X"}, "not judged: it raised X"),
        ({"kind": "calibration", "reason": "judge gone"},
         "the judge that was calibrated is not there: no model is named now; its gates count only with it"),
        ({"kind": "calibration", "reason": "judge silent", "n": 3, "detail": "503"},
         "every reply of the judge failed, in 3 cases: 503"),
        ({"kind": "baseline", "reason": "nothing compares", "unpaired": {"changed": 3},
          "incomparable": {"mrr": Incomparable(changes=(Change("k", 5, 10),))}},
         "nothing in this run compares with it: mrr (k 5 → 10); 3 of 0 cases were edited; "
         "whether the run is worse was not judged"),
        ({"kind": "baseline", "reason": "suspects", "names": ("a",)},
         "a failed and could not be confirmed, which a required baseline does not allow"),
    ],
)  # fmt: skip
def test_what_is_missing(changes: dict[str, Any], text: str) -> None:
    assert reason_text(gate(**{"kind": "coverage", "state": "failed", "metric": "", **changes}), RUN) == text


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        ({"returned": [], "source": None},
         "no document was returned; does the system return (answer, documents)?"),
        ({"returned": [["x", ""]], "source": "refunds.md"},
         "a plain label is an id; did you mean {doc: refunds.md}?"),
        ({"returned": [["x", ""]], "source": None},
         "a plain label is an id, {doc: …} names a source document: `auepora help recall-is-zero`"),
    ],
)  # fmt: skip
def test_a_failed_retrieval_gate_says_that_no_label_was_met(data: dict[str, Any], hint: str) -> None:
    outcome = gate(kind="threshold", metric="recall@5", state="failed", op="min", limit=0.8, value=0.0)
    note = Note("no label met", ("a",), data={"cases": 3, **data})
    assert reason_text(outcome, RUN, [note]) == (f"{reason_text(outcome, RUN)}; no label was met in 3 cases ({hint})")
