"""The public names: listed once, loadable, and all that the documentation imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_auepora
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.metrics.judge.critic import LLMCritic

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "pages").rglob("*.md"))]
SEEDS = (
    "core.types", "core.targets", "core.rag_interface", "core.dataset", "core.metrics_base", "core.plan", "core.runner",
    "metrics.retrieval_basic", "metrics.retrieval_ranking", "metrics.generation_text", "metrics.generation_overlap",
    "metrics.generation_semantic", "metrics.generation_llm_judge", "metrics.robustness", "metrics.additional",
    "io.jsonl", "io.parquet", "reporting.tables",
)  # fmt: skip


def imports_of(page: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import from this package in the Python blocks of a page."""
    for block in re.findall(r"```python[^\n]*\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pytest_auepora":
                yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("name", pytest_auepora.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(pytest_auepora, name).__doc__


def test_public_names_are_sorted_and_listed_by_dir() -> None:
    assert sorted(pytest_auepora.__all__) == pytest_auepora.__all__
    assert set(pytest_auepora.__all__) <= set(dir(pytest_auepora))


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import sys, pytest_auepora; print([m for m in sys.modules if m.startswith('pytest_auepora.')])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_modules_of_the_specification_are_there(seed: str) -> None:
    assert __import__(f"pytest_auepora.{seed}", fromlist=["_"]).__doc__


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("retrieval_basic", ["RecallAtK", "PrecisionAtK", "HitRateAtK"]),
        ("retrieval_ranking", ["MRRAtK", "MeanAveragePrecision", "NDCGAtK"]),
        ("generation_overlap", ["ExactMatch", "TokenF1", "Rouge1", "Rouge2", "RougeL", "EvidenceOverlapFaithfulness"]),
        ("generation_semantic", ["BertScoreMetric", "EmbeddingSimilarity"]),
        ("generation_llm_judge", ["LLMCritic", "LLMFaithfulnessScore", "LLMAnswerQuality"]),
        ("robustness", ["NoiseRobustness", "NegativeRejectionRate", "CounterfactualConsistency"]),
        ("additional", ["MeanLatency", "QuantileLatency", "DistinctN", "IntraListDiversity"]),
    ],
)
def test_modules_of_metrics_have_the_specified_classes(module: str, names: list[str]) -> None:
    found = __import__(f"pytest_auepora.metrics.{module}", fromlist=["_"])
    assert all(issubclass(getattr(found, name), (Metric, LLMCritic)) for name in names)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs" / "pages").rglob("*.md"))], ids=lambda p: p.name
)
def test_pages_import_public_names_only(page: Path) -> None:
    public = {"pytest_auepora", *(f"pytest_auepora.{seed}" for seed in SEEDS)}
    found = {(module, name) for module, name in imports_of(page) if module not in public}
    assert not found
    assert {name for module, name in imports_of(page) if module == "pytest_auepora"} <= set(pytest_auepora.__all__)


def test_the_version_is_that_of_the_distribution() -> None:
    declared = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert declared is not None
    assert declared[1] == pytest_auepora.__version__
