"""The answers that were accepted, in full, in one compressed file a baseline.

Beside the baseline, for a checkout that has no history, where a project keeps them (``auepora_accepted = texts``); else
beside the history.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote

from ..base.files import is_there, refuse_pipe, seen_path, write_atomically
from ..base.records import Free, Number, Place, Record, RecordError, read_record, record_text
from ..core.case_texts import CaseTexts
from ..core.metrics_base import AnswerPart
from ..core.run import CaseResult, Run
from ..core.types import Document, RetrievedDocument
from ..errors import HistoryError
from ..evaluation.answer_codec import Loss, RecordedOutputs
from ..evaluation.reuse import documents_digest
from ..evaluation.shown_outputs import cap_shown, source_key
from ..metrics.ranking.gold import span_of
from ..regression.baseline import Baseline, BaselineCase
from ..regression.baseline_file import read_baseline
from .compare import as_run
from .settings import journal_folder

FORMAT: Literal[1] = 1
SUFFIX = ".accepted.json.gz"


@dataclass(slots=True)
class AcceptedDocument(Record):
    """A document that was retrieved for an accepted answer."""

    id: str | int
    text: Place | None
    """The place of its text among those of the file; null where it had none."""
    score: Number | str | None
    """A text where JSON has no such number: ``inf``, ``nan``."""
    grade: int = 0
    """The highest grade of the labels that it covered."""
    metadata: dict[str, Free] = field(default_factory=dict)


@dataclass(slots=True)
class AcceptedAnswer(Record):
    """The first accepted answer to a case; the project's redaction has been applied."""

    hash: str
    """Of the content of the case."""
    query: str
    answer: str | None
    documents: list[AcceptedDocument] = field(default_factory=list)
    """In rank order."""
    lost: dict[AnswerPart, Loss] = field(default_factory=dict)
    """The parts of the answer that are not as they were, and why."""
    block: str = ""
    """Digest of the block of the baseline that it was accepted into."""

    @property
    def has_whole_documents(self) -> bool:
        """Whether its documents are as they were."""
        return self.lost.keys().isdisjoint(("ranking", "documents", "document_metadata"))


@dataclass(slots=True)
class _AcceptedFile(Record):
    format: Literal[1] = FORMAT
    """Raised when a key changes its meaning."""
    cases: dict[str, AcceptedAnswer] = field(default_factory=dict)
    """The answers, by case id."""
    texts: list[str] = field(default_factory=list)
    """Of documents, each once."""


class AcceptedTexts(Mapping[str, AcceptedAnswer]):
    """The accepted answers of a file, by case.

    Raises:
        HistoryError: the file is there and cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, _read(path)

    def __getitem__(self, case_id: str) -> AcceptedAnswer:
        return self._file.cases[case_id]

    def __iter__(self) -> Any:
        return iter(self._file.cases)

    def __len__(self) -> int:
        return len(self._file.cases)

    def text(self, document: AcceptedDocument) -> str:
        """Return the text of *document*, empty where it had none."""
        return self._file.texts[document.text] if document.text is not None else ""

    def is_of(self, case_id: str, before: BaselineCase) -> bool:
        """Whether the answer to a case was accepted into the block *before*, and no other took its place since."""
        return case_id in self and self[case_id].block == _digest(before)

    def documents(self, case_id: str) -> list[RetrievedDocument]:
        """Return what was retrieved for an answer."""
        return [
            RetrievedDocument(Document(str(doc.id), self.text(doc), dict(doc.metadata)), float(doc.score or 0.0), rank)
            for rank, doc in enumerate(self[case_id].documents, 1)
        ]

    def digest(self, case_id: str) -> str:
        """Return `documents_digest` of what was retrieved for an answer."""
        return documents_digest((doc.id, self.text(doc), doc.metadata) for doc in self[case_id].documents)

    def outputs(self, case_id: str) -> dict[str, Any]:
        """Return what reports show of an answer."""
        accepted = self[case_id]
        shown: dict[str, Any] = {"answer": accepted.answer, "retrieved": list(map(self._hit, accepted.documents))}
        cap_shown(shown)
        return shown

    def _hit(self, accepted: AcceptedDocument) -> dict[str, Any]:
        document = Document(str(accepted.id), "", accepted.metadata)
        hit: dict[str, Any] = {"id": accepted.id, "grade": accepted.grade, "text": self.text(accepted)}
        if isinstance(accepted.score, float):
            hit["score"] = accepted.score
        if (place := span_of(document)) is not None:
            hit["span"] = list(place)
        return hit | source_key(document)

    def as_run(self, baseline: Baseline, path: str = "") -> Run:
        """Return *baseline* as a run, with the texts of the cases that are as they were accepted."""
        run = as_run(baseline, path)
        for case_id, accepted in self.items():
            case = run.cases.get(case_id)
            if case is not None and case.content_hash == accepted.hash and self.is_of(case_id, baseline.cases[case_id]):
                case.texts = CaseTexts(accepted.query, {}, self.outputs(case_id))
        return run

    def save(
        self, answers: Mapping[str, tuple[CaseResult, RecordedOutputs | None]], cases: Mapping[str, BaselineCase]
    ) -> None:
        """Put what was accepted last in the place of what is there; of cases without a block in *cases* nothing stays.

        Raises:
            NotWrittenError: the file cannot be written.
        """
        whole = _AcceptedFile()
        places: dict[str, int] = {}

        def place_of(text: str | None) -> int | None:
            return None if not text else places.setdefault(text, len(places))

        for case_id in sorted(cases):
            if case_id in answers:
                result, outputs = answers[case_id]
                whole.cases[case_id] = _accepted_answer(result, outputs, place_of, _digest(cases[case_id]))
            elif case_id in self:
                kept = [replace(doc, text=place_of(self.text(doc))) for doc in self[case_id].documents]
                whole.cases[case_id] = replace(self[case_id], documents=kept)
        whole.texts = list(places)
        if whole != self._file:
            write_atomically(self.path, gzip.compress(record_text(whole).encode(), mtime=0))
            self._file = whole


def _digest(block: BaselineCase) -> str:
    return sha256(json.dumps(block.raw(), sort_keys=True).encode()).hexdigest()[:16]


def _accepted_answer(result: CaseResult, outputs: RecordedOutputs | None, place_of: Any, block: str) -> AcceptedAnswer:
    shown: Sequence[Mapping[str, Any]] = result.outputs.get("retrieved", ())
    grades = [int(hit.get("grade", 0)) for hit in shown]
    documents = outputs.retrieved if outputs is not None else []
    return AcceptedAnswer(
        result.content_hash,
        result.query,
        outputs.answer if outputs is not None else result.outputs.get("answer"),
        [
            AcceptedDocument(hit.id, place_of(hit.text), hit.score, grades[i] if i < len(grades) else 0, hit.metadata)
            for i, hit in enumerate(documents)
        ],
        dict(outputs.lost) if outputs is not None else {"ranking": "unseen"},
        block,
    )


def _read(path: Path) -> _AcceptedFile:
    try:
        refuse_pipe(path)
        data = path.read_bytes()
    except FileNotFoundError:
        return _AcceptedFile()
    except OSError as exc:
        raise HistoryError(f"{seen_path(path)}: cannot be read: {exc.strerror or exc}") from None
    try:
        file = read_record(_AcceptedFile, gzip.decompress(data))
    except RecordError as exc:
        raise HistoryError(exc.at(path)) from None
    except (OSError, EOFError, zlib.error) as exc:
        raise HistoryError(f"{seen_path(path)}: cannot be read: {exc}") from None
    places = [doc.text for answer in file.cases.values() for doc in answer.documents if doc.text is not None]
    if max(places, default=-1) >= len(file.texts):
        found = f"a document names text {max(places)}, and there are {len(file.texts)} texts"
        raise HistoryError(f"{seen_path(path)}: cases: {found}")
    return file


NAME = "the accepted run"
"""What to call the run that `accepted_run` gives."""


def accepted_run(baseline: Path, path: str, texts: AcceptedTexts | None) -> Run | None:
    """Return the run that the baseline at *baseline* was made of, with its *texts*; None where these are not kept.

    *path* is that of the golden file.

    Raises:
        BaselineError: the baseline cannot be read.
    """
    if not texts or (accepted := read_baseline(baseline)) is None:
        return None
    return texts.as_run(accepted, path)


def accepted_path(baseline: Path) -> Path:
    """Return where the accepted answers of the baseline at *baseline* lie beside it."""
    return baseline.with_suffix(SUFFIX)


def find_accepted(
    baseline: Path, golden: str, history: str | Path | None, root: Path, *, beside: bool = False
) -> AcceptedTexts | None:
    """Return the accepted answers of *baseline*: *beside* it, also where they are there, else beside the *history*.

    None without a history.  *golden* is the path of the golden file from *root*: other folders may have such a suite.

    Raises:
        HistoryError: they cannot be read.
    """
    if beside or is_there(accepted_path(baseline)):
        return AcceptedTexts(accepted_path(baseline))
    if history is None:
        return None
    folder = quote(PurePosixPath(golden).parent.as_posix(), safe="")
    return AcceptedTexts(journal_folder(history, root) / "accepted" / folder / accepted_path(baseline).name)
