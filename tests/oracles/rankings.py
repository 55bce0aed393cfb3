"""Random rankings with judgments, in the form of this package and in that of trec_eval."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs

CUTS = (1, 3, 5, 10, 30)
EXACT = 1e-12


@dataclass
class Case:
    """One ranking: what was judged (id to grade), what was returned (id and score, in the system's order)."""

    name: str
    judged: dict[str, int]
    returned: list[tuple[str, float]]

    @cached_property
    def sample(self) -> EvaluationSample:
        docs = [Document(i, metadata={"grade": g} if g != 1 else {}) for i, g in self.judged.items()]
        return EvaluationSample(self.name, "q", relevant_docs=docs)

    @cached_property
    def outputs(self) -> SystemOutputs:
        docs = [RetrievedDocument(Document(i), score, rank) for rank, (i, score) in enumerate(self.returned, 1)]
        return SystemOutputs(docs, Response(""))


def cases(seed: int, n: int, *, ties: bool = False, repeats: bool = False, top_grade: int = 3) -> list[Case]:
    """Make *n* rankings of 0 to 40 documents out of 53, some of them judged 0 to *top_grade*.

    Without *ties* scores fall strictly; with them they are eighths in random order, exact as 32-bit floats too.
    With *repeats* some ids are returned again.
    """
    draw = random.Random(seed)
    pool = [f"d{i:02d}" for i in range(50)] + ["é", "漢字", "Z"]
    made = []
    for at in range(n):
        judged = {name: draw.randint(0, top_grade) for name in draw.sample(pool, draw.randint(1, 15))}
        judged[draw.choice(list(judged))] = draw.randint(1, top_grade)
        size = draw.choice([0, 1, 2, 3, 5, 10, 20, 40])
        names = draw.sample(pool, size)
        if repeats and names:
            names += draw.choices(names, k=draw.randint(0, size))
            draw.shuffle(names)
        scores = [draw.randint(0, 12) / 8 if ties else float(len(names) - i) for i in range(len(names))]
        made.append(Case(f"q{at}", judged, list(zip(names, scores, strict=True))))
    return made
