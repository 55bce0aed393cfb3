"""Golden files written from what was imported: readable, and read back as what they were written from."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_auepora.io.golden.fields import CASE_FIELDS
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.golden import as_imported, case_mapping, golden_text
from pytest_auepora.io.importers.imported import Cases, Dropped, ImportedSuite
from tests.unit.io.files import write_golden


def test_it_reads_well() -> None:
    case = {"metadata": {"n": 1}, "id": "a", "relevant_docs": ["x", {"id": "y", "grade": 2}], "query": "Why?\nSay it."}
    assert golden_text(ImportedSuite([case, {"id": "b", "query": "ünïcode: yes"}], suite="shop")) == (
        "# yaml-language-server: $schema=auepora.schema.json\n"
        "suite: shop\n"
        "cases:\n"
        "  - id: a\n"
        "    query: |-\n"
        "      Why?\n"
        "      Say it.\n"
        "    relevant_docs:\n"
        "      - x\n"
        "      - id: y\n"
        "        grade: 2\n"
        "    metadata:\n"
        "      n: 1\n"
        "\n"
        "  - id: b\n"
        "    query: 'ünïcode: yes'\n"
    )


def _case(query: str, answer: str, documents: list[str], values: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"query": query, "relevant_docs": documents, "reference_answer": answer}
    return {**made, **({"metadata": values} if values else {})}


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\x85"), min_size=1).filter(
    str.strip
)
_CASES = st.lists(
    st.builds(
        _case, _TEXT, _TEXT, st.lists(_TEXT, unique=True, max_size=3),
        st.dictionaries(st.text("abcdeé", min_size=1), st.one_of(_TEXT, st.integers(), st.booleans(), st.none())),
    ),
    min_size=1, max_size=3,
)  # fmt: skip


@given(_CASES)
def test_whatever_was_imported_comes_back(cases: list[dict[str, Any]]) -> None:
    case_ids = Cases(Dropped())
    suite = ImportedSuite([{"id": case_ids.unique_id(None, c["query"]), **c} for c in cases])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.golden.yaml"
        write_golden(suite, path)
        assert [case_mapping(c) for c in load_golden(path).cases] == suite.cases
        assert export_cases(suite, Path(folder) / "a.csv", "csv") == []
        texts = [c["query"] for c in import_cases(Path(folder) / "a.csv", "csv").cases]
        assert texts == [c["query"] for c in cases]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
@example(["0" * 200] * 12)
@example(["__" + "x" * 198] * 2)
def test_every_name_is_fit_for_pytest_and_unique(given_names: list[str]) -> None:
    case_ids = Cases(Dropped())
    ids = [case_ids.unique_id(name, "Why?") for name in given_names]
    assert len(set(ids)) == len(ids)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.golden.yaml"
        write_golden(ImportedSuite([{"id": i, "query": "Why?"} for i in ids]), path)
        assert [c.id for c in load_golden(path).cases] == ids


def test_name_that_had_to_change_is_told() -> None:
    dropped = Dropped()
    case_ids = Cases(dropped)
    assert [case_ids.unique_id(n, "q") for n in ("x::y[7]", "a", "a", "setup_module")] == [
        "x-y-7-",
        "a",
        "a-2",
        "case-setup_module",
    ]
    assert dropped.total() == 3


EVERY_KEY: dict[str, Any] = {
    "id": "a",
    "query": "Why?",
    "chat_history": [{"user": "hi"}, {"assistant": "hello"}],
    "relevant_docs": ["x"],
    "candidate_docs": ["y"],
    "reference_answer": "Because.",
    "must_contain": ["so"],
    "forbidden": ["no"],
    "forbidden_docs": ["salary.md", {"doc": "hr.md", "quote": "earns"}],
    "match": "substring",
    "expect": "answer",
    "expect_change": True,
    "scenario": "typo",
    "variant_of": "b",
    "conversation": "chat-1",
    "as": "intern",
    "entities": ["Rome"],
    "nuggets": [{"any_of": ["It is so."], "importance": "vital"}],
    "noise_docs": ["Beside it."],
    "sensitive": ["+49"],
    "claims": ["It is so."],
    "rubric": ["says why"],
    "answer_schema": {"type": "object"},
    "cluster": "c",
    "tags": ["smoke"],
    "labels": {"lang": "en"},
    "metadata": {"n": 1},
    "thresholds": {"token_f1": 0.5},
    "top_k": 3,
    "status": "draft",
    "skip": "later",
    "xfail": "as yet",
    "timeout": 2.5,
    "must_pass": True,
    "quarantine": "2030-01-01",
    "benchmark": {"rounds": 3},
}
APART = ({"skip", "must_pass"}, {"xfail", "status", "must_pass"}, {"xfail", "skip", "status"})
"""Keys that contradict each other are left out together."""


@pytest.mark.parametrize("without", APART, ids=["draft", "skipped", "must pass"])
def test_a_case_of_every_key_comes_back(tmp_path: Path, without: set[str]) -> None:
    assert EVERY_KEY.keys() == CASE_FIELDS.keys(), "a new key of a case: give it a value here"
    case = {key: value for key, value in EVERY_KEY.items() if key not in without}
    other = {"id": "b", "query": "Why not?"}
    write_golden(ImportedSuite([case, other]), tmp_path / "a.golden.yaml")
    suite = load_golden(tmp_path / "a.golden.yaml")
    (made, _) = as_imported(suite).cases
    assert {**made, "thresholds": case["thresholds"]} == case
    assert made["thresholds"] == {"token_f1": [">= 0.5"]}
    no_column = case.keys() & {"benchmark", "status", "thresholds"}
    dropped = export_cases(suite, tmp_path / "a.csv", "csv")
    assert {f"{key}: no column (1 time)" for key in no_column} == {told for told in dropped if "column" in told}
    (again, _) = import_cases(tmp_path / "a.csv", "csv").cases
    assert again == {key: value for key, value in case.items() if key not in no_column}
