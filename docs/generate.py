"""Writes the reference pages from the code: ``python docs/generate.py`` (``--check`` only compares)."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "pages" / "reference"
sys.path.insert(0, str(ROOT))

from specification import SPECIFIED  # noqa: E402  # beside this script

from pytest_auepora.core.metrics_base import Metric  # noqa: E402
from pytest_auepora.metrics.registry import Registry  # noqa: E402

EXAMPLES = {"percent": "95", "n": "2"}
"""What stands in for a whole number of a spelling; 5 where nothing is said."""
WRAPPERS = {"noise_robustness": "noise_robustness[recall@5]", "sliced": "sliced[recall@5,scenario:typo]"}


def example_name(spelling: str) -> str:
    """Return *spelling* with its numbers filled in."""
    name = re.sub(r"\{(\w+)\}", lambda hole: EXAMPLES.get(hole[1], "5"), spelling)
    return WRAPPERS.get(name, name)


def all_metrics() -> Iterator[tuple[str, Metric]]:
    """Yield every spelling of the registry with a metric of that name."""
    registry = Registry()
    for spelling in registry.spellings():
        yield spelling, registry.get(example_name(spelling))


def cell(text: object) -> str:
    """Escape for a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def options(kind: Callable[..., Any], spelling: str) -> str:
    """Return the options of a metric class with their defaults, but those the spelling already holds."""
    held = set(re.findall(r"\{(\w+)\}", spelling))
    out = []
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in held or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        if " object at 0x" not in default and len(default) < 60:
            out.append(f"`{name}{default}`")
        else:
            out.append(f"`{name}`")
    return ", ".join(out) or "none"


def bound(value: float) -> str:
    """Write one end of a range."""
    return "∞" if value == float("inf") else f"{value:g}"


def metrics_page() -> str:
    """Return the page of all metrics."""
    lines = [
        "# Metrics",
        "",
        "Generated from the classes. Names are written as here in golden files, in `run[…]` and in baselines; options go "
        "into brackets: `ndcg@10[gain=linear]`, `mean_latency[retrieval]`.",
        "",
    ]
    seen: dict[str, list[tuple[str, Metric]]] = {}
    for spelling, metric in all_metrics():
        seen.setdefault(f"{type(metric).__module__}:{type(metric).__qualname__}", []).append((spelling, metric))
    for group in seen.values():
        spelling, metric = group[0]
        kind = type(metric)
        better = "higher is better" if metric.direction == "higher" else "lower is better"
        names = ", ".join(f"`{s}`" for s, _ in group)
        summary = (inspect.getdoc(kind) or "").split("\n\n")[0]
        low, high = (bound(v) for v in metric.range)
        lines += [
            f"## {kind.__name__}",
            "",
            names,
            "",
            " ".join(summary.split()),
            "",
            "| | |",
            "|---|---|",
            f"| Target | `{metric.target.name}` |",
            f"| Formula | {cell(metric.formula)} |",
            f"| Range | {low} to {high}, {better}{'' if metric.deterministic else ', not deterministic'} |",
            f"| Needs | {', '.join(f'`{f}`' for f in metric.required_fields()) or 'no annotation'} |",
            f"| Options | {cell(options(kind, spelling))} |",
            f"| Source | {cell(metric.source)} |",
            f"| Held to | {cell(metric.oracle)} |",
            f"| Class | `{kind.__module__}.{kind.__name__}`, version {metric.version} |",
            "",
        ]
    return "\n".join(lines)


def tests_of(metric: Metric, spelling: str) -> list[str]:
    """Return the test files that name the class or the metric, oracles first."""
    base = spelling.split("@")[0].split("{")[0].rstrip("_")
    word = re.compile(rf"\b{type(metric).__name__}\b|[\"']{re.escape(base)}(?:[@\[\"']|_\d)")
    found = []
    for folder in ("tests/oracles", "tests/unit/metrics"):
        for path in sorted((ROOT / folder).glob("test_*.py")):
            if word.search(path.read_text(encoding="utf-8")):
                found.append(path.relative_to(ROOT).as_posix())
    return found


def specification_page() -> str:
    """Return the table of every metric that the specifications name."""
    registry = Registry()
    lines = [
        "# Metrics of the specification",
        "",
        "Every metric that the framework's specifications name, the class that computes it, a test that proves it and whose "
        "numbers the test holds it to. Generated.",
        "",
        "| Named | Type | Class | Proven in | Held to |",
        "|---|---|---|---|---|",
    ]
    for named, name in SPECIFIED:
        metric = registry.get(name)
        proofs = tests_of(metric, name)
        shown = ", ".join(f"`{Path(p).name}`" for p in proofs[:2])
        lines.append(f"| {cell(named)} | `{cell(name)}` | `{type(metric).__name__}` | {shown} | {cell(metric.oracle)} |")
    return "\n".join([*lines, ""])


def options_page() -> str:
    """Return the page of command-line options, ini keys and hooks."""
    import pytest

    from pytest_auepora.pytest_plugin import entry, hooks

    options: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    keys: list[tuple[str, str, dict[str, Any]]] = []

    class Group:
        def addoption(self, *names: str, **how: Any) -> None:
            options.append((names, how))

    class Parser:
        def getgroup(self, *_: str) -> Group:
            return Group()

        def addini(self, name: str, help: str, **how: Any) -> None:  # noqa: A002  # pytest's own name
            keys.append((name, help, how))

    entry.pytest_addoption(Parser())  # type: ignore[arg-type]
    lines = ["# Options, settings, hooks", "", "Generated.", "", "## Command line", "", "| Option | |", "|---|---|"]
    for names, how in options:
        value = f" {how['metavar']}" if "metavar" in how else ""
        lines.append(f"| `{', '.join(names)}{value}` | {cell(how['help'])} |")
    lines += ["", "## Settings (`pytest.ini`, `pyproject.toml`)", "", "| Key | | Default |", "|---|---|---|"]
    for name, help_, how in keys:
        default = how.get("default", "")
        shown = " ".join(default) if isinstance(default, list) else str(default)
        lines.append(f"| `{name}` | {cell(help_)} | {f'`{shown}`' if shown else ''} |")
    lines += ["", "## Hooks", ""]
    for name, hook in vars(hooks).items():
        if name.startswith("pytest_auepora_"):
            arguments = ", ".join(inspect.signature(hook).parameters)
            text = (inspect.getdoc(hook) or "").replace(".. code-block:: python\n\n", "")
            lines += [f"### `{name}({arguments})`", "", text, ""]
    assert pytest.hookspec is not None
    return "\n".join(lines)


def golden_page() -> str:
    """Return the page of all golden-file keys, from the JSON Schema that editors use."""
    from pytest_auepora.io.json_schema import golden_schema

    schema = golden_schema()
    case = schema["properties"]["cases"]["items"]
    while "$ref" in case:
        case = _resolve(schema, case["$ref"])
    lines = [
        "# Golden files",
        "",
        "Generated from the definitions that the reader itself uses. A file is YAML (`*.golden.yaml`) or JSON Lines "
        "(`*.golden.jsonl`: an optional first line with the keys of the file, then one case a line).",
        "",
    ]
    for title, part in (("Keys of the file", schema), ("Keys of a case", case)):
        needed = set(part.get("required", ()))
        lines += [f"## {title}", "", "| Key | |", "|---|---|"]
        for name, entry in part["properties"].items():
            target = entry if "description" in entry or "$ref" not in entry else _resolve(schema, entry["$ref"])
            star = " (required)" if name in needed else ""
            lines.append(f"| `{name}`{star} | {cell(target.get('description', ''))} |")
        lines.append("")
    return "\n".join(lines)


def _resolve(schema: dict[str, Any], ref: str) -> dict[str, Any]:
    node: Any = schema
    for part in ref.removeprefix("#/").split("/"):
        node = node[part]
    found: dict[str, Any] = node
    return found


PAGES_BY_NAME: dict[str, Callable[[], str]] = {
    "metrics.md": metrics_page,
    "specification.md": specification_page,
    "options.md": options_page,
    "golden-file.md": golden_page,
}


def main() -> int:
    """Write the pages, or say which are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is stale")
    check = parser.parse_args().check
    stale = []
    for name, make in PAGES_BY_NAME.items():
        path, text = PAGES / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    print(f"{'stale' if check else 'written'}: {', '.join(stale) or 'nothing'}")
    return int(bool(stale) and check)


if __name__ == "__main__":
    raise SystemExit(main())
