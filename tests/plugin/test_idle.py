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


def modules(pytester: pytest.Pytester, *args: str) -> set[str]:
    result = pytester.run(sys.executable, "program.py", *args)
    assert result.ret == 0, str(result.stdout) + str(result.stderr)
    (line,) = [line for line in result.outlines if line.startswith("MODULES")]
    return set(line.split()[1:])


def test_only_the_entry_module_and_its_hook_signatures_are_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_x="def test_x(): pass", program=PROGRAM)
    without = modules(pytester, "-p", "no:auepora")
    extra = modules(pytester) - without
    assert extra <= {
        "pytest_auepora",
        "pytest_auepora.pytest_plugin",
        "pytest_auepora.pytest_plugin.entry",
        "pytest_auepora.pytest_plugin.hooks",
    }


def test_a_run_of_retrieval_metrics_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_x="def test_x(): pass",
        program=PROGRAM,
        conftest="import pytest\n@pytest.fixture\ndef rag():\n    return lambda q: ('a', ['d'])",
    )
    path = pytester.path / "a.golden.yaml"
    path.write_text("metrics: [recall@5, mrr]\ncases:\n  - {id: a, query: b, relevant_docs: [c]}\n")
    seen = modules(pytester, "--auepora", "--auepora-no-history", "a.golden.yaml")  # keeping it takes sqlite3
    assert "pytest_auepora.metrics.retrieval_basic" in seen
    heavy = {"numpy", "scipy", "nltk", "rouge_score", "sacrebleu", "portalocker", "sqlite3"}
    assert not (seen & heavy) - modules(pytester)
