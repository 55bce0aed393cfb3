"""Documents as passages to draft cases from: which passages are asked about, and what that costs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from math import log
from pathlib import Path
from typing import NamedTuple

from ..base.files import read_text
from ..base.grouping import grouped
from ..base.text import did_you_mean
from ..errors import AueporaError, CorpusError
from ..labels.corpus import load_corpus
from ..metrics.text.tokens import words
from .variants import random_order

SUFFIXES = (".md", ".markdown", ".rst", ".txt")
LONGEST, SHORTEST = 1_500, 120
"""Characters of a passage; a shorter one is searched, but not asked about."""
_RAREST = 24
"""Rarest words of a text that decide which passages are near."""

_NO_PROSE = re.compile(r"```.*?(?:```|\Z)|<!--.*?-->|^\s*\|.*$|^\s*[-=~^#*]{3,}\s*$", re.DOTALL | re.MULTILINE)
"""Code, comments and tables of Markdown: searched, but not asked about."""
_STOP_WORDS = (
    "what which when where whose does have been with that this these those from many much long must should could would "
    "there their they them than then into only also such will your each some other about after before while"
)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*|\Z")


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """A piece of a document: ``text`` stands at ``start`` of it."""

    doc: str
    start: int
    text: str

    @property
    def key(self) -> str:
        """Identifies the passage, whatever other passages there are."""
        return sha256(f"{self.doc}\0{self.start}\0{self.text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_documents(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's documents by their path in it, or those of a corpus in JSON Lines.

    Read are Markdown, reStructuredText and plain text; hidden files and folders are left out.  Raises `CorpusError`
    where there are none, or one cannot be read.
    """
    if folder.is_file():
        texts = {chunk.id: chunk.text for chunk in load_corpus(folder).chunks.values()}
    else:
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
        names = {path: path.relative_to(folder) for path in paths}
        visible = [path for path, name in names.items() if not any(part.startswith(".") for part in name.parts)]
        texts = {names[path].as_posix(): read_text(path, CorpusError) for path in visible}
    texts = {name: text for name, text in texts.items() if text.strip()}
    if not texts:
        raise CorpusError(f"{folder}: no documents; expected files of {', '.join(SUFFIXES)}, or JSON Lines with texts")
    return texts


def passages_of(documents: Mapping[str, str]) -> list[DocumentPassage]:
    """Cut each document at blank lines into passages of at most `LONGEST` characters, where its paragraphs allow it."""
    return [
        DocumentPassage(doc, start + len(text) - len(text.lstrip()), stripped)
        for doc, document in documents.items()
        for start, text in _split_paragraphs(document)
        if (stripped := text.strip())
    ]


def _split_paragraphs(document: str) -> Iterator[tuple[int, str]]:
    start = end = 0
    for paragraph in _PARAGRAPH_END.finditer(document):
        if end > start and paragraph.start() - start > LONGEST:
            yield start, document[start:end]
            start = end
        end = paragraph.start()
    yield start, document[start:]


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that say what it is about: of four letters or more, and numbers."""
    stems = words(text, "unicode", stem=True)
    telling = (w for w in stems if len(w) > 3 or any(c.isdigit() for c in w) or not w.isascii())
    return frozenset(telling) - _stop_stems()


@cache
def _stop_stems() -> frozenset[str]:  # not at import: the stemmer takes seconds to import
    return frozenset(words(_STOP_WORDS, stem=True))


class Passages:
    """All passages of a corpus; finds those long enough to be asked about, and those near to a text."""

    def __init__(self, passages: Sequence[DocumentPassage]) -> None:
        self.all = passages
        long = grouped((p.doc, p) for p in passages if len(_NO_PROSE.sub("", p.text).strip()) >= SHORTEST)
        self.worth_asking = {p.doc: long.get(p.doc, []) for p in passages}
        """By document, those that are long enough."""
        self._holders = grouped((word, place) for place, p in enumerate(passages) for word in content_words(p.text))

    def nearest(self, text: str, most: int, without: Sequence[DocumentPassage] = ()) -> list[DocumentPassage]:
        """Return up to *most* passages that share words with *text*, best first; its rarest words decide."""
        shared: defaultdict[int, float] = defaultdict(float)
        # sorted: in another order, sums differ in their last digit
        counted = sorted((len(self._holders[word]), word) for word in content_words(text) if word in self._holders)
        for n_holders, word in counted[:_RAREST]:
            for place in self._holders[word]:
                shared[place] += log(1 + len(self.all) / n_holders)
        ranked = sorted(shared, key=lambda place: (-shared[place], place))
        return [*islice((p for p in map(self.all.__getitem__, ranked) if p not in without), most)]


KINDS = ("single-hop", "multi-hop", "unanswerable")
TRIES = 3
"""How many passages may be tried for each case that is wanted."""
NEAR = 5
"""Other passages that are asked whether they answer as well."""
PACK = 12_000
"""Characters of the corpus that are searched in one call for an answer there should not be."""

_PER_TOKEN = 4
_FRAME, _REPLY = 250, 120  # tokens of a prompt without its material, and of a reply


@dataclass(frozen=True, slots=True)
class Job:
    """One try at a case: what kind, and from which passages."""

    kind: str
    doc: str
    passages: tuple[DocumentPassage, ...]

    @property
    def answerable(self) -> bool:
        """Whether the documents are to hold an answer."""
        return self.kind != "unanswerable"

    @property
    def key(self) -> str:
        """Identifies the job."""
        return "|".join((self.kind, *(passage.key for passage in self.passages)))


def read_quotas(text: str) -> dict[str, int]:
    """Read ``single-hop=2,unanswerable=1``, the cases of a document by kind; raises `AueporaError` for other forms."""
    out: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        kind, _, number = (word.strip() for word in part.partition("="))
        if kind not in KINDS:
            raise AueporaError(f"unknown kind {kind!r}{did_you_mean(kind, KINDS)}; available: {', '.join(KINDS)}")
        if not number.isdecimal():
            raise AueporaError(f"{kind}: expected how many, as in {kind}=2, got {part!r}")
        out[kind] = int(number)
    if not any(out.values()):
        raise AueporaError("no case is wanted of any kind")
    return out


def plan_jobs(passages: Passages, quotas: Mapping[str, int], seed: int) -> dict[tuple[str, str], list[Job]]:
    """Return the jobs of each document and kind in the order in which they are tried; more than are wanted."""
    out: dict[tuple[str, str], list[Job]] = {}
    for doc, of_document in passages.worth_asking.items():
        for kind, quota in quotas.items():
            order = random_order(f"{seed}|{doc}|{kind}", len(of_document))[: TRIES * quota]
            out[doc, kind] = [job for i in order for job in _jobs(kind, of_document[i], passages)]
    return out


def _jobs(kind: str, passage: DocumentPassage, passages: Passages) -> Iterator[Job]:
    if kind != "multi-hop":
        yield Job(kind, passage.doc, (passage,))
        return
    others = [p for p in passages.nearest(passage.text, 10, [passage]) if p in passages.worth_asking[p.doc]]
    second = next((p for p in others if p.doc != passage.doc), others[0] if others else None)
    if second is not None:
        yield Job(kind, passage.doc, (passage, second))


def group_passages(passages: Sequence[DocumentPassage]) -> Iterator[list[DocumentPassage]]:
    """Yield *passages* in groups of which each is shown in one call."""
    group: list[DocumentPassage] = []
    size = 0
    for passage in passages:
        if group and size + len(passage.text) > PACK:
            yield group
            group, size = [], 0
        group.append(passage)
        size += len(passage.text)
    if group:
        yield group


class Price(NamedTuple):
    """What drafting takes at most: calls, and tokens of prompts and of replies."""

    calls: int
    prompt_tokens: int
    reply_tokens: int


def price_of(jobs: Sequence[Job], corpus: Sequence[DocumentPassage]) -> Price:
    """Estimate the price of *jobs* if all go through every check; four characters are a token."""
    whole = sum(len(passage.text) for passage in corpus) // _PER_TOKEN
    n_groups = sum(1 for _ in group_passages(corpus))
    calls = prompt = 0
    for job in jobs:
        material = sum(len(passage.text) for passage in job.passages) // _PER_TOKEN
        if not job.answerable:
            n_calls, tokens = 2 + n_groups, material + whole
        else:
            # single-hop: written, self-contained, answered from quotes and from nothing, each compared with the
            # draft's answer, other passages; multi-hop: each of the two quotes alone instead of other passages
            n_calls = 7 if len(job.passages) == 1 else 10
            tokens = 2 * material + NEAR * whole // max(1, len(corpus))
        calls, prompt = calls + n_calls, prompt + tokens + n_calls * _FRAME
    return Price(calls, prompt, calls * _REPLY)
