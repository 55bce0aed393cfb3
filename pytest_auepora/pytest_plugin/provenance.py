"""Under which conditions the cases of a run were asked; where workers on several hosts say different things, all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Conditions"]

_NOTHING = "not said"


class Conditions:
    """What the processes that ran the cases of one run said of its provenance."""

    def __init__(self) -> None:
        self._said: list[Mapping[str, Any]] = []
        self._of: dict[str, Mapping[str, Any]] = {}

    def take(self, case_id: str, said: Mapping[str, Any]) -> None:
        """Take in what was said with a case; nothing said, as of a case that was skipped, says nothing."""
        if not said:
            return
        for known in self._said:
            if known is said or known == said:
                break
        else:
            known = said
            self._said.append(said)
        self._of[case_id] = known

    def settled(self) -> tuple[dict[str, Any], str]:
        """Return the provenance of the run, and a sentence on what differs between its cases, or an empty one.

        A value that differs is the text of all there are, so that it is equal to none of them: what was asked under
        two conditions compares with neither.
        """
        used = {id(one): one for one in self._of.values()}
        if len(used) <= 1:
            return dict(next(iter(used.values()), {})), ""
        out: dict[str, Any] = {}
        differing: list[str] = []
        for key in dict.fromkeys(key for one in used.values() for key in one):
            values = [one.get(key, _NOTHING) for one in used.values()]
            if all(value == values[0] for value in values):
                out[key] = values[0]
            else:
                out[key] = " and ".join(sorted({str(value) for value in values}))
                differing.append(f"{key} {out[key]}")
        return out, f"not all cases were asked under the same conditions: {', '.join(differing)}"
