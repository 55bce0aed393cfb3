"""What a running run has measured so far, line by line in a file that outlives the process.

A run is stored when it is judged.  Until then its results lie here, so that a run that was killed is not lost: the
next one finds the file, which nobody holds any more, and stores what is in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from ..core.run import CaseResult, Run
from ..regression.baseline import GIT_COMMIT
from ..regression.verdict import GateOutcome, Verdict
from .codec import dumps, run_text
from .places import FOLDER, is_url
from .run_ids import new_run_id
from .store import HistoryStore

__all__ = ["Journal", "Unfinished", "folder_of", "recover", "unfinished"]

_PREFIX, _SUFFIX = "unfinished-", ".jsonl"


def folder_of(place: str | Path, root: Path) -> Path:
    """Return where journals of the history at *place* lie: beside its file, or in the project's own folder."""
    return root / FOLDER if is_url(place) else Path(place).parent


class Journal:
    """The journal of one pytest run; nothing is made before something is written.

    Args:
        folder: where it lies.
        started: when the run began.
    """

    def __init__(self, folder: Path, started: datetime) -> None:
        self.path = folder / f"{_PREFIX}{new_run_id()}{_SUFFIX}"
        self._head = {"started": started.isoformat(timespec="seconds")}
        self._known: set[tuple[str, str]] = set()
        self._file: IO[str] | None = None
        self._broken = False

    def knows(self, path: str, variant: str) -> bool:
        """Whether the run of that golden file and configuration was begun here."""
        return (path, variant) in self._known

    def begin(self, run: Run, commit: str = "") -> None:
        """Take in *run*, which has no results yet, and what the project is at."""
        self._known.add((run.path, run.variant))
        self._write({"run": json.loads(run_text(run)), "commit": commit})

    def add(self, path: str, variant: str, result: CaseResult, recordings: Sequence[str], provenance: Any) -> None:
        """Take in one result of a run that was begun; a later one of the same case counts."""
        self._write({"of": [path, variant], "result": result, "recordings": recordings, "provenance": provenance})

    def _write(self, line: dict[str, Any]) -> None:
        """Append *line*; where that does not work, a killed run is lost, and the run goes on."""
        if self._broken:
            return
        try:
            if self._file is None:
                self._file = self._open()
                self._file.write(dumps(self._head) + "\n")
            self._file.write(dumps(line) + "\n")
            self._file.flush()
        except OSError:
            self._broken = True

    def _open(self) -> IO[str]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.parent.name == FOLDER and not (ignore := self.path.parent / ".gitignore").exists():
            ignore.write_text("*\n", encoding="utf-8")
        file = self.path.open("x", encoding="utf-8")
        if not _lock(file):
            raise OSError("cannot be locked")
        return file

    def close(self, *, keep: bool = False) -> None:
        """Remove it, as the runs are stored or cannot be; or *keep* it for the next run to take up."""
        if self._file is not None:
            self._file.close()
        if keep:
            return
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


@dataclass(slots=True)
class Unfinished:
    """A run that was killed, as far as it got."""

    run: Run
    started: datetime
    commit: str = ""
    recordings: dict[str, list[str]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Nothing was judged."""
        reason = (
            f"the run ended before it was judged, after {len(self.run.cases)} of {len(self.run.expected_ids)} cases"
        )
        failed = sum(c.state in ("failed", "error") and not c.expected_to_fail for c in self.run.cases.values())
        gate = GateOutcome("complete", "coverage", "not judged", reason)
        return Verdict(self.run.title, gates=[gate], notes=[reason], failed_cases=failed)


def unfinished(folder: Path) -> list[Path]:
    """Return the journals in *folder*, those of runs that go on included."""
    return sorted(folder.glob(f"{_PREFIX}*{_SUFFIX}")) if folder.is_dir() else []


def recover(store: HistoryStore, folder: Path) -> list[str]:
    """Store the killed runs whose journals lie in *folder*, and return their ids.

    Raises:
        HistoryError: they cannot be stored; the journals stay.
    """
    out: list[str] = []
    for path in unfinished(folder):
        with suppress(OSError), path.open("r+", encoding="utf-8") as file:
            if not _lock(file) or not path.exists():  # its run goes on, or another process was first
                continue
            out += [_store(store, one) for one in _read(file) if one.run.cases]
            path.unlink(missing_ok=True)
    return out


def _store(store: HistoryStore, one: Unfinished) -> str:
    return store.add(
        one.run, one.verdict, started=one.started, git_commit=one.commit, recordings=one.recordings
    )  # fmt: skip


def _read(lines: IO[str]) -> list[Unfinished]:
    runs: dict[tuple[str, str], Unfinished] = {}
    head: dict[str, Any] = {}
    for said in _whole_lines(lines):
        if "started" in said:
            head = said
        elif "run" in said:
            run = Run.from_dict(said["run"])
            started = datetime.fromisoformat(head["started"]) if head else datetime.now(timezone.utc)
            runs[run.path, run.variant] = Unfinished(run, started, said["commit"])
        elif (one := runs.get(tuple(said["of"]))) is not None:
            result = CaseResult.from_dict(said["result"])
            one.run.add([result])
            one.run.provenance = said["provenance"] or one.run.provenance
            if one.commit:
                one.run.provenance[GIT_COMMIT] = one.commit
            one.recordings[result.case_id] = said["recordings"]
    return list(runs.values())


def _whole_lines(lines: IO[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the process died while it wrote this one, or the disk was full
            continue


def _lock(file: IO[str]) -> bool:
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


def _lock_elsewhere(file: IO[str]) -> bool:
    import portalocker

    try:
        portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
    except portalocker.LockException:
        return False
    return True
