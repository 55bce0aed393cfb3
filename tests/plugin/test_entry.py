"""Installed and not asked for, the plugin costs the import of its entry module; what is heavy is imported when used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_auepora.pytest_plugin import entry

from .conftest import ENTRY, Example, alone

PROGRAM = """
import sys
import pytest

class Dump:
    def pytest_sessionfinish(self):
        print("\\nMODULES", *sorted(sys.modules))

raise SystemExit(pytest.main(["-q", *sys.argv[1:]], plugins=[Dump()]))
"""


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    rag = "import pytest\n@pytest.fixture\ndef rag():\n    return lambda q: ('a', ['d'])"
    pytester.makepyfile(test_x="def test_x(): pass", program=PROGRAM, conftest=rag)
    return pytester.path


def modules(pytester: pytest.Pytester, *args: str, plugin: str = ENTRY) -> set[str]:
    with alone():
        result = pytester.run(sys.executable, "program.py", "test_x.py", "-p", plugin, *args)
    assert result.ret == 0, str(result.stdout) + str(result.stderr)
    (line,) = [line for line in result.outlines if line.startswith("MODULES")]
    return set(line.split()[1:])


def test_only_options_and_hook_signatures_are_imported(pytester: pytest.Pytester, folder: Path) -> None:
    assert modules(pytester) - modules(pytester, plugin="keyword") <= {
        "pytest_auepora",
        "pytest_auepora.pytest_plugin",
        "pytest_auepora.pytest_plugin.entry",
        "pytest_auepora.hookspecs",
        "pytest_auepora.pytest_plugin.options",
    }


def test_a_run_of_retrieval_metrics_imports_nothing_heavy(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "a.golden.yaml").write_text(
        "metrics: [recall@5, mrr]\ncases:\n  - {id: a, query: b, relevant_docs: [c]}\n"
    )
    seen = modules(pytester, "--auepora", "-o", "auepora_history=off", "a.golden.yaml")  # keeping it takes sqlite3
    assert "pytest_auepora.metrics.retrieval_basic" in seen
    assert not seen & {
        "numpy",
        "scipy",
        "nltk",
        "rouge_score",
        "sacrebleu",
        "portalocker",
        "pydantic",
        "regex",
        "sqlite3",
    }


@pytest.mark.slow
def test_a_case_with_baseline_and_history_imports_what_it_uses(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "a.golden.yaml").write_text(
        "metrics: [recall@5, ndcg@10, mrr, exact_match, token_f1]\n"
        "cases:\n  - id: a\n    query: b\n    relevant_docs: [d]\n    reference_answer: a\n"
    )
    modules(pytester, "--auepora-update", "a.golden.yaml")
    seen = modules(pytester, "--auepora", "a.golden.yaml")
    assert {
        "pytest_auepora.regression.compare",
        "pytest_auepora.metrics.generation_overlap",
        "pydantic",
        "sqlite3",
    } <= seen
    frameworks = {f"pytest_auepora.adapters.{name}" for name in ("haystack", "langchain", "llamaindex")}
    heavy = {"asyncio", "jinja2", "multiprocessing", "numpy", "statistics"}
    assert not seen & {*frameworks, *heavy, "nltk", "portalocker", "rouge_score", "sacrebleu", "tqdm"}


ALONE = ["--auepora-update", "--auepora-replay", "--auepora-resume", "--auepora-suggest"]


@pytest.mark.parametrize("option", ALONE)
def test_a_folder_behind_an_option_brings_its_options(pytester: pytest.Pytester, option: str) -> None:
    pytester.mkdir("project").joinpath("conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--theirs', action='store_true')\n"
    )
    with alone():
        result = pytester.runpytest_inprocess(option, "project", "--theirs", plugins=[entry])
    assert "unrecognized arguments" not in str(result.stderr)


@pytest.mark.parametrize("word", ["new", "all", "last"])
def test_a_path_is_a_path_even_if_it_is_called_as_a_word(project: Example, word: str) -> None:
    project.write(
        f"{word}/test_it.py", "def test_it(request):\n    assert request.config.option.auepora_update == 'all'\n"
    )
    result = project.run("--auepora-update", word)
    assert result.parseoutcomes() == {"passed": 1}


@pytest.mark.parametrize("option", ALONE)
def test_a_word_without_its_equals_sign_is_told(project: Example, option: str) -> None:
    result = project.run(option, "anchor")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = f"ERROR: there is no anchor; words follow {option} after `=`: {option}=anchor"
    result.stderr.fnmatch_lines([f"*{said}*"])


def test_a_word_in_addopts_is_told_as_well(project: Example) -> None:
    project.pytester.makeini("[pytest]\naddopts = --auepora-update new")
    assert project.run("shop.golden.yaml").ret == pytest.ExitCode.USAGE_ERROR
    project.pytester.makeini("[pytest]\naddopts = --auepora-update=new")
    assert project.run("shop.golden.yaml").ret == 0
