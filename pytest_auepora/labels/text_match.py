"""Finding a passage in chunks that were cut and wrapped differently: texts are compared without their white space."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property

MIN_RUN = 16
"""Characters, white space not counted, that a passage and a chunk must share in one run: fewer may be chance."""

_BETWEEN = "\0"


def squeeze(text: str) -> str:
    """Return *text* in NFKC without any white space, which is where chunkers differ most."""
    return "".join(unicodedata.normalize("NFKC", text).replace(_BETWEEN, "").split())


def covered_share(runs: list[tuple[int, int]], length: int) -> float:
    """Return the share of *length* characters that lie in any of *runs* (start, end exclusive)."""
    done = total = 0
    for start, end in sorted(runs):
        total += max(0, end - max(start, done))
        done = max(done, end)
    return total / length if length else 0.0


class TextIndex:
    """The squeezed texts of many chunks.

    Args:
        texts: by chunk id, as they are.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        squeezed = {chunk_id: squeeze(text) for chunk_id, text in texts.items()}
        self._texts = {chunk_id: text for chunk_id, text in squeezed.items() if text}
        self._ids = list(self._texts)

    @cached_property
    def _joined(self) -> tuple[str, list[int]]:
        starts, at = [], 0
        for text in self._texts.values():
            starts.append(at)
            at += len(text) + 1
        return _BETWEEN.join(self._texts.values()), starts

    @cached_property
    def _edges(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Ids by the first and by the last characters of their texts."""
        heads: dict[str, list[str]] = {}
        tails: dict[str, list[str]] = {}
        for chunk_id, text in self._texts.items():
            if len(text) >= MIN_RUN:
                heads.setdefault(text[:MIN_RUN], []).append(chunk_id)
                tails.setdefault(text[-MIN_RUN:], []).append(chunk_id)
        return heads, tails

    def text(self, chunk_id: str) -> str:
        """Return the squeezed text of a chunk, empty where it is not known."""
        return self._texts.get(chunk_id, "")

    def holding(self, passage: str) -> list[str]:
        """Return the ids of the chunks that hold all of *passage* (squeezed), in the order of the corpus."""
        text, starts = self._joined
        out: list[str] = []
        at = text.find(passage) if passage else -1
        while at >= 0:
            number = bisect_right(starts, at) - 1
            out.append(self._ids[number])
            if number + 1 == len(starts):
                break
            at = text.find(passage, starts[number + 1])
        return out

    def runs(self, passage: str) -> dict[str, list[tuple[int, int]]]:
        """Return which characters of *passage* (squeezed) each chunk holds that holds a part of it.

        Parts count where a chunk begins or ends inside the passage, from `MIN_RUN` characters on.
        """
        heads, tails = self._edges
        out: dict[str, list[tuple[int, int]]] = {}
        for start in range(len(passage) - MIN_RUN + 1):
            end = start + MIN_RUN
            window = passage[start:end]
            for chunk_id in heads.get(window, ()):
                text = self._texts[chunk_id]
                room = min(len(text), len(passage) - start)
                if passage.startswith(text[:room], start):
                    out.setdefault(chunk_id, []).append((start, start + room))
            for chunk_id in tails.get(window, ()):
                text = self._texts[chunk_id]
                room = min(len(text), end)
                if text.endswith(passage[end - room : end]):
                    out.setdefault(chunk_id, []).append((end - room, end))
        return out
