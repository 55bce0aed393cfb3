"""The page of command-line options, settings and hooks, as the plugin declares them to pytest."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from pytest_auepora.pytest_plugin import entry, hooks

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


def options_page() -> str:
    """Return the page."""
    seen = declared()
    lines = ["# Options, settings, hooks", "", "Generated.", "", "## Command line", "", "| Option | |", "|---|---|"]
    for names, how in seen.options:
        value = f" {how['metavar']}" if "metavar" in how else ""
        lines.append(f"| `{', '.join(names)}{value}` | {cell(how['help'])} |")
    lines += ["", "## Settings (`pytest.ini`, `pyproject.toml`)", "", "| Key | | Default |", "|---|---|---|"]
    for name, text, how in seen.settings:
        default = how.get("default", "")
        shown = " ".join(default) if isinstance(default, list) else str(default)
        lines.append(f"| `{name}` | {cell(text)} | {f'`{shown}`' if shown else ''} |")
    return "\n".join([*lines, "", "## Hooks", "", *_hooks()])


def _hooks() -> list[str]:
    out = []
    for name, hook in vars(hooks).items():
        if name.startswith("pytest_auepora_"):
            arguments = ", ".join(inspect.signature(hook).parameters)
            text = (inspect.getdoc(hook) or "").replace(".. code-block:: python\n\n", "")
            out += [f"### `{name}({arguments})`", "", text, ""]
    return out
