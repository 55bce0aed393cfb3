"""How often real runs of pytest are red: a project on disk, an update, a run, again and again in this process.

    python -m tests.benchmarks.real_runs --runs 30

The simulation in `verdict_rates` counts more runs of more systems; this goes all the way from the golden file to the
exit code.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

__all__ = ["SCENARIOS", "Outcome", "Scenario", "run_scenario"]

CONFTEST = """\
import json
import pathlib
from random import Random

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def rag():
    told = json.loads((HERE / "system.json").read_text())
    cases, lost, unfound = told["cases"], told["lost"], told["unfound"]
    rng = Random(told["seed"])

    def ask(query):
        name = query.split()[-1].rstrip("?")
        words = ["nobody", "knows", "that"] if name in lost else cases[name].split()
        if told["samples"]:
            words = [word if rng.random() < 0.85 else "other" for word in words]
        found = [f"{name}.md"] if name not in unfound else []
        return " ".join(words), [*found, "about.md", "contact.md"]

    return ask
"""
HEAD = "suite: real\nmetrics: [recall@5, mrr@10, token_f1, rougeL]\ncases:\n"
CASE = "  - {{id: {0}, query: What is said about {0}?, relevant_docs: [{0}.md], reference_answer: {1}}}\n"
WORDS = ("river", "stone", "lamp", "seven", "bridge", "paper", "winter", "garden", "copper", "letter", "morning",
         "engine", "forest", "window", "island")  # fmt: skip
OPTIONS = ("--auepora", "-p", "pytest_auepora.pytest_plugin.entry", "-p", "no:cacheprovider")


class Scenario(NamedTuple):
    """What becomes of *n* cases: how many answers and documents the system loses, or wins, after the update."""

    title: str
    n: int
    samples: bool = True
    lost: int = 0
    unfound: int = 0
    won: int = 0


class Outcome(NamedTuple):
    """What one run came to: exit code 1, its word, whether the cases that fell are named, and all it printed."""

    red: bool
    word: str
    named: bool
    text: str


SCENARIOS = {
    "unchanged 60": Scenario("60 cases, a model that samples, unchanged", 60),
    "unchanged 7": Scenario("7 cases, a model that samples, unchanged", 7),
    "lost": Scenario("60 cases, a model that samples, a fifth of the answers lost", 60, lost=12),
    "document": Scenario("60 cases, nothing varies, one document lost", 60, samples=False, unfound=1),
    "won": Scenario("60 cases, nothing varies, twelve documents won", 60, samples=False, won=12),
}


def run_scenario(scenario: Scenario, folder: Path, seed: int) -> Outcome:
    """Make a project in *folder*, accept what its system does, change the system, and run pytest."""
    rng = Random(seed)
    cases = {f"case{i:02}": " ".join(rng.sample(WORDS, 12)) for i in range(scenario.n)}
    changed = rng.sample(sorted(cases), max(scenario.lost, scenario.unfound, scenario.won))
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "real.golden.yaml").write_text(HEAD + "".join(CASE.format(*case) for case in cases.items()))

    def run(*args: str, lost: Sequence[str] = (), unfound: Sequence[str] = ()) -> tuple[int, str]:
        told = {"cases": cases, "lost": lost, "unfound": unfound, "seed": rng.random(), "samples": scenario.samples}
        (folder / "system.json").write_text(json.dumps(told))
        with redirect_stdout(io.StringIO()) as out, pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            code = pytest.main([*OPTIONS, "-W", "ignore", f"--rootdir={folder}", *args, str(folder)])
        return int(code), out.getvalue()

    code, text = run("--auepora-update", unfound=changed if scenario.won else ())
    assert code == 0, text
    code, text = run(lost=changed if scenario.lost else (), unfound=changed if scenario.unfound else ())
    assert code in (0, 1), text
    told = text.partition("= auepora =")[2]
    words = ("worse", "better", "same", "inconclusive", "mixed")
    word = next((word for word in words if f"\n{word}" in told), "")
    return Outcome(code == 1, word, all(name in told for name in changed), text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many of the runs were red, and what they said."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=30, help="runs of each scenario")
    parser.add_argument("--only", choices=SCENARIOS, help="one scenario, with what its last run printed")
    given = parser.parse_args(arguments)
    for name, scenario in SCENARIOS.items():
        if given.only not in (None, name):
            continue
        outcomes = []
        for seed in range(given.runs):
            with tempfile.TemporaryDirectory() as folder:
                outcomes.append(run_scenario(scenario, Path(folder).resolve(), seed))
        counts = {word: sum(one.word == word for one in outcomes) for word in dict.fromkeys(o.word for o in outcomes)}
        red, named = sum(one.red for one in outcomes), sum(one.red and one.named for one in outcomes)
        print(
            f"{scenario.title}: {red} of {given.runs} red, {named} with all changed cases named; {counts}", flush=True
        )
        if given.only:
            print(outcomes[-1].text)


if __name__ == "__main__":
    main()
