"""`--auepora-labels`: labels whose chunk ids are gone are reported before any call, and repaired where provable."""

from __future__ import annotations

import json

import pytest

from pytest_auepora.errors import NotWrittenError
from pytest_auepora.labels import repair

from .conftest import Example
from .rechunked import CONFTEST, GOLDEN, called, rechunk


def test_labels_in_their_place_are_valid_without_calls(shop: Example) -> None:
    result = shop.run("--auepora-labels=check", auepora=False)
    assert (result.ret, called(shop)) == (0, False)
    result.stdout.fnmatch_lines(["3 labels of 3 cases: 3 valid"])


def test_each_moved_label_is_told_with_place_and_source(shop: Example) -> None:
    rechunk(shop, "merged")
    result = shop.run("--auepora-labels=check", auepora=False)
    assert (result.ret, called(shop)) == (1, False)
    result.stdout.fnmatch_lines([
        "shop.golden.yaml:8:22: refunds#2: merged, now refunds:1 (text from run *)",
        "shop.golden.yaml:12:14: delivery#3: re-anchorable, now delivery:3 (text from run *)",
        "3 labels of 3 cases: 1 valid, 1 re-anchorable, 1 merged",
    ])  # fmt: skip
    assert shop.golden.read_text() == GOLDEN
    assert result.parseoutcomes() == {"passed": 1, "failed": 2}


def test_a_case_that_is_checked_again_counts_once(shop: Example) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="reruns need pytest-rerunfailures")
    rechunk(shop, "merged")
    result = shop.run("--auepora-labels=check", "--reruns=1", auepora=False, plugins=("pytest_rerunfailures",))
    result.stdout.fnmatch_lines(["3 labels of 3 cases: 1 valid, 1 re-anchorable, 1 merged"])


def test_provable_moves_are_rewritten_and_keep_the_baseline(shop: Example) -> None:
    rechunk(shop, "merged")
    before = json.loads(shop.baseline.read_text())["cases"]
    result = shop.run("--auepora-labels=repair", auepora=False)
    assert (result.ret, called(shop)) == (0, False)
    result.stdout.fnmatch_lines(["rewritten: 2 labels", "carried over in shop.json: 1 case"])
    assert shop.golden.read_text() == GOLDEN.replace("'refunds#2'", "'refunds:1'").replace("delivery#3", "delivery:3")
    after = json.loads(shop.baseline.read_text())["cases"]
    assert after["tracking"]["ranks"] == {"delivery:3": 1}
    assert (after["window"], after["quoted"]) == (before["window"], before["quoted"])
    bytes_now = shop.golden.read_bytes(), shop.baseline.read_bytes()
    again = shop.run("--auepora-labels=repair", auepora=False)
    assert again.ret == 0
    assert (shop.golden.read_bytes(), shop.baseline.read_bytes()) == bytes_now
    judged = shop.run("-v")
    assert judged.ret == 0
    judged.stdout.fnmatch_lines(["same: 2 unchanged, 1 not comparable (edited)"])


def test_unproven_moves_are_left_to_people_with_candidates(shop: Example) -> None:
    rechunk(shop, "split")
    result = shop.run("--auepora-labels=repair", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "shop.golden.yaml:8:22: refunds#2: split: refunds:3 (58 %) (58 % of it*",
        "left to people: 2 labels",
    ])  # fmt: skip
    assert shop.golden.read_text() == GOLDEN


def test_an_old_corpus_explains_ids_without_a_history(shop: Example) -> None:
    shop.write("pytest.ini", "[pytest]\nfilterwarnings = error\nauepora_history = off\n")
    rechunk(shop, "merged")
    blind = shop.run("--auepora-labels=check", auepora=False)
    blind.stdout.fnmatch_lines(["*refunds#2: orphaned (what it said is not known)"])
    shop.write("old.jsonl", "".join(json.dumps({"id": f"refunds#{n}", "text": t, "doc": "refunds"}) + "\n" for n, t in
                                    enumerate(["Refunds are made to the card you paid with.",
                                               "A refund can be asked for within 30 days."], 1)))  # fmt: skip
    seen = shop.run("--auepora-labels=check,old=old.jsonl", auepora=False)
    seen.stdout.fnmatch_lines(["*refunds#2: merged, now refunds:1 (text from old.jsonl)"])
    broken = shop.run("--auepora-labels=check,old=none.jsonl", auepora=False)
    assert "old=none.jsonl" in str(broken.stdout) + str(broken.stderr)
    assert broken.ret != 0


def test_the_hook_serves_without_a_fixture_and_ids_are_enough(project: Example) -> None:
    hook = "\n\ndef pytest_auepora_corpus(suite):\n    assert suite == 'shop'\n    return [*list(DOCS)[1:], 'x']\n"
    project.conftest(hook)
    result = project.run("--auepora-labels=check", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*:8:21: refunds: orphaned (what it said is not known)", "4 labels of 4 cases*"])


@pytest.mark.parametrize(
    ("value", "says"), [("[]", "the corpus is empty"), ("'abc'", "the corpus came as str"), ("None", "no corpus")]
)
def test_what_is_no_corpus_fails_the_check_with_words(shop: Example, value: str, says: str) -> None:
    shop.edit("return shop.chunks('old')", f"return {value}", "conftest.py")
    result = shop.run("--auepora-labels=check", auepora=False)
    assert result.ret == 1
    assert says in str(result.stdout)
    scored = shop.run("-x")
    assert scored.ret == (0 if value == "None" else 1)
    assert (says in str(scored.stdout), "Traceback" in str(scored.stdout)) == (value != "None", False)
    assert "auepora_files" not in str(scored.stdout), "the file is there"


def test_other_tests_are_left_out_no_labels_is_no_success(project: Example) -> None:
    project.write("test_other.py", "def test_it():\n    raise SystemError\n")
    project.golden.unlink()
    result = project.run("--auepora-labels=check", auepora=False)
    assert result.ret in (1, pytest.ExitCode.NO_TESTS_COLLECTED)
    result.assert_outcomes(deselected=1)


@pytest.mark.parametrize(
    ("option", "says"),
    [("--auepora-update", "--auepora-update is about a run"), ("--auepora-labels=check,old=nope.jsonl", "nope.jsonl")],
)
def test_what_a_check_cannot_do_is_a_usage_error(project: Example, option: str, says: str) -> None:
    result = project.run("--auepora-labels=check", *option.split(), auepora=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert says in str(result.stderr)
    assert not project.baseline.exists()


def test_a_stopped_check_or_a_changed_file_rewrites_nothing(shop: Example) -> None:
    rechunk(shop, "merged")
    shop.edit("'refunds#2'", "gone#7")
    result = shop.run("--auepora-labels=repair", "-x", auepora=False)
    assert result.ret == 1
    assert "delivery#3" in shop.golden.read_text()
    result.stdout.fnmatch_lines(["*the run was stopped, so nothing was rewritten"])
    result = shop.run("--auepora-labels=repair", "-k", "tracking", auepora=False)
    assert result.ret == 0
    assert "delivery:3" in shop.golden.read_text()


@pytest.mark.slow
def test_what_was_found_travels_from_workers(shop: Example) -> None:
    pytest.importorskip("xdist")
    rechunk(shop, "merged")
    result = shop.run_apart("-n", "2", "--auepora-labels=repair")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["rewritten: 2 labels"])


def test_labels_that_configurations_disagree_on_are_no_success(shop: Example) -> None:
    text = CONFTEST.format(how="old").replace('"session")\ndef aue', '"session", params=["old", "merged"])\ndef aue')
    text = text.replace("def auepora_corpus_ids():\n    return shop.chunks('old')",
                        "def auepora_corpus_ids(request):\n    return shop.chunks(request.param)")  # fmt: skip
    shop.write("conftest.py", text)
    result = shop.run("--auepora-labels=repair", auepora=False)
    assert result.ret == 1
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["shop[[]merged] *", "shop[[]old] *", "*3 valid", "left to people: 2 labels"])
    assert shop.golden.read_text() == GOLDEN


def test_a_golden_file_that_cannot_be_written_fails_and_stays(shop: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, text: str) -> None:
        raise NotWrittenError(f"{path}: cannot be written: Read-only file system")

    rechunk(shop, "merged")
    monkeypatch.setattr(repair, "write_atomically", refuse)
    result = shop.run("--auepora-labels=repair", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["nothing was rewritten: *cannot be written*", "left to people: 2 labels"])
    assert shop.golden.read_text() == GOLDEN
