"""Projects to run pytest on: golden cases with an instant RAG, and the emptiest test files of the same size.

The texts are made, not real: what costs time is how many there are and how long they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

__all__ = ["METRICS", "golden", "parametrized", "words_of"]

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

ANSWERS = {
    query: (answer, documents)
    for query, (answer, documents) in json.loads((pathlib.Path(__file__).parent / "answers.json").read_text()).items()
}


<function>


@pytest.fixture(scope="session")
def rag():
    return rag_of_this_project
"""

INSTANT = """\
def rag_of_this_project(query):
    return ANSWERS[query]
"""


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
    folder: Path, n_cases: int, *, function: str = INSTANT, imports: str = "", failing: bool = False, extra: str = ""
) -> Path:
    """Write a project of *n_cases* golden cases of ten documents each, whose system runs *function*; return its path.

    Args:
        folder: where; made if need be.
        n_cases: how many cases.
        function: source of ``rag_of_this_project(query)``; ``ANSWERS[query]`` is ``(answer, documents)``.
        imports: what the function needs.
        failing: give every case a threshold it cannot meet.
        extra: further lines of the golden file's head.
    """
    import json

    rng = Random(7)
    known = vocabulary(rng)
    folder.mkdir(parents=True, exist_ok=True)
    answers = {}
    lines = ["suite: bench", f"metrics: [{', '.join(METRICS)}]", *extra.splitlines()]
    lines += ["case_thresholds: {exact_match: 1.0}"] if failing else []
    lines.append("cases:")
    for i in range(n_cases):
        query = f"{words_of(rng, known, 5, 12)} {i}?"
        reference = words_of(rng, known, 8, 40)
        kept = reference.split()
        answer = " ".join(w for w in kept if rng.random() < 0.8) + " " + words_of(rng, known, 1, 10)
        ids = [f"doc-{rng.randrange(5 * n_cases)}" for _ in range(10)]
        gold = [*rng.sample(ids, 2), f"doc-{rng.randrange(5 * n_cases)}"]
        documents = [
            {"id": name, "text": words_of(rng, known, 20, 60), "score": 1 - rank / 20}
            for rank, name in enumerate(dict.fromkeys(ids))
        ]
        answers[query] = answer, documents
        lines += [
            f"  - id: case-{i}",
            f"    query: {query}",
            f"    relevant_docs: [{', '.join(dict.fromkeys(gold))}]",
            f"    reference_answer: {reference}",
        ]
    (folder / "bench.golden.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    (folder / "conftest.py").write_text(
        CONFTEST.replace("<imports>", imports).replace("<function>", function), encoding="utf-8"
    )
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


def parametrized(folder: Path, n_tests: int, *, body: str = "pass") -> Path:
    """Write the floor: *n_tests* empty tests from one ``parametrize``; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_floor.py").write_text(
        f"import pytest\n\n\n@pytest.mark.parametrize('i', range({n_tests}))\ndef test_case(i):\n    {body}\n",
        encoding="utf-8",
    )
    return folder
