"""Golden files read in parts, their cases in a temporary file: the same suite, the same complaints."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io import jsonl, line_blocks
from pytest_auepora.io.golden.load import GoldenSuite, load_golden
from pytest_auepora.io.golden.source import Source
from pytest_auepora.io.json_lines import load_lines
from pytest_auepora.io.spooled_cases import SpooledCases

HEAD: dict[str, Any] = {
    "suite": "parts",
    "metrics": ["recall@5", "token_f1"],
    "thresholds": {"recall@5": {"stat": "pass_rate", "min": 0.5}, "token_f1": {"min": 0.1, "slice": {"level": "high"}}},
    "case_thresholds": {"recall@5": ">= 0.5"},
    "regression": {"slices": ["level", {"tag": "odd"}]},
    "defaults": {"tags": ["all"]},
}


def case(n: int, **more: Any) -> dict[str, Any]:
    level = {"labels": {"level": "high"}} if n % 3 else {}
    tags = {"tags": ["odd"]} if n % 2 else {}
    return {"id": f"c{n}", "query": f"wie groß ist {n}?", "relevant_docs": ["d"], **level, **tags, **more}


def written(folder: Path, lines: Sequence[Any], name: str = "parts.golden.jsonl") -> Path:
    path = folder / name
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def both(monkeypatch: pytest.MonkeyPatch, path: Path) -> tuple[GoldenSuite, GoldenSuite]:
    whole = load_golden(path)
    monkeypatch.setattr(line_blocks, "LINES", 4)
    return whole, load_golden(path, large=3)


def test_it_is_the_suite_that_was_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own: dict[int, dict[str, Any]] = {
        1: {"variant_of": "c9"}, 5: {"skip": "not now"}, 6: {"variant_of": "c1"}, 7: {"cluster": "own"},
        8: {"variant_of": "c7"}, 9: {"cluster": "nine"}, 10: {"variant_of": "c2", "cluster": "ten"},
        12: {"top_k": 3, "thresholds": {"token_f1": ">= 0.2"}},
    }  # fmt: skip
    lines = [HEAD, "", *(case(n, **own.get(n, {})) for n in range(15))]
    whole, parts = both(monkeypatch, written(tmp_path, lines))
    assert isinstance(parts.cases, SpooledCases)
    assert isinstance(whole.cases, tuple)
    assert list(parts.cases) == list(whole.cases)
    assert [c.cluster for c in whole.cases][6:12] == ["nine", "own", "own", "nine", "ten", "c11"]
    assert [c.line for c in parts.cases] == list(range(3, 18))
    assert (list(parts.ids), dict(parts.rows), len(parts.cases)) == (list(whole.ids), dict(whole.rows), 15)
    assert [c.id for c in parts.skipped] == [c.id for c in whole.skipped] == ["c5"]
    assert (parts.gates, parts.policy, parts.name) == (whole.gates, whole.policy, whole.name)
    assert parts.case("c12") == whole.case("c12")
    for suite in (whole, parts):
        with pytest.raises(KeyError, match="c99"):
            suite.case("c99")
    assert parts.cases[2:4] == list(whole.cases[2:4])


def test_yaml_is_kept_so_as_well(tmp_path: Path) -> None:
    path = written(tmp_path, ["cases:", *(f"- {{id: c{n}, query: q}}" for n in range(6))], "shop.golden.yaml")
    assert list(load_golden(path, large=3).cases) == list(load_golden(path).cases)


WRONG: dict[str, list[Any]] = {
    "no JSON": ["{", *map(case, range(9)), "{", case(9)],
    "no JSON at all": ["a,b,c"] * 20,
    "the head after many blank lines": [*[""] * 9, {**HEAD, "ownr": "me"}, *map(case, range(9))],
    "lost bases": [case(0, variant_of="c66"), *(case(n, variant_of=f"c{n + 60}") for n in range(1, 20))],
    "a base that is no name": [case(0, variant_of=["c1"]), *(case(n, variant_of="c0") for n in range(1, 9))],
    "a conflict": [*map(case, range(9)), "<<<<<<< HEAD", case(9), "=======", case(10), ">>>>>>> b"],
    "twice": [*map(case, range(9)), case(1), case(8)],
    "a key": [*map(case, range(9)), case(9, qury="x"), case(10, thresholds={"recal@5": 1})],
    "lost base": [*map(case, range(9)), case(9, variant_of="c77"), case(10, variant_of="c9")],
    "lost base in the first part": [case(0, variant_of="c77"), *map(case, range(1, 9))],
    "a circle": [*map(case, range(9)), case(9, variant_of="c11"), case(10), case(11, variant_of="c9")],
    "no case in a slice": [
        {**HEAD, "thresholds": {"token_f1": {"min": 0.1, "slice": {"level": "hihg"}}}},
        *map(case, range(9)),
    ],
    "no slice": [{**HEAD, "regression": {"slices": ["levle", {"tag": "even"}]}}, *map(case, range(9))],
    "no cases": [HEAD, *[""] * 20],
    "nothing": [""] * 20,
}


@pytest.mark.parametrize("name", WRONG)
def test_it_complains_as_of_a_file_that_was_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = written(tmp_path, WRONG[name])
    told = []
    for lines, large in ((10_000, None), (4, 3)):
        monkeypatch.setattr(line_blocks, "LINES", lines)
        with pytest.raises(GoldenFileError) as caught:
            load_golden(path, large=large)
        told.append(caught.value.problems)
    assert told[0] == told[1]


def test_each_line_of_a_file_that_is_no_json_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_blocks, "LINES", 4)
    seen: list[str] = []

    def counted(source: Source) -> Iterator[dict[str, Any]]:
        seen.extend(source.lines)
        return load_lines(source)

    monkeypatch.setattr(jsonl, "load_lines", counted)
    with pytest.raises(GoldenFileError, match="not JSON"):
        load_golden(written(tmp_path, ["a,b,c"] * 200))
    assert seen.count("a,b,c") == 200


def test_names_like_that_of_a_lost_base_are_not_looked_for_without_end(tmp_path: Path) -> None:
    lines = [case(n, variant_of=f"c{n + 1000}") for n in range(100)]
    with pytest.raises(GoldenFileError) as caught:
        load_golden(written(tmp_path, lines))
    assert len(caught.value.problems) == 100
    assert sum("did you mean" in p.message for p in caught.value.problems) == 50


def test_gates_after_many_blank_lines_are_on_their_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_blocks, "LINES", 4)
    suite = load_golden(written(tmp_path, [*[""] * 9, HEAD, *map(case, range(9))]))
    assert {gate.line for gate in suite.gates} == {10}
    assert suite.cases[0].line == 11


def test_a_byte_that_is_no_utf8_has_its_offset_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_blocks, "LINES", 4)
    path = written(tmp_path, [HEAD, *map(case, range(9))])
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"\n\xff")
    with pytest.raises(GoldenFileError, match=f"11:1: byte 0xff at offset {size + 1} is not UTF-8"):
        load_golden(path)
    with pytest.raises(GoldenFileError, match="is larger than 100 bytes; split it"):
        load_golden(path, max_bytes=100)


def test_memory_hardly_grows_with_the_cases(tmp_path: Path) -> None:
    """Some two hundred bytes stay of a case, whatever it says."""
    peaks = []
    for size in (20, 1000, 2000):  # the first time imports what is used
        lines = [HEAD, *(case(n, reference_answer="so " * 100) for n in range(size))]
        path = written(tmp_path, lines)
        tracemalloc.start()
        load_golden(path, large=10)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] - peaks[1] < 300 * 1000, peaks
