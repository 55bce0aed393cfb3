"""Problems of a file: all with their place, in order, and not too many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.source import Source
from tests.unit.io.files import problems


def test_all_problems_are_told_at_once_in_file_order(tmp_path: Path) -> None:
    told = problems(
        tmp_path,
        """\
        sutie: shop
        metrics: [recal@5, mrr]
        thresholds: {mrr: 80}
        cases:
        - id: a
          query: Q
          relevant_docs: [p, p]
        - id: a
          query: Q
        - query: Q
          expct: refuse
        - {id: b, query: 12, thresholds: {recall@5: 1}}
        """,
    )
    assert [line.split(": ")[0] for line in told] == [
        "1:1", "2:11", "3:19", "7:22", "8:7", "10:3", "11:3", "12:18",
    ]  # fmt: skip


def test_one_problem_among_many_cases_has_its_place(tmp_path: Path) -> None:
    lines = [f"- {{id: c{i}, query: Q, relevant_docs: [{{id: p, grade: {i % 3}}}]}}" for i in range(3000)]
    lines[2500] = lines[2500].replace("grade: 1", "grade: x")
    (problem,) = problems(tmp_path, "cases:\n" + "\n".join(lines))
    assert problem.startswith("2502:56: grade: ")


ONE = "cases:\n  - {id: a, query: b}\n"


MANY = 3_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * 2000 + ": 1\n" + ONE, r":1:2001: not YAML: a key has at most 1,024 characters"),
        ("metrics: [recall@" + "9" * 5000 + "]\n" + ONE, r":1:11: recall@9+…: a metric's name has at most 1,000 char"),
        ("metrics: ['" + "noise_robustness[" * 5000 + "mrr" + "]" * 5000 + "']\n" + ONE, ":1:11: .*at most 1,000 char"),
        (
            'metrics: [mrr]\nthresholds:\n  ? "' + "p10(" * 5000 + 'mrr"\n  : 1\n' + ONE,
            ":3:5: .*at most 1,000 char",
        ),
        ("top_k: " + ":".join(["59"] * 3000) + "\n" + ONE, r":1:8: `59:59.*` looks like a whole number and is none"),
        ("x: &a 1\ntop_k: !!int 0x" + "f" * 50_000 + "\n" + ONE, ":2:8: cannot be read as int"),
        (
            "top_k: 0x" + "f" * 50_000 + "\n" + ONE,
            ":1:8: `0xf+` looks like a whole number and is none .it has more than a thous",
        ),
        ("metrics: ['" + "x" * 5000 + "']\n" + ONE, ":1:11: x+…: a metric's name has at most 1,000 characters"),
    ],
)
def test_what_is_too_long_has_a_place_and_no_traceback(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "x.golden.yaml"
    path.write_text(text)
    with pytest.raises(GoldenFileError, match=told) as caught:
        load_golden(path)
    assert max(len(p.message) for p in caught.value.problems) < 1000


@pytest.mark.parametrize(
    "text",
    [
        "cases:\n  - id: a\n    query: b\n" + "".join(f"    key{i}: 1\n" for i in range(MANY)),
        "metrics: [" + ", ".join(f"recal{i}" for i in range(MANY)) + "]\n" + ONE,
        "metrics: [mrr]\nthresholds:\n" + "".join(f"  recal{i}: 1\n" for i in range(MANY)) + ONE,
        "cases:\n  - id: a\n    query: b\n" + "".join(f"    k{i}: 1\n" for i in range(MANY)) * 2,
        "cases:\n  - id: a\n    query: b\n    tags: [" + "a, " * MANY + "b]\n",
        "cases:\n" + "  - {id: a, query: ''}\n" * MANY,
    ],
    ids=["keys of a case", "metrics", "thresholds", "keys given twice", "tags given twice", "cases"],
)
def test_complaints_are_capped_and_so_is_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    looked: list[object] = []
    placed: list[object] = []
    position = Source.position

    def near(word: str, known: list[str], **_: object) -> list[str]:
        looked.extend(known[:1])
        return []

    def noted(self: Source, *args: Any, **how: Any) -> tuple[int, int]:
        placed.append(args)
        return position(self, *args, **how)

    monkeypatch.setattr("difflib.get_close_matches", near)
    monkeypatch.setattr(Source, "position", noted)
    path = tmp_path / "x.golden.yaml"
    path.write_text(text)
    with pytest.raises(GoldenFileError) as caught:
        load_golden(path)
    assert len(caught.value.problems) <= 201
    assert len(looked) <= 700
    assert len(placed) <= 1000


def test_complaints_that_say_the_same_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.golden.yaml"
    cases = "".join(f"  - {{id: c{i}, query: q, foo: 1}}\n" for i in range(159))
    path.write_text(f"metrics: [recall@5]\ncases:\n{cases}", encoding="utf-8")
    with pytest.raises(GoldenFileError) as caught:
        load_golden(path)
    assert [p.line for p in caught.value.problems] == [3, 4, 5]
    assert caught.value.problems[-1].message.rpartition("(")[2].startswith("and 156")
