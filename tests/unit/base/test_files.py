"""Files that are kept: one writer at a time, and a failed write changes nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import portalocker
import pytest

from pytest_auepora.base.files import locked, read_json_lines, remove_leftovers, write_atomically
from pytest_auepora.base.records import RecordError
from pytest_auepora.errors import CorpusError, NotWrittenError


def test_json_lines_are_read_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"a": 1}\r\n\n "x\u2028y"\n'.encode())
    assert list(read_json_lines(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:3", "x\u2028y")]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'1\n{"a" 2}', r"a\.jsonl:2:6: not JSON: Expecting ':' delimiter"),
        (b"1" * 5000, r"a\.jsonl:1: not JSON: Exceeds the limit"),
        (b"[" * 100_000, r"a\.jsonl:1: nests too deep"),
        (b"1\n\xff", r"a\.jsonl: cannot be read: not UTF-8: invalid start byte at byte 2"),
        (None, r"a\.jsonl: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_read_says_where(tmp_path: Path, data: bytes | None, told: str) -> None:
    path = tmp_path / "a.jsonl"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(CorpusError, match=told):
        list(read_json_lines(path, CorpusError))


def test_messages_name_files_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data" / "a.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"1\n{")
    for folder, place in ((tmp_path, "data/a.jsonl"), (path.parent, "a.jsonl"), (tmp_path.parent / "x", str(path))):
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        with pytest.raises(CorpusError) as caught:
            list(read_json_lines(path, CorpusError))
        assert str(caught.value).startswith(f"{place}:2:2: ")
        assert RecordError("odd", 2, 3).at(path) == f"{place}:2:3: odd"
        assert next(iter(read_json_lines(path)))[0] == f"{place}:1"
        with pytest.raises(NotWrittenError, match=f"^{place}/b: "):
            write_atomically(path / "b", "")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory for this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "suite.json"
    write_atomically(path, "old")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(NotWrittenError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["suite.json"]


def test_the_lock_is_gone_when_it_is_free(tmp_path: Path, temporary: Path) -> None:
    with locked(tmp_path / "a.json"), locked(tmp_path / "b.json"):
        assert len(list(temporary.iterdir())) == 2
    assert list(temporary.iterdir()) == []

    def fails() -> None:
        with locked(tmp_path / "a.json"):
            raise LookupError

    with pytest.raises(LookupError):
        fails()
    assert list(temporary.iterdir()) == []


def test_who_waits_in_vain_leaves_the_lock_to_its_holder(tmp_path: Path, temporary: Path) -> None:
    path = tmp_path / "a.json"
    with locked(path):
        for _ in range(2):
            with pytest.raises(NotWrittenError, match=r"a\.json: another run has been writing it for 0 s"):
                locked(path, 0).__enter__()
    with locked(path, 0):
        pass
    assert list(temporary.iterdir()) == []


def test_a_lock_that_was_removed_while_one_waited_is_none(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its holder removes the file that others have opened already: the lock of that file keeps nobody out."""
    path, files, acquire = tmp_path / "a.json", [], portalocker.Lock.acquire

    def late(lock: Any, *args: Any) -> Any:
        files.append(acquire(lock, *args))
        if len(files) == 1:
            Path(lock.filename).unlink()  # as the one before does
        return files[-1]

    monkeypatch.setattr(portalocker.Lock, "acquire", late)
    with locked(path):
        assert len(files) == 2
        assert files[0].closed
        with pytest.raises(NotWrittenError, match="another run has been writing it"):
            locked(path, 0).__enter__()
    assert list(temporary.iterdir()) == []


def test_a_lock_that_cannot_be_made_is_said(tmp_path: Path, temporary: Path) -> None:
    with locked(tmp_path / "a.json"):
        [lock] = temporary.iterdir()
    lock.mkdir()
    with pytest.raises(NotWrittenError, match=r"a\.json: its lock .*\.lock cannot be taken: \w+"):
        locked(tmp_path / "a.json").__enter__()


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "kept" / "a.json", tmp_path / "a.json"
    target.parent.mkdir()
    link.symlink_to(target)
    for text in ("first", "second"):  # a link to nothing yet, then to a file
        write_atomically(link, text)
        assert link.is_symlink()
        assert target.read_text() == text


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path, temporary: Path) -> None:
    left, other = tmp_path / ".a.json.x1.auepora.tmp", tmp_path / ".b.json.x1.auepora.tmp"
    for path in (left, other):
        path.write_text("half")
    with locked(tmp_path / "a.json"):
        assert not left.exists()
    assert other.exists()


@pytest.mark.parametrize("look", [remove_leftovers, lambda folder: write_atomically(folder / "b.json", "new")])
def test_leftovers_of_yesterday_are_removed(tmp_path: Path, look: Callable[[Path], None]) -> None:
    names = (".a.json.x1.auepora.tmp", ".a.json.x2.auepora.tmp", ".a.json.tmp", "a.json")
    for name in names:
        (tmp_path / name).write_text("half")
        if "x2" not in name:
            os.utime(tmp_path / name, (0, 0))
    look(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} - {"b.json"} == set(names[1:])
    remove_leftovers(tmp_path / "none")


def test_a_name_may_be_as_long_as_any(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".json")
    write_atomically(path, "text")
    assert path.read_text() == "text"
