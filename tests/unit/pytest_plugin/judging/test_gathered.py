"""Results are gathered by run as reports arrive, whichever process ran the cases."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.pytest_plugin.case_reports import CaseReport
from pytest_auepora.pytest_plugin.judging.gathered import GatheredResults
from pytest_auepora.pytest_plugin.session import AueporaSession

KEY = "g.golden.yaml", "bm25"


@pytest.fixture
def gathered(tmp_path: Path) -> GatheredResults:
    (tmp_path / "g.golden.yaml").write_text("cases:\n  - {id: a, query: q}\n  - {id: b, query: q}\n")
    config: Any = SimpleNamespace(rootpath=tmp_path)
    options: Any = SimpleNamespace(why=False, keeps_answers=False)
    project, unused = SimpleNamespace(registry=Registry()), cast(Any, None)
    return GatheredResults(AueporaSession(config, options, cast(Any, project), None, unused, unused, unused, unused))


def test_a_rerun_replaces_the_earlier_result(gathered: GatheredResults) -> None:
    for state in ("failed", "passed"):
        gathered.add(CaseReport(*KEY, CaseResult("a", state), {"model": state}), "g.golden.yaml::a[bm25]")
    run = gathered.runs[KEY]
    assert (run.title, [case.state for case in run.cases.values()], run.missing_ids) == ("g[bm25]", ["passed"], ("b",))
    assert gathered.provenance[KEY] == {"a": {"model": "passed"}}
    assert [*gathered.nodeids[KEY]] == ["g.golden.yaml::a[bm25]"]


def test_a_look_stands_once_every_case_that_ran_was_asked(gathered: GatheredResults) -> None:
    for case_id in "ab":
        gathered.add(CaseReport(*KEY, CaseResult(case_id)), case_id)
    gathered.add(CaseReport(*KEY, CaseResult("a", "failed", looks=1), kind="look"), "suite")
    assert gathered.looks_at(KEY) == []
    gathered.add(CaseReport(*KEY, CaseResult("b", looks=1), kind="look"), "suite")
    (look,) = gathered.looks_at(KEY)
    assert {i: case.state for i, case in look.cases.items()} == {"a": "failed", "b": "passed"}
    assert gathered.runs[KEY].cases["a"].state == "passed", "the first answer counts"
    gathered.add(CaseReport(*KEY, CaseResult("b")), "b")
    assert gathered.looks_at(KEY) == [], "a rerun was not asked again"
