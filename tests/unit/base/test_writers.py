"""Every file that is written as a whole goes through the atomic writer; the others are listed here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pytest_auepora
from pytest_auepora.base.files import write_atomically
from pytest_auepora.cli.main import main
from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import NotWrittenError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import FORMATS, export_cases
from pytest_auepora.io.jsonl import save_jsonl_dataset
from pytest_auepora.io.parquet import save_parquet_dataset
from pytest_auepora.metrics.registry import Registry

PACKAGE = Path(pytest_auepora.__file__).parent
WRITERS = {
    "base/files.py": ["open", "mkstemp", "fdopen"],  # the atomic writer
    "core/case_texts.py": ["TemporaryFile"],  # texts of results, in a file without a name
    "drafting/files.py": ["open"],  # append-only: its journal
    "history/database.py": ["open"],  # makes an empty file of SQLite
    "history/journal.py": ["open", "open", "open"],  # append-only; the last takes the lock of a killed run's
    "pytest_plugin/results/reports.py": ["open"],  # append-only: the summary of a step of GitHub
}
ALWAYS = {
    "write_text", "write_bytes", "touch", "mkstemp", "fdopen", "TemporaryFile", "NamedTemporaryFile", "copy",
    "copyfile", "copy2", "move", "rename", "to_csv", "to_parquet", "savetxt", "save_text",
}  # fmt: skip
OF_MODULES = {"copy", "copyfile", "copy2", "move", "rename"}  # else they are methods of other things


def writing_calls(tree: ast.AST) -> Iterator[str]:
    """Yield the name of every call that opens a file for writing, or may."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        owner = getattr(getattr(function, "value", None), "id", "")
        if name in OF_MODULES and owner not in ("shutil", "os"):
            continue
        if name in ALWAYS or (name == "open" and opens_for_writing(node, owner)):
            yield name


def opens_for_writing(call: ast.Call, owner: str) -> bool:
    if ast.unparse(call.func) in ("opener().open", "webbrowser.open"):
        return False
    if owner == "os":
        return "O_RDONLY" not in ast.unparse(call) and "devnull" not in ast.unparse(call)
    first = 1 if isinstance(call.func, ast.Name) else 0  # `open(path, mode)`, `path.open(mode)`
    modes = [*call.args[first : first + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or set(str(mode.value)) & set("wax+") for mode in modes)


def test_files_are_written_by_the_atomic_writer_alone() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not any(f"{name}(" in text for name in {"open", *ALWAYS}):
            continue  # without the time that it takes to read the tree
        if calls := list(writing_calls(ast.parse(text))):
            found[path.relative_to(PACKAGE).as_posix()] = sorted(calls)
    assert found == {path: sorted(calls) for path, calls in WRITERS.items()}


@pytest.mark.parametrize(
    "code",
    ["open(p, 'w')", "open(p, mode='ab')", "p.open('x')", "p.open(how)", "p.write_text(t)", "os.open(p, os.O_CREAT)",
     "shutil.copy(a, b)", "tempfile.NamedTemporaryFile()", "io.open(p, 'r+')"],
)  # fmt: skip
def test_what_writes_is_found(code: str) -> None:
    assert len(list(writing_calls(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code", ["open(p)", "p.open('rb')", "opener().open(request)", "os.open(p, os.O_RDONLY)", "a.copy()"]
)
def test_what_reads_is_not(code: str) -> None:
    assert list(writing_calls(ast.parse(code))) == []


GOLDEN = "suite: s\nmetrics: [recall@1]\ncases:\n  - {id: a, query: how long does shipping take, relevant_docs: [d]}\n"
ROWS = "id,query,reference_answer\na,q?,r\n"
SAMPLES = InMemoryDataset("s", [EvaluationSample("a", "q")])


@pytest.fixture
def full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, on a disk that is full from now on."""
    (tmp_path / "g.golden.yaml").write_text(GOLDEN)
    (tmp_path / "d.csv").write_text(ROWS)
    (tmp_path / "o.jsonl").write_text('{"id": "a", "answer": "x", "documents": ["d"]}\n')

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["import", "d.csv", "--from", "csv", "-o", "old.golden.yaml", "--force"], "old.golden.yaml"),
        (["import", "g.golden.yaml", "--to", "csv", "-o", "old.csv", "--force"], "old.csv"),
        (["score", "o.jsonl", "--golden", "g.golden.yaml", "--out", "."], "metrics.csv"),
        (["perturb", "g.golden.yaml", "--write"], "g.golden.yaml"),
        (["new"], "conftest.py"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_full_disk_leaves_what_was_there(
    full_disk: Path, capsys: pytest.CaptureFixture[str], command: list[str], name: str
) -> None:
    path = full_disk / name
    if not path.exists() and command[0] != "new":
        path.write_text("what was there")
    before = sorted(full_disk.iterdir()), path.read_text() if path.exists() else ""
    assert main(command) == 3
    told = capsys.readouterr().err
    assert f"{name}: " in told
    assert told.endswith(": No space left on device\n")
    assert (sorted(full_disk.iterdir()), path.read_text() if path.exists() else "") == before


@pytest.mark.parametrize("write", [save_jsonl_dataset, save_parquet_dataset])
def test_a_data_set_is_written_whole_or_not(full_disk: Path, write: Callable[..., Any]) -> None:
    if write is save_parquet_dataset:
        pytest.importorskip("pyarrow", reason="Parquet takes pyarrow")
    path = full_disk / "old.data"
    path.write_text("what was there")
    with pytest.raises(NotWrittenError, match=r"old\.data: cannot be written: No space left"):
        write(SAMPLES, path)
    assert path.read_text() == "what was there"


@pytest.mark.parametrize("target", [name for name in FORMATS if name not in ("golden", "beir")])
def test_an_export_is_written_whole_or_not(full_disk: Path, target: str) -> None:
    if target == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet takes pyarrow")
    suite = load_golden(full_disk / "g.golden.yaml", Registry())
    suffix = {"parquet": ".parquet", "csv": ".csv"}.get(target, ".json")
    with pytest.raises(NotWrittenError, match="cannot be written: No space left"):
        export_cases(suite, full_disk / f"old{suffix}", target)
    assert sorted(path.name for path in full_disk.iterdir()) == ["d.csv", "g.golden.yaml", "o.jsonl"]


def test_a_special_file_is_written_as_it_is(tmp_path: Path) -> None:
    write_atomically(Path("/dev/null"), "nothing")
    with pytest.raises(NotWrittenError, match="cannot be written: Is a directory"):
        write_atomically(tmp_path, "nothing")
