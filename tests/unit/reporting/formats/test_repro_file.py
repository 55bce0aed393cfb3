"""The file in which a case fails by itself: what a person wrote cannot get out of its place."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from pytest_auepora.cause.repro import Repro
from pytest_auepora.core.findings import Finding
from pytest_auepora.reporting.formats.repro_file import file_name, repro_text

HOSTILE = 'x"""\nimport os  # \\N{BULLET} {braces} \x1b[31m'


def repro(case_id: str = "refund", **changes: Any) -> Repro:
    finding = Finding("assertion", changes.pop("metric", "must_contain"), held=2, accepted=2, asked=4, needed=4)
    values: dict[str, Any] = {
        "suite": "shop", "case_id": case_id, "run_id": "r1", "findings": [finding], "golden": {"cases": []},
        "baseline": "", "answers": [{"answer": "Never."}], "provenance": {}, "pins": ["pytest-auepora==1.2"],
    }  # fmt: skip
    return Repro(**{**values, **changes})


def test_it_is_python_that_says_what_failed() -> None:
    text = repro_text(repro(), "repro_refund.py")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring is not None
    assert "FAILED refund must_contain: held in 2 of 2 accepted answers, failed 4 of 4 today (4 needed)" in docstring
    assert '#   "pytest-auepora==1.2",' in text.splitlines()
    assert "def test_refund():" in text


@pytest.mark.parametrize("where", ["case_id", "suite", "answers", "golden", "provenance", "metric"])
def test_texts_of_others_stay_texts(where: str) -> None:
    value = {"answers": [{"answer": HOSTILE}], "golden": {"q": HOSTILE}, "provenance": {"m": HOSTILE}}.get(
        where, HOSTILE
    )
    changes: dict[str, Any] = {where: value}
    tree = ast.parse(repro_text(repro(**changes), "repro.py"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"json", "sys", "tempfile"}
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }  # fmt: skip
    if where in ("answers", "golden", "provenance"):
        assert values[where.upper()] == value


@pytest.mark.parametrize(
    ("case_id", "name"),
    [
        ("hire-length", "hire_length"),
        ("class", "class_"),
        ("../../etc/x", "etc_x"),
        ("…", "case"),
        ("7 days", "7_days"),
    ],
)
def test_files_and_functions_have_names_that_may_be(case_id: str, name: str) -> None:
    assert file_name(case_id) == f"repro_{name}.py"
    ast.parse(repro_text(repro(case_id), "repro.py"))
