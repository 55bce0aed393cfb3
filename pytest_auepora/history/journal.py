"""What a running run has measured so far, line by line in a file that outlives the process.

A run is stored when it is judged.  Until then its results lie here, so that a run that was killed is not lost: the
next one finds the file, which nobody holds any more, and stores what is in it.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypedDict

from ..core.case_texts import ResultFile, TextPosition
from ..core.json import dumps
from ..core.run import CaseResult, Run
from ..errors import HistoryError
from ..evaluation.recording import Recording
from ..regression.baseline import GIT_COMMIT
from ..shapes import check_shape
from .codec import CaseJson, encode_run
from .settings import Keep, journal_path, journals_in, make_folder
from .store import HistoryStore
from .tables import new_run_id

if TYPE_CHECKING:
    from ..regression.verdict import Verdict


class Journal:
    """The journal of one pytest run; nothing is made before something is written.

    Args:
        folder: where it lies.
        started: when the run began.
    """

    def __init__(self, folder: Path, started: datetime) -> None:
        self.path = journal_path(folder, new_run_id())
        self._head = {"started": started.isoformat(timespec="seconds")}
        self._known: set[tuple[str, str]] = set()
        self._file: ResultFile | None = None
        self._broken = False
        self._told: dict[tuple[str, str], tuple[Any, bytes]] = {}

    def knows(self, path: str, variant: str) -> bool:
        """Whether the run of that golden file and configuration was begun here."""
        return (path, variant) in self._known

    def begin(self, run: Run, commit: str = "") -> None:
        """Take in *run*, which has no results yet, and what the project is at."""
        self._known.add((run.path, run.variant))
        self._write(f'{{"run":{encode_run(run)},"commit":{dumps(commit)}}}\n'.encode())

    def add(self, path: str, variant: str, case: CaseJson, provenance: Any) -> TextPosition | None:
        """Take in one result of a run that was begun, and its recorded answers; what comes later of a case counts.

        Return where the result was written, None where it could not be.
        """
        known, told = self._told.get((path, variant), (None, b""))
        if not told or known is not provenance:  # within a process it is one of each run
            told = dumps({"of": [path, variant], "provenance": provenance}).encode()
            self._told[path, variant] = provenance, told
        said = b'"answers":%s,' % case.answers if case.answers else b""
        self._write(b'%s,%s"result":%s}\n' % (told[:-1], said, case.result))
        if self._broken or self._file is None:
            return None
        return TextPosition(self._file, self._file.size - len(case.result) - 2, len(case.result))

    def _write(self, line: bytes) -> None:
        """Append *line* with its end; where that does not work, a killed run is lost, and the run goes on."""
        if self._broken:
            return
        try:
            if self._file is None:
                self._file = self._open()
                self._file.append(f"{dumps(self._head)}\n".encode())
            self._file.append(line)
        except OSError:
            self._broken = True

    def _open(self) -> ResultFile:
        make_folder(self.path.parent)
        # unbuffered, so that a line is with the system as soon as it is written, whatever becomes of this process
        file = open(self.path, "x+b", buffering=0, opener=lambda path, flags: os.open(path, flags, 0o600))  # noqa: SIM115
        if not _lock(file):
            raise OSError("cannot be locked")
        return ResultFile(file)

    def close(self, *, keep: bool = False) -> None:
        """Remove it, as the runs are stored or cannot be; or *keep* it for the next run to take up.

        Results whose texts are in it can still be read, as long as there is one.
        """
        file, self._file, self._broken = self._file, None, True  # nothing is written any more
        if keep:
            if file is not None:
                file.close()
            return
        try:
            self.path.unlink(missing_ok=True)
        except OSError:  # Windows removes no file that is open
            if file is not None:
                weakref.finalize(file, _remove, file.close, self.path)


def _remove(close: Callable[[], object], path: Path) -> None:
    close()
    with suppress(OSError):
        path.unlink(missing_ok=True)


@dataclass(eq=False, repr=False, slots=True)
class Unfinished:
    """A run that was killed, as far as it got."""

    run: Run
    started: datetime
    commit: str = ""
    recordings: dict[str, list[Recording]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Nothing was judged."""
        from ..regression.guards.gates import GateOutcome  # every run has a journal, and calls to begin
        from ..regression.verdict import Verdict

        reason = (
            f"the run ended before it was judged, after {len(self.run.cases)} of {len(self.run.expected_ids)} cases"
        )
        failed = sum(not c.expected_to_fail for c in self.run.in_state("failed", "error"))
        gate = GateOutcome("complete", "coverage", "not judged", reason)
        return Verdict(self.run.title, gates=[gate], notes=[reason], failed_cases=failed)


def recover(store: HistoryStore, folder: Path, keep: Keep) -> list[str]:
    """Store the killed runs whose journals lie in *folder*, with as many before them as *keep* says; return their ids.

    Raises:
        HistoryError: they cannot be stored, or a journal was edited or damaged; such journals stay.
    """
    out: list[str] = []
    damaged: list[str] = []
    for path in journals_in(folder):
        with suppress(OSError), path.open("r+b") as file:
            if not _lock(file) or not path.exists():  # its run goes on, or another process was first
                continue
            try:
                found = _read(file)
            except (ValueError, TypeError, OverflowError, RecursionError) as exc:
                damaged.append(f"{path}: a run that was killed cannot be read, mend or remove the file: {exc}")
                continue
            out += [
                store.add(
                    one.run,
                    one.verdict,
                    started=one.started,
                    git_commit=one.commit,
                    recordings=one.recordings,
                    keep=keep.runs or 0,
                    keep_recorded=keep.answers or 0,
                )
                for one in found
                if one.run.cases
            ]
            path.unlink(missing_ok=True)
    if damaged:
        raise HistoryError("; ".join(damaged))
    return out


class _Begun(TypedDict):
    run: Run
    commit: str


class _ToldKeys(TypedDict):
    of: tuple[str, str]
    provenance: dict[str, Any] | None
    result: CaseResult


class _Told(_ToldKeys, total=False):
    answers: list[tuple[str, list[str]]]


def _read(lines: Iterable[bytes]) -> list[Unfinished]:
    runs: dict[tuple[str, str], Unfinished] = {}
    head: dict[str, Any] = {}
    for said in _whole_lines(lines):
        if "started" in said:
            head = said
            continue
        if "run" in said:
            check_shape(said, _Begun)
            run = Run.from_dict(said["run"])
            began = datetime.fromisoformat(head["started"]) if head else datetime.now(timezone.utc)
            started = began.astimezone(timezone.utc)
            runs[run.path, run.variant] = Unfinished(run, started, said["commit"])
            continue
        check_shape(said, _Told)
        if (one := runs.get(tuple(said["of"]))) is not None:
            result = CaseResult.from_dict(said["result"])
            one.run.add([result])
            one.run.provenance = said["provenance"] or one.run.provenance
            if one.commit:
                one.run.provenance[GIT_COMMIT] = one.commit
            one.recordings[result.case_id] = [(answer, texts) for answer, texts in said.get("answers", ())]
    return list(runs.values())


def _whole_lines(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            if line.endswith(b"\n"):
                raise
            continue  # the process died while it wrote this one, or the disk was full
        check_shape(said, dict)
        yield said


def _lock(file: IO[bytes]) -> bool:
    """Take the file for this process, as long as it lives; False where another has it."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return _lock_elsewhere(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock_elsewhere(file: IO[bytes]) -> bool:
    import portalocker

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        return False
    return True
