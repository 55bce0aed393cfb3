"""Odd names of cases and tags: pytest selects, runs and counts them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from .conftest import ENTRY, alone

ODD_IDS = [
    "refund window?", "a/b", "a\\b", "../up", ".", "..", "a.py", "*", "-x", "--co", "@file", "=", "#1", "100%", "a:b",
    ":a", "a:", "é", "e\u0301", "😀", "日本語", "a;b", "a,b", "(a)", "a(", "{b}", "a|b", "&", "!", "~", "$HOME", "'a'",
    '"a"', "<a>", "a  b", "not", "True", "None", "class", "test", "x" * 200, "12", "1.5",
]  # fmt: skip

RAG = "import pytest\n\n@pytest.fixture\ndef rag():\n    return lambda query: 'yes'\n"


@pytest.fixture(autouse=True)
def _with_no_other_plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytester.makeconftest(RAG)
    monkeypatch.setenv("PYTEST_PLUGINS", ENTRY)
    with alone():
        yield


@pytest.fixture
def odd(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose cases have odd ids."""
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


TAGS = ("smoke", "smoke-test", "v1.2", "a+b", "größe", "x1", "1st")


@pytest.mark.parametrize(
    ("expression", "left"),
    [*((tag, {tag}) for tag in TAGS), ("not 1st", {*TAGS[:-1]}), ("a+b or v1.2", {"a+b", "v1.2"})],
)
def test_a_tag_let_through_can_be_asked_for(pytester: pytest.Pytester, expression: str, left: set[str]) -> None:
    text = "\n".join(json.dumps({"id": tag, "query": "Q", "tags": [tag]}) for tag in TAGS)
    pytester.path.joinpath("tagged.golden.jsonl").write_text(text, encoding="utf-8")
    run = pytester.inline_run("--auepora", "--strict-markers", "--collect-only", "-m", expression)
    deselected = {item.name for call in run.getcalls("pytest_deselected") for item in call.items}
    assert {*TAGS, "suite"} - deselected == left
