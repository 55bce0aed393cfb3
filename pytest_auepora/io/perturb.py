"""Disturbed forms of a query: typos, letter case, punctuation.  Made once, for review, never at run time.

Every choice comes from ``sha256(seed | case id | operation | index)``, so the same case gets the same variants on
every machine and Python, whatever other cases there are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Literal

from ..core.types import EvaluationSample

Operation = Literal["typo", "casing", "punctuation"]
OPERATIONS: tuple[Operation, ...] = ("typo", "casing", "punctuation")

TYPOS = 2
VARIANTS = 3
_TRIES = 4  # per variant: short queries give the same form again and again

_WORD = re.compile(r"(?<!\w)[^\W\d_]{4,}(?!\w)")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


class _Draw:
    """An endless stream of fair draws from one digest; does not depend on how `random` is implemented."""

    def __init__(self, key: str) -> None:
        self._key, self._count, self._bytes = key.encode("utf-8", "surrogatepass"), 0, b""

    def below(self, n: int) -> int:
        """A whole number from 0 to *n* - 1."""
        limit = (1 << 32) - (1 << 32) % n
        while True:
            if not self._bytes:
                self._bytes = sha256(self._key + b"|" + str(self._count).encode()).digest()
                self._count += 1
            drawn, self._bytes = int.from_bytes(self._bytes[:4], "big"), self._bytes[4:]
            if drawn < limit:
                return drawn % n

    def order(self, n: int) -> list[int]:
        """The numbers below *n* in a random order."""
        left = list(range(n))
        return [left.pop(self.below(len(left))) for _ in range(n)]


def drawn_order(key: str, n: int) -> list[int]:
    """Return the numbers below *n* in an order that *key* decides, the same on every machine."""
    return _Draw(key).order(n)


def _neighbours() -> dict[str, str]:
    near: dict[str, str] = {}
    for y, row in enumerate(_ROWS):
        for x, key in enumerate(row):
            around = [row[i] for i in (x - 1, x + 1) if 0 <= i < len(row)]
            for other in (y - 1, y + 1):
                if 0 <= other < len(_ROWS):
                    # each row is shifted by about half a key to the right of the one above
                    reach = (x, x + 1) if other < y else (x - 1, x)
                    around += [_ROWS[other][i] for i in reach if 0 <= i < len(_ROWS[other])]
            near[key] = "".join(around)
    return near


_NEAR = _neighbours()


def _swap(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :] if at + 2 < len(word) else word


def _drop(word: str, at: int) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int) -> str:
    return word[:at] + word[at] + word[at:]


def _neighbour(draw: _Draw, word: str, at: int) -> str:
    near = _NEAR.get(word[at].lower())
    if near is None:
        return word
    key = near[draw.below(len(near))]
    return word[:at] + (key.upper() if word[at].isupper() else key) + word[at + 1 :]


def _misspelt(word: str, draw: _Draw) -> str:
    """Return *word* with one typo that spares its first and last letter."""
    kinds: tuple[Callable[[str, int], str], ...] = (_swap, _drop, _double, partial(_neighbour, draw))
    for kind in draw.order(len(kinds)):
        for place in draw.order(len(word) - 2):
            made = kinds[kind](word, place + 1)
            if made != word:
                return made
    return word


def _typo(text: str, draw: _Draw, typos: int) -> str:
    # words of scripts without letter case are left alone: their typing errors are of another kind
    found = [m for m in _WORD.finditer(text) if m[0].lower() != m[0].upper()]
    chosen = sorted((found[i] for i in draw.order(len(found))[:typos]), key=lambda m: -m.start())
    for m in chosen:
        text = text[: m.start()] + _misspelt(m[0], draw) + text[m.end() :]
    return text


def _casings(text: str) -> list[str]:
    return [text.lower(), text.upper(), text.swapcase(), text.title()]


def _punctuations(text: str) -> list[str]:
    bare = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
    ending = text.rstrip()
    spaced = re.sub(r"(?<=\w)([^\w\s])", r" \1", text)
    return [" ".join(bare.split()), ending + ("??" if ending.endswith("?") else "???"), ending + " ...", spaced]


def _one_of(forms: Sequence[str], text: str, draw: _Draw, index: int) -> str:
    made = [form for form in dict.fromkeys(forms) if form.strip() and form != text]
    return made[draw.order(len(made))[index]] if index < len(made) else text


def perturb(
    query: str, *, case_id: str, operation: Operation = "typo", index: int = 0, seed: int = 0, typos: int = TYPOS
) -> str:
    """Return a disturbed form of *query*; *query* itself where nothing can be disturbed.

    Args:
        query: the query of the case.
        case_id: its id.
        operation: ``"typo"``: *typos* words of four letters or more each get one error (letters swapped, dropped,
            doubled, or a neighbouring key), never in their first or last letter.  ``"casing"`` and
            ``"punctuation"``: one of a few other forms, each *index* another, as long as there are any.
        index: which of the variants of this operation.
        seed: any whole number; another seed gives other variants.
        typos: how many words are hit.

    Raises:
        ValueError: the operation is unknown, or *index* or *typos* is out of range.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"operation must be one of {', '.join(OPERATIONS)}, got {operation!r}")
    if index < 0 or typos < 1:
        raise ValueError(f"index must not be negative and typos be at least 1, got {index} and {typos}")
    if operation == "typo":
        return _typo(query, _Draw(f"{seed}|{case_id}|{operation}|{index}"), typos)
    forms = _casings(query) if operation == "casing" else _punctuations(query)
    return _one_of(forms, query, _Draw(f"{seed}|{case_id}|{operation}|0"), index)


def variants(
    sample: EvaluationSample,
    operations: Sequence[Operation] = ("typo",),
    *,
    count: int = VARIANTS,
    seed: int = 0,
    typos: int = TYPOS,
) -> list[EvaluationSample]:
    """Return up to *count* disturbed forms of *sample* for each operation, as variants of it.

    They are called ``<id>-typo-1`` and so on, carry ``labels["variant_of"]`` and ``labels["scenario"]`` and share
    the gold labels of *sample*.  Forms that equal the query or each other are left out.
    """
    made: list[EvaluationSample] = []
    for operation in operations:
        forms = (
            perturb(sample.query, case_id=sample.sample_id, operation=operation, index=index, seed=seed, typos=typos)
            for index in range(_TRIES * count)
        )
        made += reworded(sample, forms, operation, count=count)
    return made


def reworded(
    sample: EvaluationSample, queries: Iterable[str], scenario: str, *, count: int = VARIANTS
) -> list[EvaluationSample]:
    """Return variants of *sample* that ask the first *count* of *queries* that differ from it and from each other."""
    made: list[EvaluationSample] = []
    seen = {sample.query}
    for query in queries:
        if query in seen:
            continue
        seen.add(query)
        labels: dict[str, Any] = {**sample.labels, "variant_of": sample.sample_id, "scenario": scenario}
        made.append(
            replace(sample, sample_id=f"{sample.sample_id}-{scenario}-{len(made) + 1}", query=query, labels=labels)
        )
        if len(made) == count:
            break
    return made
