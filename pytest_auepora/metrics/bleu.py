"""BLEU's sufficient statistics, fast; the score itself is sacrebleu's, to the last bit.

sacrebleu's 13a tokenizer never looks past white space, so its result is remembered per word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import chain
from operator import or_
from typing import Any

__all__ = ["SMOOTHING", "TOKENIZERS", "Bleu"]

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

    def words(self, text: str) -> list[str]:
        """Tokenize *text* as sacrebleu does."""
        text = (text.lower() if self.lowercase else text).rstrip()
        if self.tokenizer != "13a":
            return _sacrebleu_tokenizer(self.tokenizer)(text).split()
        text = text.replace("<skipped>", "").replace("-\n", "")
        return list(chain.from_iterable(map(_WORDS_13A.__getitem__, text.split())))

    def statistics(self, prediction: str, references: Sequence[str]) -> list[int]:
        """Return [length, nearest reference length, matches of order 1…, n-grams of order 1…]."""
        given = self.words(prediction)
        wanted = [self.words(r) for r in references]
        length = len(given)
        nearest = min((abs(length - len(w)), len(w)) for w in wanted)[1]
        matches, totals = [], []
        for n in range(1, self.max_order + 1):
            totals.append(max(length - n + 1, 0))
            matches.append(_matches(_ngrams(given, n), [Counter(_ngrams(w, n)) for w in wanted]))
        return [length, nearest, *matches, *totals]

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


def _matches(given: Iterable[Any], wanted: Sequence[Counter[Any]]) -> int:
    """Count the n-grams of *given* that occur in a reference, each at most as often as in its best reference."""
    most = wanted[0] if len(wanted) == 1 else reduce(or_, wanted)
    counts = Counter(filter(most.__contains__, given))
    return sum(min(count, most[gram]) for gram, count in counts.items())


def _ngrams(tokens: Sequence[str], n: int) -> Iterable[Any]:
    return tokens if n == 1 else zip(*(tokens[i:] for i in range(n)), strict=False)


@lru_cache(maxsize=8)
def _sacrebleu_tokenizer(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    made: Callable[[str], str] = BLEU(tokenize=name).tokenizer
    return made


class _Words13a(dict[str, tuple[str, ...]]):
    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) > 500_000:
            self.clear()
        cut = self[word] = tuple(_sacrebleu_tokenizer("13a")(word).split())
        return cut


_WORDS_13A = _Words13a()
