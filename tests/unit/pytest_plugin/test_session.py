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
    return AueporaSession(config, unused, cast(Any, project), None, unused, unused, unused)


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


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("a", ""), ("a@gpu", ""), ("a[bm25]", "bm25"), ("a[bm25]@gpu", "bm25"), ("a[bm25-1]", "bm25"),
        ("a[new]", "new"), ("me@home", ""),
    ],
)  # fmt: skip
def test_a_case_is_of_the_configuration_in_its_name(session: AueporaSession, name: str, variant: str) -> None:
    found = session.find_asked(f"g.golden.yaml::{name}", ["bm25"] if variant else ["", "bm25"])
    assert found is not None
    assert found[0].name == variant


def test_a_case_is_of_the_largest_configuration_that_is_known(session: AueporaSession) -> None:
    found = session.find_asked("g.golden.yaml::a[bm25-k5-1]", ["", "bm25", "bm25-k5"])
    assert found is not None
    assert found[0].name == "bm25-k5"


@pytest.mark.parametrize("nodeid", ["test_a.py::a", "steps.yaml::a"])
def test_other_tests_are_no_cases(session: AueporaSession, nodeid: str) -> None:
    for _ in range(2):
        assert session.find_case(nodeid) is None
