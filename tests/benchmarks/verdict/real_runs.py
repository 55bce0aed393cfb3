"""How often real runs of pytest are red: a project on disk, an update, a changed system, a run, again and again.

    python -m tests.benchmarks.verdict.real_runs --baselines 4 --runs 10

The simulation in `verdict_rates` counts more runs of more systems; this goes all the way from the golden file to the
exit code.  The project: an index of 250 passages (BM25), a generator that samples its words, 60 questions with a fact
that the answer must contain, of which 16 are hard: the fact is missed in 40 % of the answers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["CHANGES", "Change", "Outcome", "Project"]

CONFTEST = """\
import json
import pathlib
from random import Random

import bm25s
import pytest

HERE = pathlib.Path(__file__).parent
OPENINGS = ("", "As far as the notes go: ", "In short, ", "From what was found, ", "The documents say that ")
ENDINGS = ("", " Nothing else is known.", " That is all there is.", " The notes end there.")


@pytest.fixture(scope="session")
def rag():
    told = json.loads((HERE / "system.json").read_text())
    passages = json.loads((HERE / "passages.json").read_text())
    rng, ids, chunks = Random(told["seed"]), [], []
    for name, sentences in passages.items():
        if name not in told["gone"]:
            parts = [[s] for s in sentences] if told["thirds"] else [sentences]
            ids += [name] * len(parts)
            chunks += [" ".join(part) for part in parts]

    def tokens(texts):
        return bm25s.tokenize(texts, lower=told["lower"], stopwords="en", return_ids=False, show_progress=False)

    index = bm25s.BM25()
    index.index(tokens(chunks), show_progress=False)

    def generate(query, contexts):
        topic = next(topic for words, topic in told["topics"].items() if words in query)
        name = query.rstrip("?").split()[-1].lower()
        found = [s for text in contexts for s in text.split(". ") if f"{topic} of {name} " in s.lower()]
        if not found or rng.random() < told["refusing"]:
            return "I do not know."
        said = found[0].rstrip(".")
        misses = told["missed"] if name in told["hard"] else 0.0
        if rng.random() < max(misses, told["dropped"]):
            said = said.rsplit(" ", 1)[0] + " something of its kind"
        return rng.choice(OPENINGS) + said + "." + rng.choice(ENDINGS)

    def ask(query):
        best, scores = index.retrieve(tokens([query]), k=10, show_progress=False)
        order = [int(i) for i, score in zip(best[0], scores[0]) if score > 0]
        if told["reranks"]:
            topic = next(topic for words, topic in told["topics"].items() if words in query)
            order.sort(key=lambda i: topic not in chunks[i])
        order = order[: told["k"]]
        return generate(query, [chunks[i] for i in order]), [ids[i] for i in order]

    return ask
"""
HEAD = "suite: real\nmetrics: [recall@5, mrr@10, token_f1, rougeL]\ncases:\n"
CASE = (
    '  - {{id: {name}, query: "{query}", relevant_docs: [{name}-{topic}], reference_answer: {answer}, '
    "must_contain: [{fact}]}}\n"
)
TOPICS = {"made of": "casing", "painted": "colour", "come from": "origin", "cost": "price"}
"""How people ask, and the word that documents have for it."""
N_CASES, N_HARD, N_FAMILIES = 60, 16, 63  # of four passages each, but for the last
SYSTEM: Mapping[str, Any] = MappingProxyType(
    {"k": 5, "thirds": False, "lower": True, "gone": [], "dropped": 0.0, "refusing": 0.0, "missed": 0.4,
     "reranks": False, "topics": TOPICS}
)  # fmt: skip


class Change(NamedTuple):
    """What becomes of the system: in words, as settings, and whether that is a regression."""

    words: str
    settings: Mapping[str, Any]
    is_loss: bool = False
    options: Sequence[str] = ()


CHANGES = {
    "unchanged": Change("unchanged", {}),
    "two workers": Change("unchanged, -n 2", {}, options=("-n", "2")),
    "k": Change("k 5 → 2", {"k": 2}, is_loss=True),
    "thirds": Change("chunks of a third", {"thirds": True}, is_loss=True),
    "dropped": Change("a fact dropped in a fifth of the answers", {"dropped": 0.2}, is_loss=True),
    "document": Change("one document deleted", {"gone": None}, is_loss=True),
    "tokens": Change("tokens not lower-cased", {"lower": False}, is_loss=True),
    "refuses": Change("a fifth of the answers refuse", {"refusing": 0.2}, is_loss=True),
    "facts": Change("hard facts are missed in 10 % instead of 40 %", {"missed": 0.1}),
    "reranks": Change("a reranker puts the right passage first", {"reranks": True}),
}


class Outcome(NamedTuple):
    """What one run came to: exit code 1, and all it printed."""

    red: bool
    text: str

    @property
    def told(self) -> list[str]:
        """The lines of the verdict: the first ones say what happened, and why."""
        return [line for line in self.text.partition("= auepora =")[2].splitlines()[1:] if line.strip()]


def _words(rng: Random, n: int) -> list[str]:
    """Return so many words that no dictionary has."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    out: dict[str, None] = {}
    while len(out) < n:
        out["".join(rng.choices(syllables, k=3))] = None
    return [*out]


class Project:
    """A project in *folder*, whose baseline was accepted; *seed* decides about everything."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._rng = folder, Random(seed)
        names, facts = _words(self._rng, 2 * N_FAMILIES)[:N_FAMILIES], _words(self._rng, 4 * N_FAMILIES)
        passages: dict[str, list[str]] = {}
        cases: list[dict[str, str]] = []
        for i, name in enumerate(names):
            asked = self._rng.choice([*TOPICS])
            for topic in TOPICS.values() if i < N_FAMILIES - 1 else [*TOPICS.values()][:2]:
                fact = facts.pop()
                passages[f"{name}-{topic}"] = self._passage(name, topic, fact)
                if topic == TOPICS[asked] and len(cases) < N_CASES:
                    subject = name.capitalize() if i % 2 else name
                    verb = "does" if asked in ("come from", "cost") else "is"
                    query = f"What {verb} it {asked}, this {subject}?"
                    answer = f"The {topic} of {name.capitalize()} is {fact}."
                    cases.append({"name": name, "topic": topic, "query": query, "answer": answer, "fact": fact})
        self._cases = cases
        self._hard = [case["name"] for case in self._rng.sample(cases, N_HARD)]
        (folder / "conftest.py").write_text(CONFTEST, "utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
        (folder / "passages.json").write_text(json.dumps(passages), "utf-8")
        (folder / "real.golden.yaml").write_text(HEAD + "".join(CASE.format(**case) for case in cases), "utf-8")
        code, self.update = self._pytest("--auepora-update")
        assert code == 0, self.update

    def _passage(self, name: str, topic: str, fact: str) -> list[str]:
        """Return three sentences; how long they are, and how often they name their subject, decides about its rank."""
        filler = ("the notes of that year", "a visitor", "the old list", "its keeper", "a letter", "the second owner")
        others = [
            f"{self._rng.choice([name.capitalize(), 'It', 'The thing'])} was seen by {self._rng.choice(filler)}"
            f"{' and by many others who came for it' * self._rng.randint(0, 2)}."
            for _ in range(2)
        ]
        return [others[0], f"The {topic} of {name.capitalize()} is {fact}.", others[1]]

    def run(self, change: Change) -> Outcome:
        """Run the changed system against the accepted one."""
        settings = dict(change.settings)
        if settings.get("gone", ()) is None:
            case = self._rng.choice(self._cases)
            settings["gone"] = [f"{case['name']}-{case['topic']}"]
        code, text = self._pytest(*change.options, **settings)
        assert code in (0, 1), text
        return Outcome(code == 1, text)

    def _pytest(self, *options: str, **settings: Any) -> tuple[int, str]:
        told = {**SYSTEM, **settings, "hard": self._hard, "seed": self._rng.random()}
        (self._folder / "system.json").write_text(json.dumps(told), "utf-8")
        plugins = ["-p", "pytest_auepora.pytest_plugin.entry", *(("-p", "xdist") if "-n" in options else ())]
        command = [sys.executable, "-m", "pytest", "--auepora", *plugins, "-p", "no:cacheprovider", *options]
        env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "NO_COLOR": "1"}
        done = subprocess.run(
            command, cwd=self._folder, env=env, capture_output=True, encoding="utf-8", timeout=600, check=False
        )
        return done.returncode, done.stdout + done.stderr


def main(arguments: Sequence[str] | None = None) -> None:
    """Print for each change how many of the runs were red."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--baselines", type=int, default=4, help="accepted baselines")
    parser.add_argument("--runs", type=int, default=10, help="runs of the unchanged system against each; others: one")
    parser.add_argument("--only", choices=CHANGES, help="one change, with the first lines that each run says")
    given = parser.parse_args(arguments)
    found: dict[str, list[Outcome]] = {}
    for seed in range(given.baselines):
        with tempfile.TemporaryDirectory() as folder:
            project = Project(Path(folder).resolve(), seed)
            for name, change in CHANGES.items():
                for _ in range(given.runs if not change.settings else 1) if given.only in (None, name) else ():
                    found.setdefault(name, []).append(project.run(change))
                    if given.only:
                        print("\n".join(found[name][-1].told[:6]), "\n", flush=True)
        for name, outcomes in found.items():
            print(f"{CHANGES[name].words}: {sum(one.red for one in outcomes)} of {len(outcomes)} red", flush=True)


if __name__ == "__main__":
    main()
