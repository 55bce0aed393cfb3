"""How many n-grams of a text occur in other texts, each at most as often as there: of one text, or of many at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Compared", "matches", "matches_of_many"]

Compared = tuple[Sequence[str], Sequence[Sequence[str]]]
"""The words of a text, and those of each text it is compared with."""

_AT_ONCE = 2**14
"""Words that are counted together: more of them leave the processor's cache; 2**15 is all that a key has room for."""

_WORTH_ARRAYS = 8
"""Fewer texts than this are counted one by one: calling NumPy a hundred times costs as much as six of them."""


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
        # two counts in C and one loop: asking first which repeat, or whose beginning is shared, costs more than it
        # saves; so does counting all orders at once, beside that no more are counted where one order shares nothing
        at_most = best.get
        shared = 0
        for gram, times in _ngrams(given, n).items():
            if most := at_most(gram):
                shared += times if times < most else most
        if not shared:
            break
        found[n - 1] = shared
    return found


def _ngrams(words: Sequence[str], n: int) -> Counter[Any]:
    """Count the n-grams; single words are not wrapped."""
    return Counter(words if n == 1 else zip(*[words[i:] for i in range(n)], strict=False))


def matches_of_many(compared: Iterable[Compared], longest: int) -> Iterator[tuple[Compared, list[int]]]:
    """Yield every one with its `matches`, found in less than a third of the time where they are many.

    No more of them are held than are counted together.
    """
    for portion in _portions(compared):
        if len(portion) < _WORTH_ARRAYS:
            found = [matches(given, wanted, longest) for given, wanted in portion]
        else:
            found = _Portion(portion).matches(longest)
        yield from zip(portion, found, strict=True)


def _portions(compared: Iterable[Compared]) -> Iterator[list[Compared]]:
    """Cut where `_AT_ONCE` is reached, an empty text counting as a word; a long text is a portion of its own."""
    portion: list[Compared] = []
    size = 0
    for one in compared:
        given, wanted = one
        words = len(given) + 1 + sum(map(len, wanted)) + len(wanted)
        if portion and size + words > _AT_ONCE:
            yield portion
            portion, size = [], 0
        portion.append(one)
        size += words
    if portion:
        yield portion


class _Portion:
    """Texts whose n-grams are counted together, order by order, by sorting numbers that stand for them.

    An n-gram counts for its own comparison alone, so its number is another one in each.  What is not shared is left
    out of the next order: an n-gram can match only where the two shorter ones in it do.
    """

    def __init__(self, compared: Sequence[Compared]) -> None:
        import numpy as np

        texts: list[Sequence[str]] = []
        of: list[int] = []
        side: list[int] = []
        for i, (given, wanted) in enumerate(compared):
            texts += (given, *wanted)
            of += [i] * (1 + len(wanted))
            side += range(1 + len(wanted))  # 0 is the text itself
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.size, self.comparisons = int(lengths.sum()), len(compared)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        words = np.fromiter(map(numbers.__getitem__, chain.from_iterable(texts)), np.int64, self.size)
        self.comparison, self.side = np.repeat(of, lengths), np.repeat(side, lengths)
        self.sides = max(side) + 1
        self.goes_on = np.ones(self.size, bool)  # whether the next word belongs to the same text
        self.goes_on[np.cumsum(lengths)[lengths > 0] - 1] = False
        self.words = self.comparison * len(numbers) + words

    def matches(self, longest: int) -> list[list[int]]:
        import numpy as np

        found = np.zeros((self.comparisons, longest), np.int64)
        at, grams = np.arange(self.size), self.words
        for column in found.T:
            if not at.size:
                break
            shared = self._shared(at, grams, column)
            after = np.append(shared[1:], -1)
            at = np.flatnonzero((shared >= 0) & (after >= 0) & self.goes_on)
            grams = shared[at] * self.size + after[at]
        return found.tolist()

    def _shared(self, at: NDArray[Any], grams: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
        """Add to *found*, by comparison, the matches of the n-grams numbered *grams* that begin with the words *at*.

        Returns:
            for every word a new number, below that of all words, of the n-gram that begins there; -1 where it is not
            shared.
        """
        import numpy as np

        bits = self.size.bit_length()
        keys = ((grams * self.sides + self.side[at]) << bits) | at  # sorting one number each is what NumPy is best at
        keys.sort()
        at, keys = keys & ((1 << bits) - 1), keys >> bits
        begins = _beginnings(keys)  # of n-grams within one text
        times = np.diff(begins, append=keys.size)
        grams, sides = np.divmod(keys[begins], self.sides)
        firsts = _beginnings(grams)  # of all that is one n-gram, the text itself first if it is there
        own = sides == 0
        clipped = np.minimum(
            np.where(own[firsts], times[firsts], 0), np.maximum.reduceat(np.where(own, 0, times), firsts)
        )
        begins = begins[firsts]
        found += np.bincount(self.comparison[at[begins]], clipped, len(found)).astype(np.int64)
        shared = np.full(self.size, -1)
        numbers = np.where(clipped > 0, np.arange(begins.size), -1)
        shared[at] = np.repeat(numbers, np.diff(begins, append=keys.size))
        return shared


def _beginnings(ordered: NDArray[Any]) -> NDArray[Any]:
    """Return where another number begins."""
    import numpy as np

    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
