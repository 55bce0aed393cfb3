"""Names that the reader lets through are names pytest and file systems can live with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.io.golden.kinds import BAD
from pytest_auepora.io.golden.names import CaseId, FixtureName, SuiteName, Tag
from pytest_auepora.io.source import Source

ODD_IDS = [
    "refund window?", "a/b", "a\\b", "../up", ".", "..", "a.py", "*", "-x", "--co", "@file", "=", "#1", "100%", "a:b",
    ":a", "a:", "é", "e\u0301", "😀", "日本語", "a;b", "a,b", "(a)", "a(", "{b}", "a|b", "&", "!", "~", "$HOME", "'a'",
    '"a"', "<a>", "a  b", "not", "True", "None", "class", "test", "x" * 200, "12", "1.5",
]  # fmt: skip

RAG = "import pytest\n\n@pytest.fixture\ndef rag():\n    return lambda query: 'yes'\n"


def take(kind: CaseId | SuiteName | Tag | FixtureName, name: object) -> bool:
    """Whether the reader lets *name* through; a refusal says why."""
    source = Source("x", "")
    made = kind.read(name, {"x": name}, "x", source)
    assert (made is BAD) == bool(source.problems)
    return made is not BAD


def set_up(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(RAG)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")


@pytest.fixture
def odd(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose cases have odd ids."""
    set_up(pytester)
    lines = [json.dumps({"id": name, "query": "Q", "reference_answer": "yes"}) for name in ODD_IDS]
    pytester.path.joinpath("odd.golden.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return pytester


@pytest.mark.parametrize("chosen", [ODD_IDS, ODD_IDS[::2], ODD_IDS[1::2]], ids=["all", "half", "other half"])
def test_every_odd_id_is_selected_by_its_node_id(odd: pytest.Pytester, chosen: list[str]) -> None:
    items, _ = odd.inline_genitems("--auepora", *(f"odd.golden.jsonl::{name}" for name in chosen))
    assert [item.name for item in items] == chosen


def test_odd_ids_run_and_are_counted(odd: pytest.Pytester) -> None:
    result = odd.inline_run("--auepora", "--junitxml=out.xml", "-p", "no:cacheprovider")
    reports = result.getreports("pytest_runtest_logreport")
    assert set(ODD_IDS) <= {r.nodeid.partition("::")[2] for r in reports if r.when == "call" and r.passed}


@pytest.mark.parametrize(
    "name",
    ["a::b", "a[b]", "a]", "[", " a", "a ", "\ta", "a\nb", "a\x00", "\x85", "\u2028", "\ud800", "x" * 201, "", " ",
     "__init__", "pytest_plugins", "setup_function", "pytestmark", None, 12, True],
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
def test_a_tag_let_through_can_be_asked_for(pytester: pytest.Pytester, tag: str) -> None:
    assert take(Tag(), tag)
    set_up(pytester)
    lines = [{"id": "with", "query": "Q", "tags": [tag]}, {"id": "without", "query": "Q"}]
    text = "\n".join(json.dumps(line) for line in lines)
    pytester.path.joinpath("tagged.golden.jsonl").write_text(text, encoding="utf-8")
    for expression, left in ((tag, "with"), (f"not {tag}", "without")):
        run = pytester.inline_run("--auepora", "--strict-markers", "--collect-only", "-m", expression)
        (deselected,) = run.getcalls("pytest_deselected")
        assert {"with", "without"} - {item.name for item in deselected.items} == {left}


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
