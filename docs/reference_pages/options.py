"""The page of command-line options, settings and hooks, as the plugin declares them to pytest."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from pytest_auepora import hookspecs
from pytest_auepora.pytest_plugin import entry

from .layout import cell

__all__ = ["Declared", "declared", "options_page"]


@dataclass
class Declared:
    """Stands in for pytest's parser, and writes down what the plugin tells it."""

    options: list[tuple[tuple[str, ...], dict[str, Any]]] = field(default_factory=list)
    settings: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def getgroup(self, *_: str) -> Declared:
        """Every option goes to the same list."""
        return self

    def addoption(self, *names: str, **how: Any) -> None:
        """Take an option of the command line."""
        self.options.append((names, how))

    def addini(self, name: str, help: str, **how: Any) -> None:  # pytest's own name for the text
        """Take a setting."""
        self.settings.append((name, help, how))


def declared() -> Declared:
    """Return everything that the plugin declares."""
    seen = Declared()
    entry.pytest_addoption(cast(pytest.Parser, seen))
    return seen


CORE_OPTIONS = (
    "--auepora", "--auepora-update", "--auepora-require-baseline", "--auepora-report", "--auepora-concurrency",
    "--auepora-replay",
)  # fmt: skip
CORE_SETTINGS = (
    "auepora", "auepora_concurrency", "auepora_timeout", "auepora_retry", "auepora_keep", "auepora_history"
)  # fmt: skip


_EXAMPLES: dict[str, Any] = {
    "auepora": True,
    "auepora_concurrency": 8,
    "auepora_timeout": 30.0,
    "auepora_retry": ["TimeoutError", "openai.RateLimitError"],
    "auepora_keep": ["runs=50", "answers=1"],
    "auepora_budget": ["cost=2.5", "tokens=1000000"],
    "auepora_accepted": "texts",
    "auepora_history": "build/runs.sqlite",
    "auepora_files": ["golden/*.yaml"],
    "auepora_calibrations": "golden/__calibrations__",
    "auepora_judge": "judge.yaml",
    "auepora_report": ["html:report.html", "json:report.json"],
    "auepora_github": ["summary"],
    "auepora_plugins": ["conftest.py"],
    "auepora_junit_properties": True,
    "auepora_reference": "bm25",
}
"""A value of every setting."""


def _ini_settings(section: str) -> str:
    """Return `_EXAMPLES` as an ini file has them."""
    lines = [f"[{section}]"]
    for name, value in _EXAMPLES.items():
        if name == "auepora_report":  # a line each
            lines += [f"{name} =", *(f"    {word}" for word in value)]
        else:
            lines.append(f"{name} = {' '.join(value) if isinstance(value, list) else _literal(value)}")
    return "\n".join(lines) + "\n"


def _toml_settings(table: str) -> str:
    """Return `_EXAMPLES` as a table of TOML has them."""
    return "\n".join([f"[{table}]", *(f"{name} = {json.dumps(value)}" for name, value in _EXAMPLES.items())]) + "\n"


def _literal(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def options_page() -> str:
    """Return the page."""
    seen = declared()
    options = {names[0]: _option(names, how) for names, how in seen.options}
    settings = {name: _setting(name, text, how) for name, text, how in seen.settings}
    lines = ["# Options, settings, hooks", "", "Generated. Every `--auepora-…` option implies `--auepora`.", ""]
    lines += ["## Command line", "", *_core_first(options, CORE_OPTIONS, ["| Option | |", "|---|---|"])]
    lines += ["## Settings", "", "In pytest's own file of settings, in either form:", ""]
    lines += ['```ini title="pytest.ini"', _ini_settings("pytest").rstrip(), "```", ""]
    lines += ['```toml title="pyproject.toml"', _toml_settings("tool.pytest").rstrip(), "```", ""]
    lines += [
        "`[tool.pytest]` takes pytest 9; `[tool.pytest.ini_options]` takes the same in any version. A list may be"
    ]
    lines += ['one text as well: `auepora_keep = "runs=50 answers=1"`.', ""]
    lines += _core_first(settings, CORE_SETTINGS, ["| Key | | Default |", "|---|---|---|"])
    return "\n".join([*lines, "## Hooks", "", *_hooks()])


def _option(names: tuple[str, ...], how: dict[str, Any]) -> str:
    value = f" {how['metavar']}" if "metavar" in how else ""
    if how.get("nargs") == "?":
        value = f"[={how['metavar']}]"
    return f"| `{', '.join(names)}{value}` | {cell(how['help'])} |"


def _setting(name: str, text: str, how: dict[str, Any]) -> str:
    default = how.get("default", "")
    shown = " ".join(default) if isinstance(default, list) else str(default)
    return f"| `{name}` | {cell(text)} | {f'`{shown}`' if shown else ''} |"


def _core_first(rows: dict[str, str], core: tuple[str, ...], head: list[str]) -> list[str]:
    """Return two tables: the *core* in its order, and the rest."""
    rest = [row for name, row in rows.items() if name not in core]
    return ["The six to begin with:", "", *head, *(rows[name] for name in core), "", "The rest:", "", *head, *rest, ""]


def _hooks() -> list[str]:
    out = []
    for name, hook in vars(hookspecs).items():
        if name.startswith("pytest_auepora_"):
            arguments = ", ".join(inspect.signature(hook).parameters)
            text = (inspect.getdoc(hook) or "").replace(".. code-block:: python\n\n", "")
            out += [f"### `{name}({arguments})`", "", text, ""]
    return out
