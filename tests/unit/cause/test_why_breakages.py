"""Twenty breakages of a system in three forms: the right culprit, in no more than one call a case that got worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from .breakages import BREAKAGES, FORMS, Config, accept, culprit, explained


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("broken", [BREAKAGES[0], BREAKAGES[8], BREAKAGES[14]], ids=culprit)
def test_the_part_that_is_broken_is_the_culprit(tmp_path: Path, form: str, broken: Config) -> None:
    cause, calls, worse = explained(accept(tmp_path, FORMS[form]), FORMS[form], broken)
    assert cause.culprit == culprit(broken), cause
    assert calls == cause.calls <= worse
    assert not cause.left_out


@pytest.mark.slow
def test_57_of_60_breakages_have_the_right_culprit(tmp_path: Path) -> None:
    found = []
    for form, build in FORMS.items():
        golden = accept(tmp_path / form, build)
        for broken in BREAKAGES:
            cause, calls, worse = explained(golden, build, broken)
            assert calls == cause.calls <= worse, (form, broken)
            found.append((cause.culprit, culprit(broken), form, broken))
    wrong = [one for one in found if one[0] != one[1]]
    assert len(found) == 60
    assert len(wrong) <= 3, wrong
