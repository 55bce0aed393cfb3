"""The results of unfinished runs, line by line in a file that outlives the process.

A run is stored when it is judged.  Until then its results are in the journal, so that a killed run is not lost: the
next run finds the file, which no process has locked, and stores its content.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..base.json import dumps
from ..base.records import Record, read_record
from ..core.case_texts import ResultFile, StoredTexts
from ..core.run import CaseResult, Run
from ..errors import HistoryError
from ..evaluation.recording import Recording
from ..regression.baseline import GIT_COMMIT
from .codec import CaseJson, encode_run
from .settings import JOURNALS, Keep, find_journals, make_folder
from .store import HistoryStore
from .tables import new_run_id

if TYPE_CHECKING:
    from ..regression.verdict import Verdict


class Journal:
    """The journal of a pytest run, in *folder*.  Once it cannot be written, nothing more is, and the run goes on."""

    def __init__(self, folder: Path, started: datetime) -> None:
        self.path = folder / JOURNALS.replace("*", new_run_id())
        self._line_starts: dict[tuple[str, str], tuple[Any, bytes]] = {}
        self._file: ResultFile | None = None
        with suppress(OSError):
            self._file = self._open()
        header = {"started": started.isoformat(timespec="seconds")}
        self._write(f"{dumps(header)}\n".encode())

    def begin(self, run: Run, commit: str = "") -> None:
        """Write *run*, which has no results yet, and the commit of the project."""
        self._write(f'{{"run":{encode_run(run)},"commit":{dumps(commit)}}}\n'.encode())

    def add(self, path: str, variant: str, case: CaseJson, provenance: Any) -> StoredTexts | None:
        """Write a result of a run that was begun, and its recorded answers; the last one of a case counts.

        Return where its texts were written, None if they could not be written.
        """
        last_provenance, line_start = self._line_starts.get((path, variant), (None, b""))
        if not line_start or last_provenance is not provenance:  # a process has one provenance for each run
            line_start = dumps({"of": [path, variant], "provenance": provenance}).encode()
            self._line_starts[path, variant] = provenance, line_start
        answers = b'"answers":%s,' % case.answers if case.answers else b""
        self._write(b'%s,%s"result":%s}\n' % (line_start[:-1], answers, case.result))
        if self._file is None:
            return None
        return StoredTexts(self._file, self._file.size - len(case.texts) - len("}}\n"), len(case.texts))

    def _write(self, line: bytes) -> None:
        """Append *line*, which ends with a line break."""
        try:
            if self._file is not None:
                self._file.append(line)
        except OSError:
            self._file = None

    def _open(self) -> ResultFile:
        make_folder(self.path.parent)
        # unbuffered, so that written lines survive if this process is killed
        file = open(self.path, "x+b", buffering=0, opener=lambda path, flags: os.open(path, flags, 0o600))  # noqa: SIM115
        if not _lock(file):
            raise OSError("cannot be locked")
        return ResultFile(file)

    def close(self, *, keep: bool = False) -> None:
        """Remove the file, after the runs were stored or could not be; *keep* leaves it for the next run to recover.

        Results whose texts are in it can still be read while they exist.
        """
        file, self._file = self._file, None  # stops writing
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
    """A killed run with the results it had."""

    run: Run
    started: datetime
    commit: str = ""
    recordings: dict[str, list[Recording]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Nothing was judged."""
        from ..regression.outcomes import BaselineNote, GateOutcome  # every run has a journal, and calls to begin
        from ..regression.verdict import Verdict

        failed = sum(not case.expected_to_fail for case in self.run.in_state("failed", "error"))
        n_cases, total = len(self.run.cases), len(self.run.expected_ids)
        gate = GateOutcome("coverage", "not judged", reason="not finished", n=n_cases, total=total)
        return Verdict(self.run.title, [gate], baseline_note=BaselineNote("not compared"), failed_cases=failed)


def recover(store: HistoryStore, folder: Path, keep: Keep) -> list[str]:
    """Store the killed runs whose journals lie in *folder*, with as many before them as *keep* says; return their ids.

    Raises:
        HistoryError: they cannot be stored, or a journal was edited or damaged; such journals stay.
    """
    run_ids: list[str] = []
    damaged: list[str] = []
    for path in find_journals(folder):
        with suppress(OSError), path.open("r+b") as file:
            if not _lock(file) or not path.exists():  # its run goes on, or another process was first
                continue
            try:
                runs = _read_runs(file)
            except (ValueError, TypeError, OverflowError, RecursionError) as exc:
                damaged.append(f"{path}: a run that was killed cannot be read, mend or remove the file: {exc}")
                continue
            run_ids += [
                store.add(
                    killed.run, killed.verdict, started=killed.started, git_commit=killed.commit,
                    recordings=killed.recordings, keep=keep.runs or 0, keep_recorded=keep.answers or 0,
                )
                for killed in runs
                if killed.run.cases
            ]  # fmt: skip
            path.unlink(missing_ok=True)
    if damaged:
        raise HistoryError("; ".join(damaged))
    return run_ids


@dataclass(slots=True)
class _Header(Record):
    started: str
    """ISO 8601 in UTC."""


@dataclass(slots=True)
class _RunLine(Record):
    run: Run
    """Without results."""
    commit: str
    """Of the project; empty where nobody knows."""


@dataclass(slots=True)
class _ResultLine(Record):
    of: tuple[str, str]
    """Golden file and configuration of its run."""
    provenance: dict[str, Any] | None
    """What the project said of corpus, chunker, model; null for a skipped case."""
    result: CaseResult
    """The last one of a case counts."""
    answers: list[Recording] = field(default_factory=list)
    """What is kept for a replay."""


_LINES = {b'{"started"': _Header, b'{"run"': _RunLine, b'{"of"': _ResultLine}
"""How the lines of each kind begin."""


def _read_runs(lines: Iterable[bytes]) -> list[Unfinished]:
    runs: dict[tuple[str, str], Unfinished] = {}
    started = datetime.now(timezone.utc)
    for line in _complete_lines(lines):
        if isinstance(line, _Header):
            started = datetime.fromisoformat(line.started)
        elif isinstance(line, _RunLine):
            runs[line.run.path, line.run.variant] = Unfinished(line.run, started, line.commit)
        elif isinstance(line, _ResultLine) and (unfinished := runs.get(line.of)) is not None:
            unfinished.run.add([line.result])
            unfinished.run.provenance = line.provenance or unfinished.run.provenance
            if unfinished.commit:
                unfinished.run.provenance[GIT_COMMIT] = unfinished.commit
            unfinished.recordings[line.result.case_id] = line.answers
    return list(runs.values())


def _complete_lines(lines: Iterable[bytes]) -> Iterator[Record]:
    for line in lines:
        if not line.endswith(b"\n"):
            return  # the process died while it wrote this one, or the disk was full
        kind = _LINES.get(line.partition(b":")[0])
        if kind is None:
            raise ValueError(f"a line of another kind: {line[:40]!r}")
        yield read_record(kind, line, by_hand=False)


def _lock(file: IO[bytes]) -> bool:
    """Take the file for this process, as long as it lives; False where another has it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ModuleNotFoundError:
        return _lock_portably(file)
    except OSError:
        return False
    return True


def _lock_portably(file: IO[bytes]) -> bool:
    import portalocker

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        return False
    return True
