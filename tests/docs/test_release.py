"""What a release runs: on every supported Python, with no secret, publishing only what was tested."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.io.golden.fields import golden_schema
from pytest_auepora.reporting.formats.json_report import report_schema, side_by_side_schema

from .pages import ROOT

RELEASE: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
PROJECT = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(
    (ROOT / "pyproject.toml").read_text(encoding="utf-8")
)["project"]


def test_the_wheel_is_tested_on_every_supported_python() -> None:
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if "Python :: 3." in text]
    assert RELEASE["jobs"]["test"]["strategy"]["matrix"]["python"] == named


def test_only_what_was_tested_is_published_and_without_a_secret() -> None:
    jobs = RELEASE["jobs"]
    assert (jobs["test"]["needs"], jobs["publish"]["needs"]) == ("build", "test")
    assert RELEASE["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert "secrets." not in str(RELEASE)
    assert any("gh-action-pypi-publish" in step.get("uses", "") for step in jobs["publish"]["steps"])


def test_the_build_is_told_its_address() -> None:
    (build,) = (step for step in RELEASE["jobs"]["build"]["steps"] if step.get("run") == "python -m build")
    assert "AUEPORA_REPOSITORY" in build["env"]
    assert "AUEPORA_REPOSITORY" in (ROOT / "hatch_build.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("schema", [golden_schema, report_schema, side_by_side_schema])
def test_every_schema_has_an_address_of_its_own(schema: Callable[[], dict[str, Any]]) -> None:
    assert re.fullmatch(r"urn:pytest-auepora:schema:[a-z-]+(:\d+)?", schema()["$id"])


def test_what_waits_for_an_address_is_one_list() -> None:
    """Every placeholder is in a file that the list names."""
    listed = (ROOT / "docs/developers/releasing.md").read_text(encoding="utf-8").partition("## What waits")[2]
    files = [path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if path.name != "CHANGELOG.md"]
    waiting = {p.relative_to(ROOT).as_posix() for p in files if "OWNER/pytest-auepora" in Path(p).read_text("utf-8")}
    assert waiting - {"docs/developers/releasing.md"} == {"docs/pages/how-to/ci.md"}
    assert "docs/pages/how-to/ci.md" in listed
