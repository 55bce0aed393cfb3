"""English number words: ``two hundred and fifty thousand`` → 250000."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["SCALES", "worded"]

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
          "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SMALL = {word: i for i, word in enumerate(_UNITS)}
_SMALL |= {word: 10 * i for i, word in enumerate(_TENS, 2)}
_SMALL |= {word: i for i, word in enumerate(_ORDINALS, 1)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
"""Words that multiply what stands before them."""

_TOKEN = re.compile(r"[a-z]+|[^\sa-z-]")


def worded(text: str) -> Iterator[tuple[int, str]]:
    """Yield every number written in words in the lower-case *text*, with the word that follows it."""
    total, current, last = 0, -1, ""  # current is -1 where no number is open
    for word in [*_TOKEN.findall(text), ""]:
        if word in _SMALL and (current < 0 or _fits(current, _SMALL[word])):
            current = max(current, 0) + _SMALL[word]
        elif word == "hundred" and current >= 0:
            current = (current or 1) * 100
        elif word in SCALES and current >= 0:
            total, current = total + (current or 1) * SCALES[word], 0
        elif not (word == "and" and current >= 0 and (last == "hundred" or last in SCALES)):
            if current >= 0:
                yield total + current, word
            total, current = 0, _SMALL.get(word, -1)
        last = word


def _fits(current: int, small: int) -> bool:
    """Whether *small* continues the number: after a round hundred or thousand, or ``twenty`` + ``five``."""
    return current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and 0 < small < 10)
