"""The reference pages: as the code would write them now, and with nothing left out."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.scoring import Score
from pytest_auepora.io.golden.fields import golden_schema
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.checks import ASSERTIONS
from pytest_auepora.reporting.formats.registry import FORMATS
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.sentences import CaseSentences, Sentences

from .pages import PAGES, ROOT

REFERENCE = PAGES / "reference"


@pytest.fixture(scope="module")
def pages() -> Any:
    """The package that writes the pages; it stands beside them, not in the distribution."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        yield import_module("reference_pages")
    for name in [m for m in sys.modules if m.partition(".")[0] == "reference_pages"]:
        del sys.modules[name]


def read(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_the_committed_pages_are_what_the_code_says(pages: Any) -> None:
    assert len(pages.PAGES) >= 4
    assert [name for name, make in pages.PAGES.items() if read(name) != make()] == [], "run python docs/generate.py"


def test_every_spelling_of_the_registry_appears() -> None:
    text = read("metrics.md")
    assert [s for s in Registry().spellings() if f"`{s}`" not in text] == []


def test_every_metric_says_its_source_and_oracle(pages: Any) -> None:
    silent = [
        f"{spelling}: {field}"
        for spelling, metric in pages.metrics.all_metrics()
        for field in ("formula", "source", "oracle", "__doc__")
        if not str(getattr(metric, field) or "").strip()
    ]
    assert silent == []


def test_what_the_page_of_python_says_of_results_is_there() -> None:
    text, name = read("python.md"), re.compile(r"`(\w+)`")
    ((case, score),) = re.findall(r"A `CaseResult` has (.*?); a `Score` has (.*?)\.\n", text, re.DOTALL)
    assert [n for n in name.findall(case) if not hasattr(CaseResult, n)] == []
    assert [n for n in name.findall(re.sub(r"\(.*?\)", "", score, flags=re.DOTALL)) if not hasattr(Score, n)] == []
    table = text.partition("\n## `Report`")[2].partition("\n## ")[0]
    assert [n for n in re.findall(r"`report\.(\w+)`", table) if not hasattr(Report, n)] == []
    assert {field.name for kind in (Sentences, CaseSentences) for field in fields(kind)} <= set(name.findall(table))


def test_every_section_has_all_its_rows() -> None:
    sections = read("metrics.md").split("\n## ")[1:]
    assert len(sections) > 50
    for section in sections:
        rows = dict(re.findall(r"^\| (\w[\w ]*) \| (.*) \|$", section, re.MULTILINE))
        expected = ["Target", "Formula", "Range", "Needs", "Options", "Source", "Held to", "Class"]
        assert list(rows) == expected, section
        assert all(value.strip() for value in rows.values()), section


def test_a_metric_says_without_what_it_is_not_applicable() -> None:
    sections = dict(part.split("\n", 1) for part in read("metrics.md").split("\n## ")[1:])
    assert "| Needs | n/a if: no entities |" in sections["CoverageEntities"]
    assert "| Needs | n/a if: neither claims nor reference_answer |" in sections["ClaimRecall"]
    assert "| Needs | no annotation |" in sections["Faithfulness"]


def test_every_key_of_a_golden_file_is_described() -> None:
    text = read("golden-file.md")
    told = [*descriptions(golden_schema())]
    assert len(told) > 80
    assert [one for one in told if one.replace("|", "\\|") not in text] == []


def descriptions(node: Any) -> Iterator[str]:
    """Yield what a schema says of its properties."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and isinstance(properties := node.get("properties"), dict):
        yield from (entry["description"] for entry in properties.values() if "description" in entry)
    for child in children:
        yield from descriptions(child)


def test_every_option_setting_command_and_hook_is_listed(pages: Any) -> None:
    text = read("options.md")
    seen = pages.options.declared()
    assert all(f"| `{names[0]}" in text for names, _ in seen.options)
    assert all(f"| `{name}` |" in text for name, *_ in seen.settings)
    commands = read("commands.md")
    assert all(f"\n## `auepora {name}`\n" in commands for name in pages.commands.commands())
    assert "| `--rag RAG` | what your system is (default: function): function, async, http," in commands
    hooks = import_module("pytest_auepora.hookspecs")
    assert [h for h in vars(hooks) if h.startswith("pytest_auepora_") and f"### `{h}(" not in text] == []


def test_every_assertion_is_on_the_page_of_what_fails() -> None:
    text = (PAGES / "what-fails.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| An assertion does not hold: ")]
    assert set(re.findall(r"`(\w+)`", row.split(" | ")[0])) == ASSERTIONS.keys()


@pytest.mark.parametrize("kind", FORMATS)
def test_every_report_format_is_listed(kind: str) -> None:
    row = next(line for line in read("options.md").splitlines() if line.startswith("| `--auepora-report "))
    assert kind in re.findall(r"\w+", row.partition("KIND: ")[2]), "name it in the help of --auepora-report, entry.py"
    reports = (PAGES / "how-to" / "reports.md").read_text(encoding="utf-8")
    assert f"\n| `{kind}` | " in reports, "how-to/reports.md: a row"
