"""Results are gathered by run as reports arrive, whichever process ran the cases."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.pytest_plugin.case_reports import CaseReport
from pytest_auepora.pytest_plugin.session import AueporaSession
from pytest_auepora.pytest_plugin.suite_judge import SuiteJudge

KEY = "g.golden.yaml", "bm25"


@pytest.fixture
def judge(tmp_path: Path) -> SuiteJudge:
    (tmp_path / "g.golden.yaml").write_text("cases:\n  - {id: a, query: q}\n  - {id: b, query: q}\n")
    config: Any = SimpleNamespace(rootpath=tmp_path)
    options: Any = SimpleNamespace(why=False, keeps_answers=False)
    project, unused = SimpleNamespace(registry=Registry()), cast(Any, None)
    return SuiteJudge(AueporaSession(config, options, cast(Any, project), None, unused, unused, unused))


def test_a_rerun_replaces_the_earlier_result(judge: SuiteJudge) -> None:
    for state in ("failed", "passed"):
        judge.add(CaseReport(*KEY, CaseResult("a", state), {"model": state}), "g.golden.yaml::a[bm25]")
    run = judge.runs[KEY]
    assert (run.title, [case.state for case in run.cases.values()], run.missing_ids) == ("g[bm25]", ["passed"], ("b",))
    assert judge.provenance[KEY] == {"a": {"model": "passed"}}
    assert [*judge.nodeids[KEY]] == ["g.golden.yaml::a[bm25]"]


def test_a_look_stands_once_every_case_that_ran_was_asked(judge: SuiteJudge) -> None:
    for case_id in "ab":
        judge.add(CaseReport(*KEY, CaseResult(case_id)), case_id)
    judge.add(CaseReport(*KEY, CaseResult("a", "failed", looks=1), kind="look"), "suite")
    assert judge.looks_at(KEY) == []
    judge.add(CaseReport(*KEY, CaseResult("b", looks=1), kind="look"), "suite")
    (look,) = judge.looks_at(KEY)
    assert {i: case.state for i, case in look.cases.items()} == {"a": "failed", "b": "passed"}
    assert judge.runs[KEY].cases["a"].state == "passed", "the first answer counts"
    judge.add(CaseReport(*KEY, CaseResult("b")), "b")
    assert judge.looks_at(KEY) == [], "a rerun was not asked again"
