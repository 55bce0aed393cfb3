"""Installed and not asked for, the plugin costs the import of its entry module."""

from __future__ import annotations

import sys

import pytest

PROGRAM = """
import sys
import pytest

class Dump:
    def pytest_sessionfinish(self):
        print("\\nMODULES", *sorted(sys.modules))

raise SystemExit(pytest.main(["-q", "test_x.py", *sys.argv[1:]], plugins=[Dump()]))
"""


def modules(pytester: pytest.Pytester, *args: str, ret: int = 0) -> set[str]:
    result = pytester.run(sys.executable, "program.py", *args)
    assert result.ret == ret, str(result.stdout) + str(result.stderr)
    (line,) = [line for line in result.outlines if line.startswith("MODULES")]
    return set(line.split()[1:])


def test_only_options_and_hook_signatures_are_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_x="def test_x(): pass", program=PROGRAM)
    without = modules(pytester, "-p", "no:auepora")
    extra = modules(pytester) - without
    assert extra <= {
        "pytest_auepora",
        "pytest_auepora.pytest_plugin",
        "pytest_auepora.pytest_plugin.entry",
        "pytest_auepora.pytest_plugin.hooks",
        "pytest_auepora.pytest_plugin.options",
    }


def test_a_run_of_retrieval_metrics_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_x="def test_x(): pass",
        program=PROGRAM,
        conftest="import pytest\n@pytest.fixture\ndef rag():\n    return lambda q: ('a', ['d'])",
    )
    path = pytester.path / "a.golden.yaml"
    path.write_text("metrics: [recall@5, mrr]\ncases:\n  - {id: a, query: b, relevant_docs: [c]}\n")
    seen = modules(pytester, "--auepora", "-o", "auepora_history=off", "a.golden.yaml")  # keeping it takes sqlite3
    assert "pytest_auepora.metrics.retrieval_basic" in seen
    heavy = {"numpy", "scipy", "nltk", "rouge_score", "sacrebleu", "portalocker", "sqlite3"}
    assert not (seen & heavy) - modules(pytester)


def test_a_case_with_baseline_and_history_imports_what_it_uses(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_x="def test_x(): pass",
        program=PROGRAM,
        conftest="import pytest\n@pytest.fixture\ndef rag():\n    return lambda q: ('a', ['d'])",
    )
    (pytester.path / "a.golden.yaml").write_text(
        "metrics: [recall@5, ndcg@10, mrr, exact_match, token_f1]\n"
        "cases:\n  - id: a\n    query: b\n    relevant_docs: [d]\n    reference_answer: a\n"
    )
    idle = modules(pytester)
    modules(pytester, "--auepora-update", "a.golden.yaml")
    seen = modules(pytester, "--auepora", "a.golden.yaml") - idle
    assert {"pytest_auepora.regression.compare.cases", "pytest_auepora.metrics.generation_overlap", "sqlite3"} <= seen
    ours = {name.removeprefix("pytest_auepora.") for name in seen if name.startswith("pytest_auepora.")}
    elsewhere = {
        "adapters.haystack", "adapters.langchain", "adapters.llamaindex", "calls.seeding", "core.batches",
        "metrics.extensions", "metrics.generation.assertions", "metrics.robustness",
        "regression.accept", "regression.statistics.bootstrap", "regression.statistics.signflip",
        "reporting.diagnosis", "reporting.formats", "reporting.side_by_side",
    }  # fmt: skip
    assert not ours & elsewhere
    outside = {"asyncio", "concurrent.futures.process", "fractions", "jinja2", "multiprocessing", "numpy", "statistics"}
    assert not (outside | {"nltk", "portalocker", "rouge_score", "sacrebleu", "tqdm"}) & seen
