"""`Parts`: an answer as plain data that JSON carries unchanged, and back.

Reading a part that is missing raises an error that says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NoReturn

from ..base.json import known_fields
from ..core.result_shapes import Place, Times
from ..core.types import Document, Response, RetrievedDocument, SystemOutputs
from ..errors import NotRecordedError

Path = tuple[str | int, ...]
"""``("answer",)``, ``("retrieved", 3, "text")``, ``("extra", "trace")``; ``("extra",)`` for all that it lacks."""

TEXT, _METADATA = 1, 4  # places in a hit


_StoredHits = list[tuple[str, Place | None, Any, int, dict[str, Any]]] | None  # with the place of its text in every hit


class _NotPlainError(TypeError):
    pass


@dataclass(eq=False, repr=False, slots=True)
class Parts:
    """What a metric may read of an answer: the fields of `SystemOutputs` and its response.

    ``retrieved`` has ``[id, text, score, rank, metadata]`` in rank order; it and ``answer`` are None where they are not
    there.  ``gaps`` says what is not there, and why.
    """

    answer: str | None
    retrieved: Annotated[list[list[Any]] | None, _StoredHits]
    timings: Annotated[dict[str, float], Times]
    structured: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    gaps: Annotated[dict[Path, str], list[tuple[list[str | int], str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, outputs: SystemOutputs) -> Parts:
        """Return *outputs* as parts; what JSON cannot carry becomes a gap."""
        response = outputs.response
        out = cls(response.text, None, {str(k): float(v) for k, v in outputs.timings.items()})
        out.metadata = out._mapping(response.metadata, ("metadata",))
        out.structured = out._value(response.structured, ("structured",))
        out.retrieved = [
            [(doc := r.doc).doc_id, doc.text, score if type(score := r.score) is float else _number(score), r.rank,
             out._mapping(doc.metadata, ("retrieved", i, "metadata")) if doc.metadata else {}]
            for i, r in enumerate(outputs.retrieved)
        ]  # fmt: skip
        out.extra = out._mapping(outputs.extra, ("extra",))
        return out

    def _mapping(self, mapping: Mapping[str, Any] | None, path: Path) -> dict[str, Any]:
        out = {}
        for key, value in (mapping or {}).items():
            if not isinstance(key, str):
                self.gaps[path] = f"was not recorded: its key {key!r} is not a text"
            elif (plain_value := self._value(value, (*path, key))) is not None or value is None:
                out[key] = plain_value
        return out

    def _value(self, value: Any, path: Path) -> Any:
        try:
            return plain(value)
        except _NotPlainError as exc:
            self.gaps[path] = f"was not recorded: {exc} is nothing that JSON can carry"
            return None

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Parts:
        """Read what `to_dict` gave."""
        gaps = {tuple(path): reason for path, reason in raw.get("gaps", ())}
        return cls(**{**known_fields(cls, raw), "gaps": gaps})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        out: dict[str, Any] = {"answer": self.answer, "retrieved": self.retrieved, "timings": self.timings}
        if self.structured is not None:
            out["structured"] = self.structured
        if self.metadata:
            out["metadata"] = self.metadata
        if self.extra:
            out["extra"] = self.extra
        if self.gaps:
            out["gaps"] = [[list(path), reason] for path, reason in self.gaps.items()]
        return out

    def drop(self, path: Path, reason: str, known: Mapping[str, Any] | None = None) -> None:
        """Remove one part, for *reason*; of a mapping the *known* keys may stay."""
        self.gaps = {p: r for p, r in self.gaps.items() if p[: len(path)] != path}
        self.gaps[path] = reason
        match path:
            case ("retrieved", int(i), "text") if self.retrieved is not None:
                self.retrieved[i][TEXT] = None
            case ("retrieved", int(i), "metadata") if self.retrieved is not None:
                self.retrieved[i][_METADATA] = dict(known or {})
            case ("answer" | "structured" | "retrieved" as name,):
                setattr(self, name, None)
            case ("metadata" | "timings" | "extra" as name,):
                setattr(self, name, dict(known or {}))
            case _:
                raise KeyError(path)

    def pieces(self) -> dict[Path, Any]:
        """Return what can be dropped without losing ids, scores and times, by path."""
        out: dict[Path, Any] = {(name,): getattr(self, name) for name in ("answer", "structured", "metadata", "extra")}
        for i, hit in enumerate(self.retrieved or ()):
            out["retrieved", i, "text"] = hit[TEXT]
            out["retrieved", i, "metadata"] = hit[_METADATA]
        return {path: value for path, value in out.items() if value}

    def restore(self) -> SystemOutputs:
        """Return the answer; reading a part that is a gap raises `NotRecordedError`."""
        metadata = self._restored("the answer's metadata", self.metadata, ("metadata",))
        structured = self.structured
        if reason := self.gaps.get(("structured",)):
            structured = PartialMapping("the structured answer", {}, {}, reason)
        if self.answer is None:
            response: Response = WithheldResponse(self.gaps.get(("answer",), ""), structured, metadata)
        else:
            response = Response(self.answer, structured, metadata)
        retrieved: list[Any] = WithheldList(self.gaps.get(("retrieved",), ""))
        if self.retrieved is not None:
            retrieved = [self._hit(i, hit) for i, hit in enumerate(self.retrieved)]
        timings = self._restored("timings", self.timings, ("timings",))
        return SystemOutputs(retrieved, response, timings, self._restored("extra", self.extra, ("extra",)))

    def _hit(self, i: int, hit: list[Any]) -> RetrievedDocument:
        doc_id, text, score, rank, raw_metadata = hit
        metadata = self._restored(f"the metadata of {doc_id!r}", raw_metadata, ("retrieved", i, "metadata"))
        if text is None:
            doc: Document = WithheldDocument(doc_id, self.gaps.get(("retrieved", i, "text"), ""), metadata)
        else:
            doc = Document(doc_id, text, metadata)
        return RetrievedDocument(doc, score, rank)

    def _restored(self, what: str, known: dict[str, Any], path: Path) -> dict[str, Any]:
        if not self.gaps:
            return dict(known)
        gaps = {str(p[-1]): r for p, r in self.gaps.items() if p[:-1] == path}
        rest = self.gaps.get(path, "")
        return PartialMapping(what, known, gaps, rest) if gaps or rest else dict(known)


def _number(score: Any) -> int | float | None:
    if isinstance(score, (int, float)):
        return score
    try:
        return float(score)
    except (TypeError, ValueError):
        return None


def plain(value: Any) -> Any:
    """Return *value* in the types JSON has; raises TypeError where JSON cannot carry all of it unchanged."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise _NotPlainError("a mapping whose keys are not texts")
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise _NotPlainError(f"a {type(value).__name__}")


class _WithheldText:
    """In place of a text that is not there; the message says which, and why."""

    message: str

    @property
    def text(self) -> str:
        """Raises `NotRecordedError`."""
        raise NotRecordedError(self.message)

    def __repr__(self) -> str:
        return f"<{self.message}>"


class WithheldDocument(_WithheldText, Document):  # type: ignore[override]  # it raises
    """A retrieved document of which the text is not there."""

    def __init__(self, doc_id: str, reason: str, metadata: dict[str, Any]) -> None:
        self.doc_id, self.metadata = doc_id, metadata
        self.message = f"the text of {doc_id!r} {reason}"


class WithheldResponse(_WithheldText, Response):  # type: ignore[override]  # it raises
    """An answer of which the text is not there."""

    def __init__(self, reason: str, structured: dict[str, Any] | None, metadata: dict[str, Any]) -> None:
        self.structured, self.metadata = structured, metadata
        self.message = f"the answer {reason}"


class WithheldList(list[Any]):
    """A ranking that is not there."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.message = f"what was retrieved {reason}"

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotRecordedError(self.message)

    __iter__ = __len__ = __getitem__ = __contains__ = __reversed__ = __bool__ = _refuse


class PartialMapping(dict[str, Any]):
    """A mapping, *what* in messages, of which only the *known* keys are there; listing its keys raises.

    *gaps* says why some keys are not there, *rest* why any other may have been; empty where there were no others.
    """

    def __init__(self, what: str, known: Mapping[str, Any], gaps: Mapping[str, str], rest: str) -> None:
        super().__init__(known)
        self.what, self.gaps, self.rest = what, gaps, rest

    def __contains__(self, key: Any) -> bool:
        if super().__contains__(key):
            return True
        if reason := self.gaps.get(key, self.rest):
            raise NotRecordedError(f"{self.what}[{key!r}] {reason}")
        return False

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return what is under *key*, or *default*; raises `NotRecordedError` where that is not known."""
        return super().__getitem__(key) if key in self else default

    def __bool__(self) -> bool:
        return True

    def _refuse(self) -> NoReturn:
        reason = self.rest or next(iter(self.gaps.values()), "is not all there")
        raise NotRecordedError(f"{self.what} {reason}")

    __iter__ = __len__ = keys = values = items = _refuse
