"""How many answers in a row must fail before a case fails its own test.

    answers_needed(m, V) → j, or None where a case that varies cannot fail alone
    c(j, m)              → the bound that j comes from

A *check* is what can fail a case.  m is the number of accepted answers to the case, V the number of checks, over the
whole baseline, that held in some accepted answers and not in others.

Why j answers are enough: let x be the chance that one answer of the accepted system fails a check.  That the check held
in all m accepted answers and fails in j answers today has the probability P(held)·x^j.  A suite that holds many such
checks shows it, as checks with the same x vary among the accepted answers with the probability P(varied).  The sum of
P(held)·x^j over all checks is at most E[V]·c_j with

    c_j = max over x of  x^j·(1 - x)^m / (1 - (1 - x)^m - x^m)

and j is chosen by the V that was seen, so that it is at most `ALPHA_CASES`: that is the share of runs in which an
unchanged system fails any case, whatever its rates, if cases are independent.
"""

from __future__ import annotations

from functools import lru_cache

FEWEST = 3
"""No case fails by fewer answers in a row."""

STEADY = 4
"""Answers in a row if nothing varied in two answers to each case, and so no more were accepted."""

MOST = 10
"""A case is asked no more often than this."""

ALPHA_CASES = 0.025
"""Share of unchanged runs in which any case fails, at most."""


@lru_cache(maxsize=4096)
def answers_needed(m: int, varied: int) -> int | None:
    """Return the number of answers in a row that must fail, the first one included.

    None if it would be more than `MOST`: a case that varied when accepted cannot fail alone then, and one that did not
    vary is asked as often as that.  It is `FEWEST` without a guarantee if one answer was accepted (*m* = 1).

    Args:
        m: accepted answers to the case, one or more.
        varied: V, the checks of the merged baseline that held in some accepted answers and not in others.
    """
    if m == 1:
        return FEWEST
    if m == 2 and not varied:
        return STEADY
    return next((j for j in range(FEWEST, MOST + 1) if c(j, m) <= ALPHA_CASES / (varied + 1)), None)


@lru_cache(maxsize=1024)
def c(j: int, m: int) -> float:
    """Return the largest P(held in all *m* answers, then *j* in a row fail) / P(varied among the m), over all rates.

    *j* and *m* are two or more.  The ratio has one maximum, which a search by thirds finds.
    """
    low, high = 0.0, 1.0
    for _ in range(100):
        third = (high - low) / 3
        if _ratio(low + third, j, m) < _ratio(high - third, j, m):
            low += third
        else:
            high -= third
    return _ratio((low + high) / 2, j, m)


def _ratio(x: float, j: int, m: int) -> float:
    """Return x^j·(1 - x)^m / (1 - (1 - x)^m - x^m), for 0 < x < 1."""
    return float(x**j * (1 - x) ** m / (1 - (1 - x) ** m - x**m))
