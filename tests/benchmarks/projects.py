"""Projects to run pytest on: golden cases with an instant RAG, and the emptiest test files of the same size.

The texts are made, not real: what costs time is how many there are and how long they are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

__all__ = [
    "AWAITING",
    "BUSY",
    "COMPUTING",
    "FAILING",
    "INSTANT",
    "LOOP",
    "METRICS",
    "WAITING",
    "golden",
    "parametrized",
    "words_of",
]

METRICS = ("recall@5", "ndcg@10", "mrr", "exact_match", "token_f1", "rougeL")

_SYLLABLES = (
    "an",
    "ber",
    "cal",
    "dor",
    "en",
    "fil",
    "gra",
    "hos",
    "in",
    "jun",
    "kel",
    "lor",
    "mi",
    "nor",
    "op",
    "pra",
    "qui",
)
_ENDINGS = ("ation", "ing", "ed", "ly", "ness", "ful", "ize", "s", "es", "ment", "", "", "", "")

CONFTEST = """\
import json
import pathlib
<imports>
import pytest


def read(name):
    return json.loads((pathlib.Path(__file__).parent / name).read_text())


<answers>


<function>


@pytest.fixture(scope="session")
def rag():
    return rag_of_this_project
"""

ANSWERS = """\
ANSWERS = {query: (answer, documents) for query, (answer, documents) in read("answers.json").items()}
"""
FROM_CORPUS = """\
CORPUS = read("corpus.json")
ANSWERS = {
    query: (answer, [CORPUS[name] for name in names]) for query, (answer, names) in read("answers.json").items()
}
"""

INSTANT = """\
def rag_of_this_project(query):
    return ANSWERS[query]
"""
WAITING = """\
def rag_of_this_project(query):
    time.sleep({seconds})
    return ANSWERS[query]
"""
AWAITING = """\
async def rag_of_this_project(query):
    await asyncio.sleep({seconds})
    return ANSWERS[query]
"""
COMPUTING = """\
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass
"""
"""Lines of a function that take 20 ms of processor time; they need ``time``."""
FAILING = """\
    pytest.fail("a first line\\nand a second one", pytrace=False)
"""
"""The line of a test that fails as a golden case does: with a text, and without a traceback."""
BUSY = f"""\
def rag_of_this_project(query):
{COMPUTING}\
    return ANSWERS[query]
"""
LOOP = """

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop():
    start = time.perf_counter()
    try:
        return (yield)
    finally:
        (pathlib.Path(__file__).parent / "loop.txt").write_text(str(time.perf_counter() - start))
"""
"""Goes after a system; needs ``time``.  From before the first case until all is judged, in seconds of the clock."""


CORPUS = 2000
"""Documents that the cases of a line draw from, as with a real system; to read them must not be what it measures."""


def vocabulary(rng: Random, size: int = 4000) -> list[str]:
    """Return words that look enough like English for a stemmer to find something to cut."""
    made: dict[str, None] = {}
    while len(made) < size:
        made["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 3))) + rng.choice(_ENDINGS)] = None
    return list(made)


def words_of(rng: Random, known: Sequence[str], shortest: int, longest: int) -> str:
    """Return a text of some length; frequent words are frequent in it, as in any language."""
    n = rng.randint(shortest, longest)
    return " ".join(known[min(int(rng.paretovariate(0.6)) - 1, len(known) - 1)] for _ in range(n))


def golden(
    folder: Path,
    n_cases: int,
    *,
    function: str = INSTANT,
    imports: str = "",
    failing: bool = False,
    extra: str = "",
    corpus: int = 0,
) -> Path:
    """Write a project of *n_cases* golden cases of ten documents each, whose system runs *function*; return its path.

    Args:
        folder: where; made if need be.
        n_cases: how many cases.
        function: source of ``rag_of_this_project(query)``; ``ANSWERS[query]`` is ``(answer, documents)``.
        imports: what the function needs.
        failing: give every case a threshold it cannot meet.
        extra: further lines of the golden file's head.
        corpus: the documents are of so many, each kept once; 0: every case has documents of its own.
    """
    rng = Random(7)
    known = vocabulary(rng)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"doc-{i}": words_of(rng, known, 20, 60) for i in range(corpus)}
    kinds = corpus or 5 * n_cases
    answers: dict[str, tuple[str, list[Any]]] = {}
    lines = ["suite: bench", f"metrics: [{', '.join(METRICS)}]", *extra.splitlines()]
    lines += ["case_thresholds: {exact_match: 1.0}"] if failing else []
    lines.append("cases:")
    for i in range(n_cases):
        query = f"{words_of(rng, known, 5, 12)} {i}?"
        reference = words_of(rng, known, 8, 40)
        kept = reference.split()
        answer = " ".join(w for w in kept if rng.random() < 0.8) + " " + words_of(rng, known, 1, 10)
        ids = [f"doc-{rng.randrange(kinds)}" for _ in range(10)]
        gold = [*rng.sample(ids, 2), f"doc-{rng.randrange(kinds)}"]
        names = list(dict.fromkeys(ids))
        own = [
            {"id": name, "text": words_of(rng, known, 20, 60), "score": 1 - rank / 20}
            for rank, name in enumerate(names if not corpus else ())
        ]
        answers[query] = answer, own or names
        lines += [
            f"  - id: case-{i}",
            f"    query: {query}",
            f"    relevant_docs: [{', '.join(dict.fromkeys(gold))}]",
            f"    reference_answer: {reference}",
        ]
    (folder / "bench.golden.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    if corpus:
        made = {name: {"id": name, "text": text} for name, text in texts.items()}
        (folder / "corpus.json").write_text(json.dumps(made), encoding="utf-8")
    parts = {"<imports>": imports, "<answers>": FROM_CORPUS if corpus else ANSWERS, "<function>": function}
    conftest = CONFTEST
    for place, part in parts.items():
        conftest = conftest.replace(place, part)
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


def parametrized(folder: Path, n_tests: int, *, body: str = "    pass\n") -> Path:
    """Write the floor: *n_tests* tests from one ``parametrize``, empty or of the lines *body*; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_floor.py").write_text(
        f"import time\n\nimport pytest\n\n\n@pytest.mark.parametrize('i', range({n_tests}))\ndef test_case(i):\n{body}",
        encoding="utf-8",
    )
    return folder
