"""Judges that cannot fail a run."""

from __future__ import annotations

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.compare import Change
from pytest_auepora.regression.outcomes import Advisory, GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.advisory import advisory_notes, advisory_text


@pytest.mark.parametrize(
    ("why", "text"),
    [
        (Advisory("policy"), "the golden file says judge: advisory"),
        (Advisory("no calibration", "c/rubric.json"),
         "judge not calibrated: there is no c/rubric.json; `auepora help judges`"),
        (Advisory("another judge", changes=(Change("model", "a", "b"),)),
         "judge not calibrated: the calibration is of another one (model a → b); run `auepora calibrate` again"),
        (Advisory("not good enough", detail="κ 0.4 is below 0.6"), "judge not calibrated: κ 0.4 is below 0.6"),
        (Advisory("unusable", detail="c.json: not JSON"), "c.json: not JSON"),
        (Advisory("judge gone"),
         "the judge that was calibrated is not there: no model is named now; its gates count only with it"),
    ],
)  # fmt: skip
def test_why_a_judge_is_advisory(why: Advisory, text: str) -> None:
    assert advisory_text(why) == text


MISSING = {name: Advisory("no calibration", f"c/{name}.json") for name in ("a", "b")}
FOUND = [Finding("threshold", "rubric", "advisory", op="min", limit=0.8, after=0.2)]
WOULD_FAIL = GateOutcome("threshold", "advisory", "rubric", op="min", limit=0.8, value=0.2, would_be="failed")


@pytest.mark.parametrize(
    ("run", "verdict", "notes"),
    [
        (Run("s"), Verdict("s", advisory=MISSING),  # those without a file in one folder share a note
         ["advisory: cannot fail the run: a, b (judge not calibrated: there is no c/<metric>.json; "
          "`auepora help judges`)"]),
        (Run("s", cases={i: CaseResult(i, findings=FOUND) for i in "abc"}), Verdict("s", [WOULD_FAIL]),
         ["advisory: rubric: would fail: 0.2000 is not >= 0.8 (over 0 of 0 cases)",
          "advisory: would fail cases: 3 cases (a, b and 1 more): rubric 0.200, wanted >= 0.8"]),
    ],
)  # fmt: skip
def test_what_advisory_judges_say_of_a_run(run: Run, verdict: Verdict, notes: list[str]) -> None:
    assert advisory_notes(run, verdict) == notes
