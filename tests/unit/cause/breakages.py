"""A small system in three forms, and twenty ways to break its retriever, index, chunker, prompt or model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.core.rag_interface import Generator, Retriever, SimpleRAGSystem
from pytest_auepora.core.types import Document, Response, RetrievedDocument
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.accepted import AcceptedTexts, accepted_path
from pytest_auepora.regression.baseline import baseline_path
from pytest_auepora.regression.cause import Cause

from .accepting import accept_system

TOPICS = (
    "refund", "warranty", "parcel", "voucher", "invoice", "deposit", "locker", "bicycle", "helmet", "season", "ticket",
    "membership", "newsletter", "password", "delivery", "repair", "battery", "charger", "garage", "insurance",
    "licence", "manual", "scooter", "trailer",
)  # fmt: skip
UNITS = ("days", "weeks", "euros", "months", "hours")


def share(*parts: object) -> float:
    """A number from 0 to 1 that is the same for the same *parts*."""
    return int.from_bytes(sha256("|".join(map(str, parts)).encode()).digest()[:4], "big") / 2**32


def fact(i: int) -> str:
    return f"{7 + i} {UNITS[i % len(UNITS)]}"


CORPUS = {
    f"{topic}.md": f"About the {topic}. The {topic} desk is in hall {i}. Every {topic} takes {fact(i)} at most. "
    f"Ask the staff about any other {topic} matter."
    for i, topic in enumerate(TOPICS)
}
GOLDEN = "suite: desk\nmetrics: [recall@3, mrr, token_f1]\ncases:\n" + "".join(
    f"  - id: {topic}\n    query: How much does every {topic} take at most?\n    relevant_docs: [{topic}.md]\n"
    f"    reference_answer: Every {topic} takes {fact(i)} at most.\n    must_contain: ['{fact(i)}']\n"
    for i, topic in enumerate(TOPICS)
)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - {"the", "how", "does", "much", "about", "is", "in", "at"}


@dataclass(frozen=True)
class Config:
    """What of the system is broken, by how much; *seed* says in which cases."""

    seed: int = 0
    shuffled: float = 0.0
    """Retriever: the share of questions for which it ranks by chance."""
    shallow: float = 0.0
    """Retriever: the share of questions for which it gives the last of its documents alone."""
    missing: float = 0.0
    """Index: the share of documents that are not in it."""
    stale: float = 0.0
    """Index: the share of documents that say something older."""
    cut: float = 0.0
    """Chunker: the share of chunks that end too early."""
    vague: float = 0.0
    """Prompt: the share of questions that are answered without numbers."""
    refusing: float = 0.0
    """Prompt: the share of questions that are refused."""
    weak: float = 0.0
    """Model: the share of questions for which it picks a wrong sentence."""
    wordy: float = 0.0
    """Model: the share of questions that it answers with much beside."""


def index(config: Config) -> dict[str, str]:
    out = {}
    for name, whole in CORPUS.items():
        text = whole
        if share("missing", config.seed, name) < config.missing:
            continue
        if share("stale", config.seed, name) < config.stale:
            text = re.sub(r"takes \d+", "takes 99", text)
        if share("cut", config.seed, name) < config.cut:
            text = text.partition(" takes ")[0]
        out[name] = text
    return out


def ranked(config: Config, query: str) -> list[tuple[str, str]]:
    docs, asked = index(config), words(query)
    order = sorted(docs, key=lambda name: (-len(asked & words(docs[name])), name))
    if share("shuffled", config.seed, query) < config.shuffled:
        order = sorted(docs, key=lambda name: share("rank", config.seed, query, name))
    top = order[:3]
    if share("shallow", config.seed, query) < config.shallow:
        top = top[-1:]
    return [(name, docs[name]) for name in top]


def written(config: Config, query: str, texts: Sequence[str]) -> str:
    sentences = [s.strip() for text in texts for s in re.split(r"(?<=\.)\s", text) if s.strip()]
    if not sentences or share("refusing", config.seed, query) < config.refusing:
        return "I cannot answer that."
    best = sorted(sentences, key=lambda s: (-len(words(query) & words(s)), s))
    said = best[2 % len(best)] if share("weak", config.seed, query) < config.weak else best[0]
    if share("vague", config.seed, query) < config.vague:
        said = re.sub(r"\d+ \w+", "some time", said)
    if share("wordy", config.seed, query) < config.wordy:
        said = f"Thank you for this question, which many people have. As far as the texts go, I would say: {said} " * 2
    return said


@dataclass
class Counted:
    """The calls of a generator."""

    calls: list[str] = field(default_factory=list)


def pair(config: Config, counted: Counted) -> Any:
    def generate(query: str, documents: list[dict[str, str]]) -> str:
        counted.calls.append(query)
        return written(config, query, [document["text"] for document in documents])

    return lambda query: [{"id": name, "text": text} for name, text in ranked(config, query)], generate


def simple(config: Config, counted: Counted) -> Any:
    class Found(Retriever):
        def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
            found = enumerate(ranked(config, query), 1)
            return [RetrievedDocument(Document(name, text), 1 / rank, rank) for rank, (name, text) in found]

    class Written(Generator):
        def generate(self, query: str, context_docs: list[Document]) -> Response:
            counted.calls.append(query)
            return Response(written(config, query, [document.text for document in context_docs]))

    return SimpleRAGSystem(Found(), Written())


def function(config: Config, counted: Counted) -> Any:
    def ask(query: str, *, documents: list[str] | None = None) -> dict[str, Any]:
        found = ranked(config, query)
        texts = [f"{name}: {text}" for name, text in found] if documents is None else documents
        counted.calls.append(query)
        answer = written(config, query, [text.partition(": ")[2] for text in texts])
        return {"answer": answer, "contexts": texts, "ids": [name for name, _ in found]}

    return ask


Build = Callable[[Config, Counted], Any]
FORMS: Mapping[str, Build] = {"pair": pair, "simple": simple, "function": function}

RETRIEVAL, GENERATOR = ("shuffled", "shallow", "missing", "stale", "cut"), ("vague", "refusing", "weak", "wordy")
_BROKEN: Sequence[Mapping[str, float]] = (
    {"shuffled": 0.9}, {"shuffled": 0.4}, {"shallow": 0.8}, {"missing": 0.3}, {"missing": 0.6}, {"stale": 0.5},
    {"cut": 0.5}, {"cut": 0.9}, {"vague": 1.0}, {"vague": 0.5}, {"refusing": 0.4}, {"weak": 0.6}, {"weak": 0.9},
    {"wordy": 1.0}, {"shuffled": 0.6, "vague": 0.5}, {"missing": 0.5, "weak": 0.4}, {"cut": 0.5, "refusing": 0.3},
    {"stale": 0.5, "wordy": 1.0}, {"shallow": 0.5, "vague": 0.4}, {"missing": 0.3, "refusing": 0.3},
)  # fmt: skip
BREAKAGES = [Config(seed, **broken) for seed, broken in enumerate(_BROKEN, 1)]


def culprit(config: Config) -> str:
    """What is broken, by construction."""
    is_retrieval = any(getattr(config, name) for name in RETRIEVAL)
    is_generator = any(getattr(config, name) for name in GENERATOR)
    return "both" if is_retrieval and is_generator else "retrieval" if is_retrieval else "generator"


def accept(folder: Path, build: Build) -> Path:
    """Accept the system as it is when nothing is broken; return the golden file."""
    golden = folder / "desk.golden.yaml"
    folder.mkdir(exist_ok=True)
    golden.write_text(GOLDEN, encoding="utf-8")
    accepted = accept_system(golden, build(Config(), Counted()))
    texts = AcceptedTexts(accepted_path(baseline_path(golden, "desk", "")))
    recorded: dict[str, Recording] = {i: answers[0] for i, answers in accepted.source.recordings.items()}
    answers = {i: (accepted.source.run.cases[i], one.outputs) for i, one in recorded.items()}
    texts.save(answers, accepted.baseline.cases)
    return golden


def explained(golden: Path, build: Build, broken: Config) -> tuple[Cause, int, int]:
    """Return the cause, the calls of the generator that it took, and the cases that got worse."""
    counted = Counted()
    evaluation = evaluate(golden, build(broken, counted))
    assert evaluation.verdict.outcome == "failed", broken
    worse = len(evaluation.verdict.regressed_cases) or len(evaluation.suite.cases)
    counted.calls.clear()
    return evaluation.why(), len(counted.calls), worse
