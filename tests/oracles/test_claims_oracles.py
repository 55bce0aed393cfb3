"""Claims: RAGChecker's published example and ALCE's definitions, counted a second time."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.claims.claim_shares import CitationPrecision, CitationRecall, ClaimPrecision
from pytest_auepora.metrics.registry import Registry

from .texts import Compared

# The labels (entailment, neutral, contradiction) and the scores of the two questions in examples/checking_outputs.json
# of github.com/amazon-science/RAGChecker, commit 6091f08c00e676e87a970f2aeb4a23a484746348, Apache-2.0.
EXAMPLE = [
    {
        "answer2response": "NEEEEEEEENC",
        "response2answer": "EEEEEECNEENNNNNENNNNEE",
        "retrieved2response": "NENN NNNN NNNN NNNN NNNN NNNN NENN NNNN ENNE NNNE NNNN",
        "retrieved2answer": "NENN NNNN NNNN ENNN EENN ENNE CCNN" + " NNNN" * 14 + " NENN",
    },
    {
        "answer2response": "NEEEE",
        "response2answer": "EECENEEE",
        "retrieved2response": "NEN NEE CEE ENE CEE",
        "retrieved2answer": "NEN NEE NEN CEE NNE ENE EEE NEE",
    },
]
PUBLISHED = {
    "claim_precision": (0.7272727272727273, 0.8, 76.4),
    "claim_recall": (0.5, 0.75, 62.5),
    "claim_f1": (0.5925925925925926, 0.7741935483870969, 68.3),
    "context_recall": (0.22727272727272727, 1.0, 61.4),
    "context_precision": (0.75, 1.0, 87.5),
    "context_utilization": (1.0, 0.75, 87.5),
    "noise_sensitivity_in_relevant": (0.18181818181818182, 0.2, 19.1),
    "noise_sensitivity_in_irrelevant": (0.0, 0.0, 0.0),
    "hallucination": (0.09090909090909091, 0.0, 4.5),
    "self_knowledge": (0.5454545454545454, 0.0, 27.3),
    "faithfulness": (0.36363636363636365, 1.0, 68.2),
}
LABELS = {"E": "Entailment", "N": "Neutral", "C": "Contradiction"}


def published(example: dict[str, str]) -> SystemOutputs:
    """Return the outputs as RAGChecker writes them."""
    extra: dict[str, object] = {}
    for name, text in example.items():
        rows = [[LABELS[c] for c in row] for row in text.split()]
        extra[name] = rows if name.startswith("retrieved") else rows[0]
    chunks = len(example["retrieved2response"].split()[0])
    docs = [RetrievedDocument(Document(f"{i:03}", "text"), 0.0, i + 1) for i in range(chunks)]
    return SystemOutputs(docs, Response("an answer"), extra=extra)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_example_of_ragchecker(name: str, compared: Compared) -> None:
    metric = Registry().get(f"{name}[given]")
    samples = [EvaluationSample(str(i), "q") for i in range(len(EXAMPLE))]
    *each, mean = PUBLISHED[name]
    seen = metric.measure_many(samples, [published(example) for example in EXAMPLE])
    assert [s.value for s in seen] == pytest.approx(each, abs=1e-15)  # type: ignore[union-attr]
    result = metric.compute(samples, [published(example) for example in EXAMPLE])
    assert round(100 * result.value, 1) == mean
    compared("RAGChecker's published example", 3)


def alce(
    sentences: list[tuple[str, list[int]]], supports: dict[tuple[frozenset[int], str], bool]
) -> list[float | None]:
    """Count citation recall and precision as section 4 of the ALCE paper defines them; precision None where none."""
    full = [bool(cites) and supports[frozenset(cites), said] for said, cites in sentences]
    precise = []
    for (said, cites), whole in zip(sentences, full, strict=True):
        for one in cites:
            others = frozenset(cites) - {one}
            irrelevant = not supports[frozenset([one]), said] and bool(others) and supports[others, said]
            precise.append(whole and not irrelevant)
    return [sum(full) / len(full), sum(precise) / len(precise) if precise else None]


def test_citations_as_alce_defines_them(compared: Compared) -> None:
    draw, n, both = random.Random(5), 0, 0
    for _ in range(400):
        docs = [f"passage {i}" for i in range(4)]
        sentences = [(f"Claim {i}", draw.sample(range(4), draw.randint(0, 3))) for i in range(draw.randint(1, 4))]
        supports: dict[tuple[frozenset[int], str], bool] = {}
        for mask in range(1, 16):
            places = frozenset(i for i in range(4) if mask >> i & 1)
            supports.update({(places, said): draw.random() < 0.5 for said, _ in sentences})

        def entails(premises: list[str], hypotheses: list[str]) -> list[bool]:
            found = [frozenset(docs.index(line) for line in premise.split("\n")) for premise in premises]  # noqa: B023
            return [supports[places, said] for places, said in zip(found, hypotheses, strict=True)]  # noqa: B023

        answer = "\n".join(said + "".join(f" [{place + 1}]" for place in cites) for said, cites in sentences)
        ranked = [RetrievedDocument(Document(f"d{i}", text), 0.0, i + 1) for i, text in enumerate(docs)]
        outputs = SystemOutputs(ranked, Response(answer))
        sample = EvaluationSample("case", "q")
        seen = [metric(entails).measure(sample, outputs) for metric in (CitationRecall, CitationPrecision)]  # type: ignore[arg-type]
        assert [getattr(s, "value", None) for s in seen] == pytest.approx(alce(sentences, supports))
        n += len(seen)
        both += all(hasattr(s, "value") for s in seen)
    assert both > 200
    compared("ALCE's definition of citation recall and precision", n)


@pytest.mark.shared_data
def test_shares_of_claims_that_people_labelled(shared_data: Path, compared: Compared) -> None:
    n = 0
    for file in sorted((shared_data / "refchecker-dolly-accurate").glob("dolly_*_answers.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            said = [claim["human_label"] for claim in row["claude2_response_kg"]]
            outputs = SystemOutputs([], Response(row["response"] or "-", metadata={"refused": False}))
            outputs.extra["claims"] = {"answer_by_reference": said}
            seen = ClaimPrecision("given").measure(EvaluationSample(row["id"], "q"), outputs)
            expected = said.count("Entailment") / len(said) if said else None
            assert getattr(seen, "value", None) == expected
            n += 1
    assert n == 700
    compared("shares of claims that people labelled", n)
