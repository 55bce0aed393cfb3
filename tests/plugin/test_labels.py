"""Labels whose chunk ids are gone: reported before any call, repaired where provable, scored by passage meanwhile."""

from __future__ import annotations

import json

from .conftest import Example
from .listening import gates
from .rechunked import CONFTEST, GOLDEN, rechunk


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
    told = ["*coverage: refunds#2: moved labels without a match*", "*chunker_version_match exact → none"]
    result.stdout.fnmatch_lines(told)


def test_an_unknown_label_is_na_and_fails_coverage(shop: Example) -> None:
    shop.edit("'refunds#2'", "gone#7")
    shop.edit("delivery#3", "delivery#4")
    shop.write("old.jsonl", '{"id": "delivery#4", "doc": "delivery"}\n')
    result = shop.run("--auepora-labels=old=old.jsonl")
    assert result.ret == 1
    assert gates(result) == ["coverage: labels"]
    result.stdout.fnmatch_lines([
        "recall@2  1.000  2/3*", "*gone#7: moved labels without a match*",
        "labels moved in 2 of 3 cases: 2 orphaned; cases matched 1 by document", "*(fallback_doc)*",
    ])  # fmt: skip


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


def test_a_failing_case_says_how_its_moved_label_matched(shop: Example) -> None:
    rechunk(shop, "merged")
    shop.edit("ranked[:top_k]", "ranked[-1:]", "shop.py")
    result = shop.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["moved      delivery#3 (re-anchorable), matched: exact: delivery:3"])


def test_citations_resolve_in_the_corpus_of_the_project(shop: Example) -> None:
    answer = "lambda query: {'answer': 'So it is.', 'documents': [], 'citations': ['delivery', CITED]}"
    conftest = CONFTEST.format(how="old").replace("lambda query, top_k: shop.ask(query, top_k, 'old')", answer)
    shop.write("shop.golden.yaml", GOLDEN.replace("token_f1]", "citation_coverage]").replace("recall@2: 1.0", ""))
    # of another length: byte code of a file written in the same second is told by its size
    for cited, value in (("refunds#1", 1.0), ("refunds#99", 0.0)):
        shop.write("conftest.py", conftest.replace("CITED", repr(cited)))
        for arguments in ((), ("--auepora-replay=last",)):
            shop.run(*arguments, "--auepora-report=json:rag.json")
            run = json.loads((shop.path / "rag.json").read_text(encoding="utf-8"))["suites"][0]["run"]
            assert [case["scores"]["citation_coverage"]["value"] for case in run["cases"].values()] == [value] * 3
