"""Settings in every form of file that pytest reads: the values of the page of options."""

from __future__ import annotations

import json
import re
import sys
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path

import pytest

from .conftest import Example

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "reference" / "options.md"
INI, TOML = re.findall(r"^```(?:ini|toml) title=\S+\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
VALUES = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(TOML)["tool"]["pytest"]
TELL = """
def pytest_configure(config):
    import json, pathlib
    from pytest_auepora.pytest_plugin.options import Options, flag, is_asked_for, lines_of, words_of

    seen = Options(config)
    names = "accepted", "calibrations", "judge", "reference"
    told = {
        "auepora": is_asked_for(config), "auepora_concurrency": seen.concurrency, "auepora_timeout": seen.timeout,
        "auepora_retry": words_of(config, "auepora_retry"), "auepora_keep": [seen.keep.runs, seen.keep.answers],
        "auepora_history": seen.history_place.relative_to(config.rootpath).as_posix(),
        "auepora_report": lines_of(config, "auepora_report"),
        "auepora_junit_properties": flag(config, "auepora_junit_properties"),
        **{f"auepora_{name}": words_of(config, f"auepora_{name}") for name in ("budget", "files", "github", "plugins")},
        **{f"auepora_{name}": config.getini(f"auepora_{name}") for name in names},
    }
    pathlib.Path("seen.json").write_text(json.dumps(told))
"""
native = pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest reads native TOML from 9.0 on")


def as_texts(table: str) -> str:
    """The values of the ini file, each a text of TOML."""
    parser = ConfigParser()
    parser.read_string(INI)
    return "\n".join([f"[{table}]", *(f"{name} = {json.dumps(text)}" for name, text in parser["pytest"].items())])


def test_the_page_has_a_value_of_every_setting() -> None:
    rows = re.findall(r"^\| `(auepora\w*)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert VALUES.keys() == set(rows)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", INI),
        ("setup.cfg", INI.replace("[pytest]", "[tool:pytest]")),
        ("pyproject.toml", TOML.replace("[tool.pytest]", "[tool.pytest.ini_options]")),
        ("pyproject.toml", as_texts("tool.pytest.ini_options")),
        pytest.param("pyproject.toml", TOML, marks=native),
        pytest.param("pyproject.toml", as_texts("tool.pytest"), marks=native),
        pytest.param("pytest.toml", TOML.replace("[tool.pytest]", "[pytest]"), marks=native),
        pytest.param("pytest.toml", as_texts("pytest"), marks=native),
    ],
)
def test_every_setting_can_stand_in_every_form(project: Example, file: str, text: str) -> None:
    (project.path / "tox.ini").unlink()
    project.conftest(TELL)
    project.write("judge.yaml", "model: m\n")
    project.write(file, text)
    project.run("--collect-only", auepora=False)
    assert json.loads(project.read("seen.json")) == VALUES | {"auepora_keep": [50, 1]}


@native
@pytest.mark.parametrize("line", ["auepora_concurrency = 'many'", "auepora = 'perhaps'", "auepora_keep = 5"])
def test_values_of_native_toml_that_cannot_be_read(project: Example, line: str) -> None:
    (project.path / "tox.ini").unlink()
    project.write("pytest.toml", f"[pytest]\n{line}\n")
    result = project.run("--auepora-report=json:r.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"{line.partition(' ')[0]}: " in str(result.stderr)
