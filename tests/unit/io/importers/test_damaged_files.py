"""Damaged and hostile files: an import reads them or says what is wrong, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
import yaml

from pytest_auepora.errors import AueporaError, GoldenFileError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import FORMATS, import_cases
from pytest_auepora.io.importers.golden import golden_text

from ....mutations import damaged, read_all, spoilt, tries

NOT_QUOTED = re.compile(r"not YAML|YAML counts|`.*` looks like|the control character")


def tried(path: Path, fmt: str, **options: Any) -> bool:
    """Whether the file is refused; what is made of it the loader reads, or says where it is to be mended."""
    try:
        suite = import_cases(path, fmt, **options)
    except AueporaError as exc:
        assert str(path.parent) in str(exc)  # noqa: PT017 - either is fine
        assert len(str(exc)) < 2_500  # noqa: PT017
        return True
    assert all(len(note) < 2_500 for note in suite.dropped)
    if suite.cases:
        made = path.parent / "made.golden.yaml"
        made.write_bytes(golden_text(suite).encode())
        try:
            load_golden(made)
        except GoldenFileError as exc:
            complaints = [problem.message for problem in exc.problems]
            assert not any(NOT_QUOTED.match(one) for one in complaints)
    return False


RAGAS = [
    {"user_input": "Why?", "reference_contexts": ["c", "d"], "reference": "So.", "n": 1,
     "retrieved_contexts": "['c' 'd']", "reference_context_ids": ["x", "y"]},
    {"question": "How?", "ground_truths": ["a", "b"], "rubrics": {"score1_description": "s"}},
    {"user_input": [{"content": "Who?", "type": "human"}, {"content": "I.", "type": "ai"}], "reference": "You."},
]  # fmt: skip
DEEPEVAL = [
    {"input": "Why?", "context": ["c"], "expected_output": "So.", "name": "n", "source_file": "r.md", "comments": "c",
     "additional_metadata": {"topic": "t"}, "retrieval_context": ["c"]},
    {"turns": [{"role": "user", "content": "Who?"}], "scenario": "s", "expected_outcome": "o"},
]  # fmt: skip
PROMPTFOO = {
    "defaultTest": {"assert": [{"type": "is-json"}], "vars": {"lang": ["en", "de"]}},
    "tests": [
        {"description": "d", "vars": {"q": "Why {{lang}}?", "lang": "en"}, "metadata": {"team": "s"},
         "assert": [{"type": "contains-any", "value": ["x", "{{q}}"]}, {"type": "not-regex", "value": "a.b"},
                    {"type": "assert-set", "assert": [{"type": "icontains", "value": "y"}], "threshold": 0.5},
                    {"type": "similar", "value": "So.", "threshold": 0.8}, {"type": "is-refusal"}]},
        {"vars": {"q": "How?", "n": 5, "when": "2024-01-01"}, "assert": [{"type": "equals", "value": {"a": 1}}]},
    ],
}  # fmt: skip
PYDANTIC = {"name": "s", "cases": [
    {"name": "n", "inputs": {"question": "Why?"}, "metadata": {"d": "e"}, "expected_output": {"answer": "So."},
     "evaluators": [{"Contains": {"value": "x", "case_sensitive": False}}, "IsInstance", {"EqualsExpected": {}}]},
    {"inputs": "How?", "expected_output": "So.", "evaluators": [{"IsInstance": "str"}]}]}  # fmt: skip
OPENAI = [
    {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
                  {"role": "assistant", "content": "So.", "weight": 0}, {"role": "user", "content": "How?"}]},
    {"input": [{"role": "user", "content": "Who?"}], "ideal": ["I", "me"], "id": 7, "metadata": {"d": "e"}},
]  # fmt: skip


def lines(rows: Any) -> str:
    return "\n".join(map(json.dumps, rows))


FILES: dict[str, tuple[str, str, Literal["text", "json", "lines", "yaml"]]] = {
    "ragas": ("a.json", json.dumps(RAGAS), "json"),
    "ragas lines": ("a.jsonl", lines(RAGAS), "lines"),
    "ragas table": ("a.csv", "user_input,reference,reference_contexts\n"
                    "Why?,So.,\"['c', \"\"d's\"\"]\"\nHow?,,\"['a' 'b']\"\n", "text"),
    "deepeval": ("a.json", json.dumps(DEEPEVAL), "json"),
    "deepeval lines": ("a.jsonl", lines(DEEPEVAL), "lines"),
    "deepeval table": ("a.csv", "input,expected_output,context,source_file\n"
                       'Why?,So.,c|d,r.md\nHow?,,"[""c""]",\n', "text"),
    "promptfoo": ("a.json", json.dumps(PROMPTFOO), "json"),
    "promptfoo lines": ("a.jsonl", lines(PROMPTFOO["tests"]), "lines"),
    "promptfoo yaml": ("a.yaml", yaml.safe_dump(PROMPTFOO, sort_keys=False), "yaml"),
    "promptfoo table": ("a.csv", "question,lang,__expected1,__expected2,__threshold,__metadata:team\n"
                        "Why {{lang}}?,en,contains-any:a|b,similar(0.8):So.,0.5,s\nHow?,de,is-json,,,\n", "text"),
    "pydantic-evals": ("a.json", json.dumps(PYDANTIC), "json"),
    "pydantic-evals yaml": ("a.yaml", yaml.safe_dump(PYDANTIC, sort_keys=False), "yaml"),
    "openai": ("a.json", json.dumps(OPENAI), "json"),
    "openai lines": ("a.jsonl", lines(OPENAI), "lines"),
    "csv": ("a.csv", "id,query,relevant_docs,top_k,labels,tags\n"
            'a,Why?,a|b,5,"{""n"": 1}",t\nb,How?,"[""c""]",,,\n', "text"),
    "csv tabs": ("a.tsv", "sep=\t\nid\tquestion\treference_answer\trelevant_docs\n"
                 "a\tWhy?\tSo.\t['x' 'y']\nb\tHow?\t\t\n", "text"),
    "trec": ("qrels.txt", "301 0 FBIS-1 1\n301 0 FBIS-2 0\n# a note\n302 0 FT-1 2\n", "text"),
}  # fmt: skip


def test_every_format_is_damaged() -> None:
    apart = {"beir", "parquet"}  # a folder, and what is no text
    assert {name.split()[0] for name in FILES} | apart == FORMATS.keys(), "a new format: give it a file here"


@tries(60, 1_000)
@pytest.mark.parametrize("name", FILES)
def test_damaged_texts(tmp_path: Path, name: str, tries: int) -> None:
    file, text, kind = FILES[name]
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    assert not tried(path, name.split(maxsplit=1)[0])

    def read(pick: Random) -> bool:
        path.write_bytes(spoilt(text, pick, kind))
        return tried(path, name.split(maxsplit=1)[0])

    assert 0 < read_all(tries, 2, read) < tries


@tries(60, 1_000)
def test_damaged_beir(tmp_path: Path, tries: int) -> None:
    texts = {
        "corpus.jsonl": '{"_id": "d1", "title": "T", "text": "30 days.", "metadata": {"url": "r.md"}}',
        "queries.jsonl": '{"_id": "q1", "text": "How long?", "metadata": {"topic": "money"}}',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\n",
    }
    folder = tmp_path / "shop"

    def read(pick: Random) -> bool:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "qrels").mkdir(parents=True)
        wrong = pick.choice([*texts])
        for name, text in texts.items():
            made = spoilt(text, pick, "lines" if name.endswith("l") else "text") if name == wrong else text.encode()
            (folder / name).write_bytes(made)
        return tried(folder, "beir", texts=pick.random() < 0.5)

    assert 0 < read_all(tries, 6, read) < tries


@tries(60, 1_000)
def test_damaged_topics(tmp_path: Path, tries: int) -> None:
    """Topics in SGML, of which each has a number and a title."""
    text = "<top>\n<num> Number: 301\n<title> Crime\n<desc> Who?\n</top>\n<top><num>302<title>Polio</top>\n"
    (tmp_path / "qrels.txt").write_text("301 0 FBIS-1 1\n302 0 FT-1 2\n", encoding="utf-8")
    topics = tmp_path / "topics.txt"

    def read(pick: Random) -> bool:
        topics.write_bytes(spoilt(text, pick))
        return tried(tmp_path / "qrels.txt", "trec", topics=topics)

    assert 0 < read_all(tries, 3, read) < tries


@tries(60, 1_000)
def test_damaged_parquet(tmp_path: Path, tries: int) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = {"id": ["a", "b"], "query": ["Why?", "How?"], "relevant_docs": ['["x"]', None], "top_k": [1, 2]}
    parquet.write_table(pyarrow.table(columns), path)
    raw = path.read_bytes()

    def read(pick: Random) -> bool:
        path.write_bytes(damaged(raw, pick))
        return tried(path, "parquet")

    assert 0 < read_all(tries, 1, read) < tries


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
