"""The page of metric names: every name of the other tools stands on it, and every name beside it is one of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module

import pytest

from pytest_auepora.io.golden.fields import golden_schema
from pytest_auepora.io.importers.promptfoo_assertions import KNOWN_TYPES
from pytest_auepora.io.importers.ragas import SCORES
from pytest_auepora.metrics.registry import Registry

from .pages import PAGES

TEXT = (PAGES / "how-to" / "metric-names.md").read_text(encoding="utf-8")
ROWS = {
    part.partition("\n")[0]: [
        [cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("| ")
    ][1:]
    for part in TEXT.split("\n## ")[1:]
}


def named(tool: str) -> set[str]:
    return {name for row in ROWS[tool] for name in re.findall("`([^`]+)`", row[0])}


def missing(tool: str, names: Iterable[str]) -> list[str]:
    return sorted(set(names) - named(tool))


def test_every_score_that_the_import_knows_is_on_the_page() -> None:
    assert missing("ragas", SCORES) == []


def test_every_assertion_that_the_import_knows_is_on_the_page() -> None:
    assert missing("promptfoo", KNOWN_TYPES) == []


def test_no_tool_has_a_name_twice() -> None:
    for tool, rows in ROWS.items():
        names = [name for row in rows for name in re.findall("`([^`]+)`", row[0])]
        assert sorted(names) == sorted(set(names)), tool


@pytest.mark.parametrize("tool", ROWS)
def test_what_stands_beside_a_name_is_ours(tool: str) -> None:
    """A metric, a key of a golden file, or a command."""
    registry, keys = Registry(), set(re.findall(r"'(\w+)': {'", str(golden_schema())))
    for row in ROWS[tool]:
        assert len(row) == 3, row
        assert "`" in row[1] or "no equal" in row[1] or "[" in row[1], f"{row[0]}: what measures it here?"
        for name in re.findall("`([^`]+)`", row[1]):
            if name.partition(":")[0] not in keys and not name.startswith("auepora "):
                registry.get(name)


@pytest.mark.parametrize(
    ("module", "tool", "ending"),
    [("deepeval.metrics", "deepeval", "Metric|GEval"), ("pydantic_evals.evaluators", "pydantic-evals", "\\w+")],
)
def test_every_class_of_a_tool_is_on_the_page(module: str, tool: str, ending: str) -> None:
    pytest.importorskip(module, reason=f"{tool} is not installed (group peers)")
    classes = [n for n in dir(import_module(module)) if re.fullmatch(f"[A-Z]\\w*({ending})", n) and "Base" not in n]
    helpers = {"EvaluatorContext", "EvaluationReason", "EvaluatorFailure", "EvaluatorOutput", "EvaluatorSpec",
               "EvaluationResult", "Evaluator", "ReportEvaluator", "ReportEvaluatorContext", "OutputConfig",
               "ArgumentMatchMode", "ArgumentOccurrence"}  # fmt: skip
    assert missing(tool, set(classes) - helpers) == []
