"""Parts of a recorded answer that are not there: whoever reads one is told why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from ..core.types import Document, Response
from ..errors import NotRecordedError


class WithheldDocument(Document):
    """A retrieved document of which the text is not there."""

    def __init__(self, doc_id: str, reason: str, metadata: dict[str, Any]) -> None:
        self.doc_id = doc_id
        self.metadata = metadata
        self.reason = reason

    @property
    def text(self) -> str:  # type: ignore[override]
        """Raises `NotRecordedError`."""
        raise NotRecordedError(f"the text of {self.doc_id!r} {self.reason}")

    def __repr__(self) -> str:
        return f"<{self.doc_id}: its text {self.reason}>"


class WithheldResponse(Response):
    """An answer of which the text is not there."""

    def __init__(self, reason: str, structured: dict[str, Any] | None, metadata: dict[str, Any]) -> None:
        self.reason = reason
        self.structured = structured
        self.metadata = metadata

    @property
    def text(self) -> str:  # type: ignore[override]
        """Raises `NotRecordedError`."""
        raise NotRecordedError(f"the answer {self.reason}")

    def __repr__(self) -> str:
        return f"<an answer that {self.reason}>"


class WithheldList(list[Any]):
    """A ranking that is not there."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__()
        self.message = f"{what} {reason}"

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotRecordedError(self.message)

    __iter__ = __len__ = __getitem__ = __contains__ = __reversed__ = __bool__ = _refuse


class PartialMapping(dict[str, Any]):
    """A mapping of which some keys, or all that it does not show, are not there.

    Args:
        what: what messages call it.
        known: the keys it has.
        gaps: keys that are not there, and why.
        rest: why any key that it does not have may have been there; empty where it has all the others.
    """

    def __init__(self, what: str, known: Mapping[str, Any], gaps: Mapping[str, str], rest: str = "") -> None:
        super().__init__(known)
        self.what, self.gaps, self.rest = what, gaps, rest

    def _reason(self, key: Any) -> str:
        return "" if super().__contains__(key) else self.gaps.get(key, self.rest)

    def __contains__(self, key: object) -> bool:
        if reason := self._reason(key):
            raise NotRecordedError(f"{self.what}[{key!r}] {reason}")
        return super().__contains__(key)

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is under *key*, or *default*; raises `NotRecordedError` where that is not known."""
        return super().__getitem__(key) if key in self else default

    def __bool__(self) -> bool:
        return True

    def _all(self) -> NoReturn:
        reason = self.rest or next(iter(self.gaps.values()), "is not all there")
        raise NotRecordedError(f"{self.what} {reason}")

    def __iter__(self) -> Iterator[str]:
        self._all()

    def __len__(self) -> int:  # noqa: PLE0303 - it never returns
        self._all()

    def keys(self) -> Any:
        """Raise `NotRecordedError`: not all keys are known."""
        self._all()

    def values(self) -> Any:
        """Raise `NotRecordedError`: not all values are known."""
        self._all()

    def items(self) -> Any:
        """Raise `NotRecordedError`: not all items are known."""
        self._all()
