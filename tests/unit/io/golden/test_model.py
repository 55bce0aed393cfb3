"""A suite and its cases, once they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.io.golden.model import GoldenCase, GoldenSuite


def test_cases_are_found_by_id_and_kept_in_order() -> None:
    cases = [GoldenCase(EvaluationSample(name, "q"), skip="later" if name == "b" else None) for name in "cab"]
    suite = GoldenSuite("shop", Path("shop.yaml"), cases=cases)
    assert [case.id for case in suite.cases] == ["c", "a", "b"]
    assert suite.case("a") is cases[1]
    assert suite.case("a").id == "a"
    assert suite.skipped == [cases[2]]
    with pytest.raises(KeyError, match="'z'"):
        suite.case("z")
