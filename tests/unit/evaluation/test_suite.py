"""Every case of a suite put to a system, in sight of those who look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core import progress
from pytest_auepora.core.progress import Progress
from pytest_auepora.evaluation.suite import evaluate

from .large_suite import answers, golden


def test_a_bar_counts_cases_where_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, rows = golden(tmp_path, 12), answers(12)
    counted: list[int] = []
    monkeypatch.setattr(Progress, "done", lambda _, more=1: counted.append(more))

    def told(**given: Any) -> str:
        counted.clear()
        evaluate(suite, lambda sample: rows[int(sample.sample_id[1:])], **given)
        assert sum(counted) == 11  # one is skipped
        return capsys.readouterr().err

    assert told(progress=None) == ""
    assert "| 0/11 [" in told(progress=True)
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    assert "| 0/11 [" in told(progress=None)
    assert told() == ""
