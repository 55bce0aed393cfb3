"""BLEU's sufficient statistics; the score itself is sacrebleu's, to the last bit.

sacrebleu's 13a tokenizer never looks past white space, so its result is remembered per word.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from .tokens import REMEMBER_UP_TO, REMEMBERED

TOKENIZERS = ("13a", "intl", "char", "zh", "none")
SMOOTHING = ("exp", "floor", "add-k", "none")


@dataclass(frozen=True, slots=True)
class Bleu:
    """One configuration of BLEU.  The options are sacrebleu's, under the names of the metric."""

    max_order: int = 4
    smooth_method: str = "exp"
    smooth_value: float | None = None
    tokenizer: str = "13a"
    lowercase: bool = False
    effective_order: bool = False

    def words(self, text: str) -> tuple[str, ...]:
        """Tokenize *text* as sacrebleu does."""
        cut = _cut if len(text) > REMEMBER_UP_TO else _remembered_cut
        return cut(text.lower() if self.lowercase else text, self.tokenizer)

    def statistics(self, prediction: str, references: Sequence[str]) -> list[int]:
        """Return [length, nearest reference length, matches of order 1…, n-grams of order 1…]."""
        given, wanted = self.words(prediction), [self.words(r) for r in references]
        length = len(given)
        nearest = min((abs(length - len(w)), len(w)) for w in wanted)[1]
        totals = [max(length - n, 0) for n in range(self.max_order)]
        return [length, nearest, *matches(given, wanted, self.max_order), *totals]

    def score(self, statistics: Sequence[int]) -> Any:
        """Return sacrebleu's ``BLEUScore`` (0 to 100) for summed statistics."""
        from sacrebleu.metrics.bleu import BLEU

        middle = 2 + self.max_order
        return BLEU.compute_bleu(
            correct=list(statistics[2:middle]),
            total=list(statistics[middle:]),
            sys_len=statistics[0],
            ref_len=statistics[1],
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            effective_order=self.effective_order,
            max_ngram_order=self.max_order,
        )

    def signature(self) -> str:
        """Return what has to be equal for two BLEU values to compare, in sacrebleu's way of writing it."""
        import sacrebleu

        smooth = self.smooth_method if self.smooth_value is None else f"{self.smooth_method}[{self.smooth_value:g}]"
        case, effective = "lc" if self.lowercase else "mixed", "yes" if self.effective_order else "no"
        return (
            f"case:{case}|eff:{effective}|tok:{self.tokenizer}|smooth:{smooth}"
            f"|order:{self.max_order}|version:{sacrebleu.__version__}"
        )


def _cut(text: str, tokenizer: str) -> tuple[str, ...]:
    text = text.rstrip()
    if tokenizer != "13a":
        return tuple(_sacrebleu_tokenizer(tokenizer)(text).split())
    text = text.replace("<skipped>", "").replace("-\n", "")
    return tuple(chain.from_iterable(map(_WORDS_13A.__getitem__, text.split())))


_remembered_cut = lru_cache(maxsize=REMEMBERED)(_cut)


@lru_cache(maxsize=8)
def _sacrebleu_tokenizer(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    made: Callable[[str], str] = BLEU(tokenize=name).tokenizer
    return made


class _Words13a(dict[str, tuple[str, ...]]):
    """What 13a makes of a word: mostly the word itself.

    Equal tokens are one and the same text, so that they are hashed once and compared at a glance.
    """

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) > 500_000:
            self.clear()
        cut = self[word] = tuple(map(sys.intern, _sacrebleu_tokenizer("13a")(word).split()))
        return cut


_WORDS_13A = _Words13a()


def matches(given: Sequence[str], wanted: Sequence[Sequence[str]], longest: int) -> list[int]:
    """Count the n-grams of *given* that occur in one of *wanted*, each at most as often as where it is most frequent.

    Returns:
        the counts of orders 1 to *longest*.
    """
    found = [0] * longest
    for n in range(1, longest + 1):
        best = _ngrams(wanted[0], n)
        for other in wanted[1:]:
            best |= _ngrams(other, n)
        shared = sum((_ngrams(given, n) & best).values())
        if not shared:  # nor do longer ones
            break
        found[n - 1] = shared
    return found


def _ngrams(words: Sequence[str], n: int) -> Counter[Any]:
    """Count the n-grams; single words are not wrapped."""
    return Counter(words if n == 1 else zip(*[words[i:] for i in range(n)], strict=False))
