"""Damaged and hostile files: an import reads them or says what is wrong, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_auepora.errors import AueporaError, GoldenFileError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import import_cases
from pytest_auepora.io.importers.golden import golden_text

from ....mutations import damaged, edited, mutated, tries


def tried(path: Path, fmt: str, **options: Any) -> bool:
    """Whether the file is refused; what is made of it the loader reads, or says where it is to be mended."""
    try:
        suite = import_cases(path, fmt, **options)
    except AueporaError as exc:
        assert str(path if path.is_file() else path.parent) in str(exc)  # noqa: PT017 - either is fine
        return True
    if suite.cases:
        made = path.parent / "made.golden.yaml"
        made.write_bytes(golden_text(suite).encode())
        try:
            load_golden(made)
        except GoldenFileError as exc:
            complaints = [problem.message for problem in exc.problems]
            assert not any("YAML" in one or "looks like" in one for one in complaints)
    return False


ROWS: dict[str, tuple[str, Any]] = {
    "ragas": ("a.json", [{"user_input": "Why?", "reference_contexts": ["c", "d"], "reference": "So.", "n": 1,
                          "reference_context_ids": ["x", "y"]}, {"question": "How?", "ground_truths": ["a", "b"]}]),
    "deepeval": ("a.json", [{"input": "Why?", "context": ["c"], "expected_output": "So.", "name": "n",
                             "source_file": "r.md", "comments": "c", "additional_metadata": {"topic": "t"}}]),
    "promptfoo": ("a.json", {"defaultTest": {"assert": [{"type": "is-json"}]}, "tests": [
        {"description": "d", "vars": {"q": "Why?", "lang": "en"}, "metadata": {"team": "s"},
         "assert": [{"type": "contains-any", "value": ["x", "y"]}, {"type": "not-regex", "value": "a.b"},
                    {"type": "similar", "value": "So.", "threshold": 0.8}, {"type": "is-refusal"}]}]}),
    "pydantic-evals": ("a.json", {"name": "s", "cases": [
        {"name": "n", "inputs": {"question": "Why?"}, "metadata": {"d": "e"}, "expected_output": {"answer": "So."},
         "evaluators": [{"Contains": {"value": "x", "case_sensitive": False}}, "IsInstance"]}]}),
    "csv": ("a.csv", 'id,query,relevant_docs,top_k,labels,tags\na,Why?,a|b,5,"{""n"": 1}",t\nb,How?,"[""c""]",,,\n'),
    "trec": ("qrels.txt", "301 0 FBIS-1 1\n301 0 FBIS-2 0\n302 0 FT-1 2\n"),
}  # fmt: skip


@tries(60, 900)
@pytest.mark.parametrize("fmt", ROWS)
def test_damaged_texts(tmp_path: Path, fmt: str, tries: int) -> None:
    name, said = ROWS[fmt]
    text, path, pick = said if isinstance(said, str) else json.dumps(said), tmp_path / name, Random(2)
    for _ in range(tries):
        change = pick.random()
        if change < 0.2:
            path.write_bytes(damaged(text.encode(), pick))
        elif change < 0.7 and not isinstance(said, str):
            path.write_bytes(mutated(text, pick).encode())
        else:
            path.write_bytes(edited(text, pick).encode())
        tried(path, fmt)


@tries(60, 900)
def test_damaged_beir(tmp_path: Path, tries: int) -> None:
    texts = {
        "corpus.jsonl": '{"_id": "d1", "title": "T", "text": "30 days.", "metadata": {"url": "r.md"}}',
        "queries.jsonl": '{"_id": "q1", "text": "How long?", "metadata": {"topic": "money"}}',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\n",
    }
    folder, pick = tmp_path / "shop", Random(6)
    for _ in range(tries):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "qrels").mkdir(parents=True)
        spoilt = pick.choice([*texts])
        for name, text in texts.items():
            made = text
            if name == spoilt:
                made = mutated(text, pick) if name.endswith("l") and pick.random() < 0.6 else edited(text, pick)
            (folder / name).write_bytes(made.encode())
        tried(folder, "beir", texts=pick.random() < 0.5)


@tries(60, 900)
def test_damaged_parquet(tmp_path: Path, tries: int) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, pick = tmp_path / "a.parquet", Random(1)
    columns = {"id": ["a", "b"], "query": ["Why?", "How?"], "relevant_docs": ['["x"]', None], "top_k": [1, 2]}
    parquet.write_table(pyarrow.table(columns), path)
    raw = path.read_bytes()
    for _ in range(tries):
        path.write_bytes(damaged(raw, pick))
        tried(path, "parquet")


DEEP = "[" * 100_000 + "]" * 100_000
ALIASED = "\n".join([f"    a{i}: &a{i} {'[' * 60}{f'*a{i - 1}' if i else ''}{']' * 60}" for i in range(60)])
"""Lists that nest through aliases deeper than they are written."""


@pytest.mark.parametrize(
    ("fmt", "name", "text"),
    [
        ("csv", "a.csv", f"query,relevant_docs\nWhy?,{DEEP}\n"),
        ("csv", "a.csv", f'query,metadata\nWhy?,"{DEEP}"\n'),
        ("csv", "a.csv", f"query,top_k\nWhy?,{'9' * 5000}\n"),
        ("ragas", "a.json", f'[{{"user_input": "Why?", "reference_contexts": {DEEP}}}]'),
        ("ragas", "a.json", f'[{{"user_input": "Why?", "n": {"9" * 5000}}}]'),
        ("ragas", "a.json", f'[{{"user_input": "Why?", "n": {"9" * 2000}}}]'),
        ("promptfoo", "a.yaml", DEEP),
        ("promptfoo", "a.yaml", f"tests:\n- vars:\n    q: Why?\n{ALIASED}"),
        ("promptfoo", "a.yaml", "tests: [{vars: {q: 1e999}}]"),
        ("promptfoo", "a.yaml", f"tests: [{{vars: {{q: {'9' * 5000}}}}}]"),
        ("trec", "qrels.txt", f"301 0 FBIS-1 {'9' * 5000}\n"),
    ],
)
def test_deep_literals_and_huge_numbers(tmp_path: Path, fmt: str, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert tried(tmp_path / name, fmt)
