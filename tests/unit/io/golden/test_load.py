"""Golden files as files: bytes, lines and columns, sizes, kinds, and what reading one leaves as it was."""
# ruff: noqa: E501 - tables of what is written and what is told, one line each

from __future__ import annotations

import os
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document, EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.jsonl import load_jsonl_dataset
from pytest_auepora.metrics.registry import Registry
from tests.unit.io.files import CASE, complains, load, problems, write


def test_anchors_and_merge_keys_are_the_files_own_business(tmp_path: Path) -> None:
    suite = load(
        tmp_path,
        """\
        cases:
        - &base
          id: a
          query: Q
          relevant_docs: &docs [p1, p2]
        - {<<: *base, id: b}
        - {id: c, query: Q, relevant_docs: *docs}
        """,
    )
    assert [c.id for c in suite.cases] == ["a", "b", "c"]
    assert suite.cases[0].sample.relevant_docs == suite.cases[1].sample.relevant_docs
    assert suite.cases[2].sample.relevant_docs == [Document("p1"), Document("p2")]
    assert [(c.line, c.col) for c in suite.cases][1:] == [(6, 3), (7, 3)]


def test_columns_count_characters_as_in_messages(tmp_path: Path) -> None:
    text = "cases: [{id: é, query: Q}, {id: ü, query: Qß}]"
    assert [case.col for case in load(tmp_path, text).cases] == [9, text.index("{id: ü") + 1]


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    suite = load(tmp_path, "cases:\n- id: a\n  query: 'one\u2028two\x85three'\n- id: b\n  query: Q\n")
    assert [c.line for c in suite.cases] == [2, 4]
    told = problems(tmp_path, "cases:\n- id: a\n  query: 'one\u2028two'\n- id: b\n  qurey: Q\n")
    assert [line.split(": ")[0] for line in told] == ["5:3"]


def test_a_registry_of_ones_own(tmp_path: Path) -> None:
    class Politeness(Metric):
        name = "politeness"
        target = TargetCategory.GENERATION_RELEVANCE

        def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
            return Measurement(1.0)

    registry = Registry()
    registry.add("politeness", Politeness)
    path = write(tmp_path, "metrics: [politeness]\nthresholds: {politeness: 0.5}" + CASE)
    assert load_golden(path, registry).metrics == ("politeness",)
    with complains("unknown metric 'politeness'"):
        load_golden(path)


def test_a_file_may_not_be_too_large(tmp_path: Path) -> None:
    path = write(tmp_path, CASE)
    assert load_golden(path, max_bytes=path.stat().st_size).name == "shop"
    with complains("is larger than"):
        load_golden(path, max_bytes=path.stat().st_size - 1)


def test_what_a_file_may_be_is_not_what_it_takes_in_memory(tmp_path: Path) -> None:
    path = write(tmp_path, CASE)
    load_golden(path)
    tracemalloc.start()
    load_golden(path, max_bytes=2_000_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50_000_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_to_its_end_and_no_further_than_allowed(tmp_path: Path) -> None:
    text = write(tmp_path, CASE).read_bytes()
    pipe = tmp_path / "piped.golden.yaml"
    os.mkfifo(pipe)
    for most in (len(text), len(text) - 1):
        writer = threading.Thread(target=pipe.write_bytes, args=(text,))
        writer.start()
        if most == len(text):
            assert load_golden(pipe, max_bytes=most).cases
        else:
            with complains("is larger than"):
                load_golden(pipe, max_bytes=most)
        writer.join()


@pytest.mark.parametrize("name", ["shop.golden.json", "shop.txt", "golden"])
def test_other_kinds_of_files_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(GoldenFileError, match=r"ends in \.yaml, \.yml or \.jsonl"):
        load_golden(write(tmp_path, CASE, name))


def test_the_collector_of_garbage_is_left_as_it_was(tmp_path: Path) -> None:
    import gc

    assert gc.isenabled()
    load(tmp_path, CASE)
    assert gc.isenabled()
    problems(tmp_path, "cases: [")
    assert gc.isenabled()
    gc.disable()
    try:
        load(tmp_path, CASE)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("name", "load", "said"),
    [
        ("a.golden.jsonl", load_golden, "have it scored by `auepora score`, or give load_golden a higher max_bytes"),
        ("a.golden.yaml", load_golden, "or write it as JSON Lines, of which `auepora score` takes more"),
        ("a.jsonl", load_jsonl_dataset, "or read it bit by bit with open_dataset"),
    ],
)
def test_what_to_do_with_a_file_that_is_too_large_is_said(
    tmp_path: Path, name: str, load: Callable[[Path], Any], said: str
) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(50_000_001)
    with complains(f"is larger than 50,000,000 bytes; split it, {said}"):
        load(tmp_path / name)


OF_THE_TEXT = {
    "empty": (b"", "is empty; a golden file has cases"),
    "blank": (b"\n  \n", "is empty"),
    "comments only": (b"# nothing\n", "is empty"),
    "a null": (b"~\n", "is empty"),
    "no UTF-8": (b"cases:\n- id: caf\xe9\n", "2:10: byte 0xe9 at offset 16 is not UTF-8"),
    "no UTF-8 after a mark": (b"\xef\xbb\xbfcases: \xff", "byte 0xff at offset 10 is not UTF-8"),
    "UTF-16": ("cases: []".encode("utf-16"), "1:1: is UTF-16; save it as UTF-8"),
    "tab as indent": (b"cases:\n\t- id: a\n", "2:1: a tab indents this line"),
    "tab after blanks": (b"cases:\n  - id: a\n  \tquery: Q\n", "a tab indents this line"),
    "two documents": (b"cases: []\n---\ncases: []\n", "2:1: a second document starts here"),
    "a list": (b"- id: a\n  query: Q\n", "1:1: expected a mapping with cases, got a list; put the list under cases:"),
    "a text": (b"cases\n", "1:1: expected a mapping with cases, got 'cases'"),
    "a number": (b"12\n", "1:1: expected a mapping with cases, got 12"),
    "open bracket": (b"cases: [{id: a, query: Q}\n", "a list in brackets is not closed"),
    "open quote": (b"cases:\n- id: 'a\n", "a quote is not closed"),
    "colon in a text": (b"cases:\n- id: a\n  query: What: this?\n", "3:14: not YAML: mapping values are not allowed"),
    "no colon": (b"cases:\n- id: a\n  query\n", "a key needs a colon"),
    "a conflict": (b"cases:\n- id: a\n<<<<<<< HEAD\n  query: Q\n=======\n  query: R\n>>>>>>> b\n", "3:1: merge-conflict"),
    "bad indent": (b"cases:\n- id: a\n query: Q\n", "check the indentation"),
    "at sign": (b"cases:\n- id: @a\n", "put quotes round a text that begins with this character"),
    "bad escape": (b'cases:\n- id: "\\d"\n', "double a backslash"),
    "control character": (b"cases:\n- id: a\x07b\n", "2:8: the control character U+0007"),
    "undefined alias": (b"cases: *all\n", "1:8: not YAML: found undefined alias"),
    "python tag": (b"cases: !!python/object/apply:os.system [ls]\n", "1:8: the tag !!python/object/apply:os.system is refused"),
    "own tag": (b"cases: !mine [a]\n", "1:8: the tag !mine is refused"),
    "a list as key": (b"? [a, b]\n: c\n", "1:3: a list or mapping cannot be a key"),
    "no such day": (b"cases: 2024-13-45\n", "1:8: `2024-13-45` looks like a date and is none"),
    "no such day as a key": (b"a: 1\n2024-13-45: x\n", "2:1: `2024-13-45` looks like a date and is none"),
    "contains itself": (b"cases: &a [*a]\n", "1:8: this value contains itself"),
    "a number beyond reason": (b"cases: " + b"1" * 5000 + b"\n", "1:8: "),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_THE_TEXT)
def test_a_text_that_is_no_golden_file(tmp_path: Path, parser: object, name: str) -> None:
    text, told = OF_THE_TEXT[name]
    (problem, *others) = problems(tmp_path, text)
    assert told in problem
    assert others == []


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with complains("cannot be read: No such file"):
        load_golden(tmp_path / "none.golden.yaml")
    (tmp_path / "dir.golden.yaml").mkdir()
    with complains("cannot be read: Is a directory"):
        load_golden(tmp_path / "dir.golden.yaml")


def test_the_error_carries_its_problems(tmp_path: Path) -> None:
    path = write(tmp_path, "cases: []")
    with pytest.raises(GoldenFileError) as caught:
        load_golden(path)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.col) == (str(path), 1, 8)
    assert str(caught.value).startswith(f"{path}:1:8: ")
