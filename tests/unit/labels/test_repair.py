"""Rewriting a golden file, and what becomes of its baselines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.base.files import write_atomically
from pytest_auepora.errors import NotWrittenError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.labels.check import CheckedLabel, check_case
from pytest_auepora.labels.corpus import Chunk, corpus_of
from pytest_auepora.labels.repair import Repaired, baselines_of, repair
from pytest_auepora.regression.baseline import Baseline, BaselineCase
from pytest_auepora.regression.baseline_file import load_baseline

ONE = "A refund can be asked for within 30 days of purchase."
TWO = "Gift cards are final and cannot be returned at all."
GOLDEN = """\
suite: s
cases:
  - {id: same, query: A, relevant_docs: [one]}    # stays itself
  - {id: larger, query: B, relevant_docs: [two]}
"""


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A golden file, with a baseline for two configurations and an anchor."""
    path = tmp_path / "s.golden.yaml"
    path.write_text(GOLDEN, encoding="utf-8")
    hashes = {c.id: c.content_hash for c in load_golden(path).cases}
    folder = tmp_path / "__baselines__"
    folder.mkdir()
    for variant, name in (("", "s.json"), ("", "s.anchor.json"), ("b", "s@b.json")):
        blocks = {"same": BaselineCase(hashes["same"], ranks={"one": 2}), "larger": BaselineCase(hashes["larger"])}
        (folder / name).write_text(Baseline("s", variant, cases=blocks).dumps(), encoding="utf-8")
    return path


def checked(path: Path) -> list[list[CheckedLabel]]:
    now = corpus_of({"uno": ONE, "due": f"{ONE} {TWO}".replace("refund", "return")})
    old = {"one": ONE, "two": TWO}
    return [
        check_case(case, now, [lambda _, i: [Chunk(i, old[i])] if i in old else []]) for case in load_golden(path).cases
    ]


def test_only_the_same_passage_keeps_its_baseline(golden: Path) -> None:
    suite = load_golden(golden)
    done = repair(golden, checked(golden), baselines_of(suite))
    assert done.new_ids == {("same", 0): "uno", ("larger", 0): "due"}
    assert sorted(path.name for path in done.carried) == ["s.anchor.json", "s.json", "s@b.json"]
    after = {c.id: c.content_hash for c in load_golden(golden).cases}
    before = {c.id: c.content_hash for c in suite.cases}
    for path in done.carried:
        found = load_baseline(path, "s", "b" if "@" in path.name else "")
        assert found is not None
        assert (found.cases["same"].hash, found.cases["same"].ranks) == (after["same"], {"uno": 2})
        assert found.cases["larger"].hash == before["larger"] != after["larger"]


def test_a_case_that_was_accepted_otherwise_is_not_carried_over(golden: Path) -> None:
    path = golden.parent / "__baselines__" / "s.json"
    found = load_baseline(path, "s")
    assert found is not None
    found.cases["same"].match = "span"
    path.write_text(found.dumps(), encoding="utf-8")
    (path.parent / "s@b.json").write_text("{ broken", encoding="utf-8")
    done = repair(golden, checked(golden), baselines_of(load_golden(golden)))
    assert [one.name for one in done.carried] == ["s.anchor.json"]
    assert load_baseline(path, "s") == found
    assert (path.parent / "s@b.json").read_text(encoding="utf-8") == "{ broken"


def test_a_file_that_changed_since_it_was_checked_is_left_alone(golden: Path) -> None:
    found = checked(golden)
    golden.write_text(GOLDEN.replace("[two]", "[three]"), encoding="utf-8")
    done = repair(golden, found)
    assert [name for name in (str(golden), "larger", "two") if name not in done.problem] == []
    assert (done.new_ids, golden.read_text(encoding="utf-8")) == ({}, GOLDEN.replace("[two]", "[three]"))


def test_written_labels_are_told_when_a_baseline_fails(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def only_golden(path: Path, text: str) -> None:
        if path.suffix == ".json":
            raise NotWrittenError(f"{path}: cannot be written")
        write_atomically(path, text)

    monkeypatch.setattr("pytest_auepora.labels.repair.write_atomically", only_golden)
    done: Repaired = repair(golden, checked(golden), baselines_of(load_golden(golden)))
    assert done.carried == {}
    assert ".json" in done.problem
    assert len(done.new_ids) == 2
    assert "uno" in golden.read_text(encoding="utf-8")


def test_a_link_is_followed_and_stays_a_link(golden: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "s.golden.yaml"
    link.symlink_to(golden)
    repair(link, checked(link))
    assert link.is_symlink()
    assert "uno" in golden.read_text(encoding="utf-8")
