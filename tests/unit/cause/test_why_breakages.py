"""Twenty breakages of a system in three forms: the right culprit, in no more than one call a case that got worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.accepted import AcceptedTexts, accepted_path
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.cause import Cause

from .accepting import accept_system
from .breakages import BREAKAGES, FORMS, GOLDEN, Config, Counted, culprit


def accept(folder: Path, form: str) -> Path:
    """Accept the system as it is when nothing is broken; return the golden file."""
    golden = folder / form / "desk.golden.yaml"
    golden.parent.mkdir()
    golden.write_text(GOLDEN, encoding="utf-8")
    accepted = accept_system(golden, FORMS[form](Config(), Counted()))
    texts = AcceptedTexts(accepted_path(baseline_path(golden, "desk", "")))
    recorded: dict[str, Recording] = {i: answers[0] for i, answers in accepted.source.recordings.items()}
    answers = {i: (accepted.source.run.cases[i], one.outputs) for i, one in recorded.items()}
    texts.save(answers, accepted.baseline.cases)
    return golden


def explained(golden: Path, form: str, broken: Config) -> tuple[Cause, int, int]:
    """Return the cause, the calls of the generator that it took, and the cases that got worse."""
    counted = Counted()
    evaluation = evaluate(golden, FORMS[form](broken, counted))
    assert evaluation.verdict.outcome == "failed", broken
    worse = len(evaluation.verdict.regressed_cases) or len(evaluation.suite.cases)
    counted.calls.clear()
    return evaluation.why(), len(counted.calls), worse


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("broken", [BREAKAGES[0], BREAKAGES[8], BREAKAGES[14]], ids=culprit)
def test_the_part_that_is_broken_is_the_culprit(tmp_path: Path, form: str, broken: Config) -> None:
    cause, calls, worse = explained(accept(tmp_path, form), form, broken)
    assert cause.culprit == culprit(broken), cause
    assert calls == cause.calls <= worse
    assert not cause.left_out


@pytest.mark.slow
def test_57_of_60_breakages_have_the_right_culprit(tmp_path: Path) -> None:
    found = []
    for form in FORMS:
        golden = accept(tmp_path, form)
        for broken in BREAKAGES:
            cause, calls, worse = explained(golden, form, broken)
            assert calls == cause.calls <= worse, (form, broken)
            found.append((cause.culprit, culprit(broken), form, broken))
    wrong = [one for one in found if one[0] != one[1]]
    assert len(found) == 60
    assert len(wrong) <= 3, wrong
