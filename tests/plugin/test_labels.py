"""Labels whose chunk ids are gone: reported before any call, repaired where provable, scored by passage meanwhile."""

from __future__ import annotations

import json

import pytest

from pytest_auepora.errors import NotWrittenError
from pytest_auepora.labels import repair

from .conftest import Example, gates

PAGES = """
PAGES = {
    "refunds": ["Refunds are made to the card you paid with.", "A refund can be asked for within 30 days.",
                "Gift cards are final and not returned at all."],
    "delivery": ["Parcels leave the house within two working days.", "You get a message with a tracking number.",
                 "The number tells you where your parcel is just now."],
}


def cut(page, how):
    lines = PAGES[page]
    if how == "merged" and page == "refunds":
        return [" ".join(lines[:2]), lines[2]]
    if how == "split":
        return [half for line in lines for half in (line[:24], line[24:])]
    return lines


def chunks(how="old"):
    sign = "#" if how == "old" else ":"
    return [
        {"id": f"{page}{sign}{n}", "text": text, "metadata": {"document_id": page}}
        for page in PAGES
        for n, text in enumerate(cut(page, how), 1)
    ]


def words(text):
    return {w.strip(".,?").lower() for w in text.split()}


def ask(query, top_k, how):
    ranked = sorted(chunks(how), key=lambda c: -len(words(query) & words(c["text"])))
    return ranked[0]["text"], ranked[:top_k]
"""

CONFTEST = """
import pathlib
import pytest
import shop


@pytest.fixture(scope="session")
def rag():
    pathlib.Path("called").touch()
    return lambda query, top_k: shop.ask(query, top_k, {how!r})


@pytest.fixture(scope="session")
def auepora_corpus_ids():
    return shop.chunks({how!r})
"""

GOLDEN = """\
suite: shop          # chunks as the index names them
top_k: 2
metrics: [recall@2, mrr@2, token_f1]
thresholds: {recall@2: 1.0}
cases:
  - id: window       # asked most
    query: When can a refund be asked for?
    relevant_docs: [ 'refunds#2' ]   # within 30 days
  - id: tracking
    query: What tells me where my parcel is?
    relevant_docs:
      - {id: "delivery#3", grade: 2}
  - id: quoted
    query: Are gift cards final?
    relevant_docs: [{doc: refunds, quote: Gift cards are final}]
"""


@pytest.fixture
def shop(project: Example) -> Example:
    """A suite accepted under the old chunks, with its history."""
    project.write("shop.py", PAGES)
    project.write("shop.golden.yaml", GOLDEN)
    rechunk(project, "old")
    project.accept()
    (project.path / "called").unlink()
    return project


def rechunk(project: Example, how: str) -> None:
    project.write("conftest.py", CONFTEST.format(how=how))


def called(project: Example) -> bool:
    return (project.path / "called").exists()


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


def test_the_score_does_not_pretend_to_have_fallen(shop: Example) -> None:
    rechunk(shop, "merged")
    result = shop.run()
    assert result.ret == 0, str(result.stdout)
    result.stdout.fnmatch_lines([
        "same: 3 unchanged",
        "recall@2  1.000  3/3     1.000   0.000  ✓ >= 1",
        "labels moved in 2 of 3 cases: 1 merged, 1 re-anchorable; cases matched 1 by",
        "retrieval not comparable in 1 case: chunker_version_match exact → span",
    ])  # fmt: skip


def test_without_a_corpus_the_same_change_reads_as_a_fall(shop: Example) -> None:
    rechunk(shop, "merged")
    shop.edit("def auepora_corpus_ids", "def something_else", "conftest.py")
    result = shop.run("-rf")
    assert result.ret == 1
    assert "regression: recall@2" in gates(result)


def test_scores_by_passage_compare_with_scores_by_passage(shop: Example) -> None:
    rechunk(shop, "merged")
    shop.accept()
    assert json.loads(shop.baseline.read_text())["cases"]["window"]["match"] == "span"
    assert "not comparable" not in str(shop.run().stdout)
    shop.edit("ranked[:top_k]", "ranked[-top_k:]", "shop.py")
    assert "regression: recall@2" in gates(shop.run("-rf"))


def test_strict_refuses_what_is_not_the_same_chunk(shop: Example) -> None:
    rechunk(shop, "merged")
    result = shop.run("--auepora-labels=strict")
    assert result.ret == 1
    assert gates(result) == ["coverage: labels"]
    result.stdout.fnmatch_lines(["*labels moved: refunds#2*", "*chunker_version_match exact → none"])


def test_an_unknown_label_is_na_and_fails_coverage(shop: Example) -> None:
    shop.edit("'refunds#2'", "gone#7")
    shop.edit("delivery#3", "delivery#4")
    shop.write("old.jsonl", '{"id": "delivery#4", "doc": "delivery"}\n')
    result = shop.run("--auepora-labels=old=old.jsonl")
    assert result.ret == 1
    assert gates(result) == ["coverage: labels"]
    result.stdout.fnmatch_lines([
        "*gone#7: moved labels without a match*", "recall@2  1.000  2/3*",
        "labels moved in 2 of 3 cases: 2 orphaned; cases matched 1 by document", "*(fallback_doc)*",
    ])  # fmt: skip


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
    assert "--auepora-labels old=none.jsonl" in str(broken.stdout) + str(broken.stderr)
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
    assert "no file matches" not in str(shop.run().stdout)


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


def test_fixture_and_marker_score_moved_labels_alike(shop: Example) -> None:
    rechunk(shop, "merged")
    shop.write("test_it.py", """
import pytest

def test_suite(auepora):
    run = auepora.evaluate("shop.golden.yaml")
    assert run["recall@2"] >= 1.0
    run.assert_no_regression()

@pytest.mark.auepora("shop.golden.yaml")
def test_case(auepora_case):
    assert auepora_case["recall@2"] >= 1.0
""")  # fmt: skip
    shop.run("test_it.py", auepora=False).assert_outcomes(passed=4)


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


def test_a_failing_case_says_how_its_moved_label_matched(shop: Example) -> None:
    rechunk(shop, "merged")
    shop.edit("ranked[:top_k]", "ranked[-1:]", "shop.py")
    result = shop.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["moved      delivery#3 (re-anchorable), matched: exact: delivery:3"])


def test_a_golden_file_that_cannot_be_written_fails_and_stays(shop: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, text: str) -> None:
        raise NotWrittenError(f"{path}: cannot be written: Read-only file system")

    rechunk(shop, "merged")
    monkeypatch.setattr(repair, "write_atomically", refuse)
    result = shop.run("--auepora-labels=repair", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["nothing was rewritten: *cannot be written*", "left to people: 2 labels"])
    assert shop.golden.read_text() == GOLDEN


def test_citations_resolve_in_the_corpus_of_the_project(shop: Example) -> None:
    answer = "lambda query: {'answer': 'So it is.', 'documents': [], 'citations': ['delivery', CITED]}"
    conftest = CONFTEST.format(how="old").replace("lambda query, top_k: shop.ask(query, top_k, 'old')", answer)
    shop.write("shop.golden.yaml", GOLDEN.replace("token_f1]", "citation_coverage]").replace("recall@2: 1.0", ""))
    for cited, value in (("refunds#1", 1.0), ("refunds#9", 0.0)):
        shop.write("conftest.py", conftest.replace("CITED", repr(cited)))
        for arguments in ((), ("--auepora-replay=last",)):
            shop.run(*arguments, "--auepora-report=json:rag.json")
            run = json.loads((shop.path / "rag.json").read_text(encoding="utf-8"))["suites"][0]["run"]
            assert [case["scores"]["citation_coverage"]["value"] for case in run["cases"].values()] == [value] * 3
