"""A stored run as it is sent to another host: there it answers, and declines to answer, in the same words."""

from __future__ import annotations

import pytest

from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import NotRecordedError
from pytest_auepora.evaluation.replay import RecordedRun
from pytest_auepora.history.recorded import received, to_send
from pytest_auepora.io.golden.model import GoldenCase

from ..reporting.builders import Case, run_of


def test_what_is_sent_answers_alike() -> None:
    run = run_of(
        [Case("one"), Case("down", error="E: refused\n  at line 3"), Case("left", skipped=True)],
        expected=["one", "down", "left", "later"],
    )
    here = RecordedRun("run-1", run, {"one": [("first", ["a"]), ("second \u2028 line", [])], "down": [("E", [])]})
    there = received("run-1", to_send(here))
    assert dict(there.recordings) == dict(here.recordings)
    assert there.keys == here.keys
    assert there.run.provenance == run.provenance
    assert {i: (c.state, c.error) for i, c in there.run.cases.items()} == {
        i: (c.state, c.error) for i, c in run.cases.items()
    }
    assert not any(case.outputs for case in there.run.cases.values())  # answers are sent once
    for name in ("left", "later", "nobody"):
        said = []
        for recorded in (here, there):
            with pytest.raises(NotRecordedError) as caught:
                recorded.answer(GoldenCase(EvaluationSample(name, "q")), 0)
            said.append(str(caught.value))
        assert said[0] == said[1]
