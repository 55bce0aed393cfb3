"""Why there is no baseline, in words that show where another one lies."""

from __future__ import annotations

from pathlib import Path

from pytest_auepora.evaluation.suite import evaluate
from pytest_auepora.evaluation.suite_run import find_baseline
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.regression.accept import accept
from pytest_auepora.regression.baseline import baseline_path


def test_variants_are_told_of_the_baseline_without_variants(tmp_path: Path) -> None:
    path = tmp_path / "shop.golden.yaml"
    path.write_text("suite: shop\nmetrics: [mrr]\ncases: [{id: a, query: b, relevant_docs: [c]}]\n", encoding="utf-8")
    suite = load_golden(path)
    assert find_baseline(suite, "bm25") == (None, "no baseline yet (shop@bm25.json)")
    run = evaluate(suite, lambda query: (query, ["c"])).run
    assert accept(baseline_path(path, "shop", ""), run, ["all"]).written
    assert find_baseline(suite)[1] == ""
    assert find_baseline(suite, "bm25") == (None, "no baseline yet (shop@bm25.json; shop.json is of no variant)")
