"""A draft is listed and in no gate; once accepted, it counts like any case."""

from __future__ import annotations

import pytest

from .conftest import Example
from .listening import judged


@pytest.mark.parametrize("accepted", [False, True])
def test_a_draft_that_would_fail_gates_nothing(project: Example, accepted: bool) -> None:
    project.edit("recall@3: 0.9", "recall@3: 1.0")
    project.case("warehouse", *([] if accepted else ["status: draft"]))
    project.edit("relevant_docs: [shipping]", "relevant_docs: [nowhere]")
    result = project.run()
    assert result.ret == accepted
    if not accepted:
        result.assert_outcomes(passed=4 + 1, skipped=1)
        assert "auepora review" in judged(result).run.cases["warehouse"].error
