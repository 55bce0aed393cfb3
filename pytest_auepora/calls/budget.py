"""How many calls a run may still make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False)
class CallBudget:
    """Calls that are left; None: as many as it takes.

    ``refused`` has whom they did not suffice for: golden file, configuration and case; no case: the suite.  ``afford``
    says whether so many may be paid for.
    """

    left: int | None = None
    refused: dict[tuple[str, str, str], None] = field(default_factory=dict)
    afford: Callable[[int], bool] = lambda _calls: True

    def allows(self, calls: int) -> bool:
        """Whether so many calls are left."""
        return (self.left is None or calls <= self.left) and self.afford(calls)

    def take(self, calls: int, who: tuple[str, str, str]) -> bool:
        """Take so many calls for *who*; return whether they were left."""
        if not self.allows(calls):
            self.refused[who] = None
            return False
        if self.left is not None:
            self.left -= calls
        return True
