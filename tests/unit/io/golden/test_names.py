"""Names that the reader lets through are names pytest and file systems can live with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.io.golden.kinds import BAD
from pytest_auepora.io.golden.names import CaseId, FixtureName, SuiteName, Tag, disk_name
from pytest_auepora.io.source import Source


def take(kind: CaseId | SuiteName | Tag | FixtureName, name: object) -> bool:
    """Whether the reader lets *name* through; a refusal says why."""
    source = Source("x", "")
    made = kind.read(name, ("x",), source)
    assert (made is BAD) == bool(source.problems)
    return made is not BAD


@pytest.mark.parametrize(
    "name",
    ["a::b", "a[b]", "a]", "[", " a", "a ", "\ta", "a\nb", "a\x00", "\x85", "\u2028", "\ud800", "x" * 201, "", " ",
     "__init__", "pytest_plugins", "setup_function", "pytestmark", "gate: recall@3",
     "gate:", None, 12, True],
)  # fmt: skip
def test_ids_that_pytest_could_not_live_with(name: object) -> None:
    assert not take(CaseId(), name)


@given(st.text(max_size=12))
def test_no_id_let_through_breaks_a_node_id(name: str) -> None:
    if take(CaseId(), name):
        assert f"f.yaml::{name}".split("::") == ["f.yaml", name]
        assert name.strip() == name
        assert "\n" not in name


@given(st.text(max_size=12))
def test_a_suite_name_let_through_names_a_file(name: str) -> None:
    if take(SuiteName(), name):
        assert Path(name).name == name
        assert not re.search(r'[<>:"/\\|?*\x00-\x1f]', name)
        assert not name.startswith(".")
        assert not name.endswith((".", " "))


@pytest.mark.parametrize("name", ["billing", "billing v2", "search+refunds", "été", "a.b", "x" * 100, "(draft)"])
def test_suite_names(name: str, tmp_path: Path) -> None:
    assert take(SuiteName(), name)
    (tmp_path / f"{name}.json").write_text("{}")


@pytest.mark.parametrize("name", ["", "a/b", "..", "nul", "COM1", "com1.x", "a.", "a\n", "a*", "x" * 101])
def test_names_no_suite_can_have(name: str) -> None:
    assert not take(SuiteName(), name)


@pytest.mark.parametrize("tag", ["smoke", "smoke-test", "v1.2", "a+b", "größe", "x1", "1st"])
def test_tags(tag: str) -> None:
    assert take(Tag(), tag)


@pytest.mark.parametrize(
    "tag", ["_x", "a b", "a:b", "a(b)", "a[b]", "-a", "a-", "", "skip", "parametrize", "and", "asyncio"]
)
def test_what_no_tag_can_be(tag: str) -> None:
    assert not take(Tag(), tag)


def test_fixture_names() -> None:
    assert take(FixtureName(), "my_rag")
    assert take(FixtureName(), "größe")
    for name in ("my-rag", "1rag", "class", "request", "a.b", ""):
        assert not take(FixtureName(), name)


@pytest.mark.parametrize(
    ("name", "other"), [("shop", "Shop"), ("é", "e\u0301"), ("É", "e\u0301"), ("straße", "STRASSE")]
)
def test_names_that_some_disks_take_for_one(name: str, other: str) -> None:
    assert disk_name(name) == disk_name(other)
    assert disk_name(name) != disk_name(f"{name}-2")


@pytest.mark.parametrize("name", ["gates", "gate 3", "Gate: 3", "the gate: 3"])
def test_ids_that_are_no_gates(name: str) -> None:
    assert take(CaseId(), name)
