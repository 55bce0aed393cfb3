"""Popular plugins beside ours: ordinary tests count the same with and without us, golden cases the same without them.

``python -m tests.matrix`` makes a virtual environment, installs them and prints a table; ``--python PATH`` takes
an environment that has them, ``-k WORD`` those whose name holds a word.  The exit code is 1 where something differs.
Each plugin runs alone, with the options that make it do something, over a small project: first its ordinary tests
without us, then with the golden cases, then with a retriever that is broken on purpose.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .plugins import PLUGINS, Plugin
from .project import write_project

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Seen:
    """What one run gave."""

    code: int
    counts: Counter[str]
    out: str
    report: str

    def of(self, kind: str) -> dict[str, int]:
        """Return outcome → number of the reports of *kind*: test, golden, suite."""
        return {k.partition(" ")[2]: n for k, n in self.counts.items() if k.startswith(f"{kind} ")}


_NAMES = """
import json
from importlib.metadata import entry_points
names = {}
for one in entry_points(group="pytest11"):
    names.setdefault(one.dist.name.lower().replace("_", "-"), []).append(one.name)
print(json.dumps(names))
"""


@cache
def entry_points_of(python: str) -> dict[str, list[str]]:
    """Return package → the names of its plugins."""
    done = subprocess.run([python, "-c", _NAMES], capture_output=True, encoding="utf-8", check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def run(python: str, plugin: Plugin | None, *, ours: bool, broken: bool = False) -> Seen:
    """Run the project in a directory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write_project(path, plugin.ini if plugin else "", broken=broken)
        packages = [*plugin.needs.split(), plugin.package] if plugin else []
        names = [name for package in packages for name in entry_points_of(python)[package]]
        options = plugin.options.split() if plugin else []
        loaded = [part for name in [*names, *(["auepora"] if ours else [])] for part in ("-p", name)]
        given = [*loaded, *options, *(["--auepora", "-o", "auepora_history=off"] if ours else [])]
        done = subprocess.run(
            [python, "-m", "pytest", *given], cwd=path, capture_output=True, encoding="utf-8", errors="replace",
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}, timeout=300,
            check=False,
        )  # fmt: skip
        counts: dict[str, int] = {}
        if (path / "counts.json").exists():
            counts = json.loads((path / "counts.json").read_text(encoding="utf-8"))
        out = done.stdout + done.stderr
        return Seen(done.returncode, Counter(counts), out, _report(path, plugin, out))


def _report(path: Path, plugin: Plugin | None, out: str) -> str:
    if plugin is None or plugin.report in ("", "stdout"):
        return out
    found = path / plugin.report
    files = sorted(found.iterdir()) if found.is_dir() else [found]
    return "".join(one.read_text(encoding="utf-8", errors="replace") for one in files if one.is_file())


def differences(python: str, plugin: Plugin, green: Seen, red: Seen) -> list[str] | None:
    """Return what is not as it should be, None where the plugin does not even run by itself.

    *green* and *red* are the runs without the plugin.
    """
    alone = run(python, plugin, ours=False)
    if alone.code != 0 or not alone.counts:
        return None
    beside = run(python, plugin, ours=True)
    broken = run(python, plugin, ours=True, broken=True)
    out = []
    whole = plugin.cases > 0
    if whole and alone.of("test") != beside.of("test"):
        out.append(f"ordinary tests: {alone.of('test')} alone, {beside.of('test')} beside us")
    for name, seen, wanted in (("green", beside, green), ("broken", broken, red)):
        if "INTERNALERROR" in seen.out:
            out.append(f"{name}: an internal error: {seen.out.strip()[-300:]}")
        if not whole:
            continue
        if seen.code != wanted.code:
            out.append(f"{name}: exit code {seen.code}, wanted {wanted.code}")
        golden = {k: n * plugin.cases for k, n in wanted.of("golden").items()}
        for kind, counts in (("golden", golden), ("suite", wanted.of("suite"))):
            told = {k: n for k, n in seen.of(kind).items() if k not in ("rerun", "retried")}
            if told != counts:
                out.append(f"{name}: {kind} {told}, wanted {counts}")
    if plugin.report and plugin.told not in broken.report:
        out.append(f"the report {plugin.report} has no {plugin.told!r}")
    return out


def environment(folder: Path) -> str:
    """Make an environment with every plugin, and return its python."""
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    packages = sorted({name for plugin in PLUGINS for name in (plugin.package, *plugin.needs.split())})
    subprocess.run([python, "-m", "pip", "install", "-q", "-e", str(ROOT), *packages], check=True)
    return python


def main(given: Any = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="the python of an environment that has the plugins")
    parser.add_argument("-k", default="", help="only plugins whose name holds this")
    said = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        python = said.python or environment(Path(folder))
        green, red = run(python, None, ours=True), run(python, None, ours=True, broken=True)
        print(f"without other plugins: green {dict(green.counts)}, broken {dict(red.counts)}")
        failed = 0
        for plugin in PLUGINS:
            if said.k in plugin.package:
                found = [] if plugin.known else differences(python, plugin, green, red)
                failed += bool(found)
                state = "unfit for this pytest" if found is None else "differs" if found else "same"
                print(f"{plugin.package:42}{plugin.known or state:36}{plugin.options}", flush=True)
                for one in found or ():
                    print(f"        {one}", flush=True)
    print(f"{failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
