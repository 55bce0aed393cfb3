"""Which golden case a node id names, as the controller has it from its workers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_auepora.pytest_plugin.session import AueporaSession


@pytest.fixture
def session(tmp_path: Path) -> AueporaSession:
    (tmp_path / "g.golden.yaml").write_text("cases:\n  - {id: a, query: q}\n  - {id: me@home, query: q}\n")
    (tmp_path / "steps.yaml").write_text("- call: it\n")
    config: Any = SimpleNamespace(rootpath=tmp_path)
    project, unused = SimpleNamespace(registry=None), cast(Any, None)
    return AueporaSession(config, unused, cast(Any, project), None, unused, unused, unused, unused)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("a", "a"), ("a@gpu", "a"), ("a[bm25]", "a"), ("a[bm25]@gpu", "a"), ("me@home", "me@home"),
        ("me@home@gpu", "me@home"), ("b", None), ("a-b", None),
    ],
)  # fmt: skip
def test_a_case_is_named_with_parameters_and_group(session: AueporaSession, name: str, case: str | None) -> None:
    found = session.find_case(f"g.golden.yaml::{name}")
    assert (found and found[1].id) == case


@pytest.mark.parametrize("nodeid", ["test_a.py::a", "steps.yaml::a"])
def test_other_tests_are_no_cases(session: AueporaSession, nodeid: str) -> None:
    for _ in range(2):
        assert session.find_case(nodeid) is None
