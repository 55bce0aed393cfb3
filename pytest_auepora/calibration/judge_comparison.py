"""The judge before and the judge now, on the same labels: is one of them right more often?

Mid-p McNemar: Fagerland, Lydersen, Laake, BMC Medical Research Methodology 13:91 (2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

__all__ = ["Change", "compare_judges", "mid_p_mcnemar"]

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the items that both judges were held against.

    ``fixed`` were wrong before and are right now, ``broken`` the other way round; ``p`` is the two-sided mid-p.
    """

    n: int
    fixed: int
    broken: int
    p: float

    @property
    def outcome(self) -> str:
        """``better``, ``worse``, or ``no clear difference``."""
        if self.p > ALPHA:
            return "no clear difference"
        return "better" if self.fixed > self.broken else "worse"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {**asdict(self), "p": round(self.p, 6), "outcome": self.outcome}


def mid_p_mcnemar(b: int, c: int) -> float:
    """Return the two-sided mid-p of *b* against *c* discordant pairs under even chances; 1 without any."""
    n, few = b + c, min(b, c)
    if not n:
        return 1.0
    point = comb(n, few)  # whole numbers: no pair is too many
    if b == c:
        return 1 - point / (1 << (n + 1))
    return (2 * sum(comb(n, i) for i in range(few + 1)) - point) / (1 << n)


def compare_judges(before: Mapping[str, tuple[bool, bool]], now: Mapping[str, tuple[bool, bool]]) -> Change | None:
    """Compare two judges' labels, item id → (people, judge); None without an item both know with the same label."""
    shared = [i for i in now if i in before and before[i][0] == now[i][0]]
    if not shared:
        return None
    was = [before[i][0] == before[i][1] for i in shared]
    is_now = [now[i][0] == now[i][1] for i in shared]
    fixed = sum(new and not old for old, new in zip(was, is_now, strict=True))
    broken = sum(old and not new for old, new in zip(was, is_now, strict=True))
    return Change(len(shared), fixed, broken, mid_p_mcnemar(fixed, broken))
