"""Which passages are asked about, how often, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import AueporaError, did_you_mean
from ..io.perturb import drawn_order
from .documents import Passage, Passages

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
    passages: tuple[Passage, ...]

    @property
    def key(self) -> str:
        """Tells it from other jobs."""
        return "|".join((self.kind, *(passage.key for passage in self.passages)))


def read_quotas(text: str) -> dict[str, int]:
    """Read ``single-hop=2,unanswerable=1``: cases of each kind that every document is to have.

    Raises:
        AueporaError: a kind is unknown, or a number is none.
    """
    out: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        kind, _, number = (word.strip() for word in part.partition("="))
        if kind not in KINDS:
            raise AueporaError(f"unknown kind {kind!r}{did_you_mean(kind, KINDS)}; there is {', '.join(KINDS)}")
        if not number.isdecimal():
            raise AueporaError(f"{kind}: expected how many, as in {kind}=2, got {part!r}")
        out[kind] = int(number)
    if not any(out.values()):
        raise AueporaError("no case is wanted of any kind")
    return out


def planned(passages: Passages, quotas: Mapping[str, int], seed: int) -> dict[tuple[str, str], list[Job]]:
    """Return the jobs of each document and kind in the order in which they are tried; more than are wanted."""
    out: dict[tuple[str, str], list[Job]] = {}
    for doc, own in passages.worth_asking.items():
        for kind, wanted in quotas.items():
            order = drawn_order(f"{seed}|{doc}|{kind}", len(own))[: TRIES * wanted]
            chosen = [own[i] for i in order]
            out[doc, kind] = [job for passage in chosen for job in _jobs(kind, passage, passages)]
    return out


def _jobs(kind: str, passage: Passage, passages: Passages) -> Iterator[Job]:
    if kind != "multi-hop":
        yield Job(kind, passage.doc, (passage,))
        return
    others = [p for p in passages.nearest(passage.text, 10, [passage]) if p in passages.worth_asking[p.doc]]
    far = next((p for p in others if p.doc != passage.doc), others[0] if others else None)
    if far is not None:
        yield Job(kind, passage.doc, (passage, far))


def packed(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """Yield *passages* in groups of which each is shown in one call."""
    pack: list[Passage] = []
    size = 0
    for passage in passages:
        if pack and size + len(passage.text) > PACK:
            yield pack
            pack, size = [], 0
        pack.append(passage)
        size += len(passage.text)
    if pack:
        yield pack


class Price(NamedTuple):
    """What drafting takes at most: calls, and tokens of prompts and of replies."""

    calls: int
    prompt_tokens: int
    reply_tokens: int


def price_of(jobs: Sequence[Job], corpus: Sequence[Passage]) -> Price:
    """Estimate what *jobs* take if none is rejected before it is fully checked; four characters are a token."""
    whole = sum(len(passage.text) for passage in corpus) // _PER_TOKEN
    packs = sum(1 for _ in packed(corpus))
    calls = prompt = 0
    for job in jobs:
        material = sum(len(passage.text) for passage in job.passages) // _PER_TOKEN
        if job.kind == "unanswerable":
            n, read = 2 + packs, material + whole
        else:
            # written, understood alone; answered from its quotes and from nothing, each held to the draft's answer;
            # other passages that answer, or each of two quotes by itself, held to it as well
            n = 7 if len(job.passages) == 1 else 10
            read = 2 * material + NEAR * whole // max(1, len(corpus))
        calls, prompt = calls + n, prompt + read + n * _FRAME
    return Price(calls, prompt, calls * _REPLY)
