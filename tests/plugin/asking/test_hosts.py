"""Several hosts over --tx: one with a folder and a process of its own, reached by a socket, beside workers here."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_auepora.history.store import HistoryStore

from ..conftest import Example, alone
from .test_xdist import AGAIN

pytest.importorskip("xdist", reason="needs pytest-xdist")
pytestmark = pytest.mark.slow

QUIET = (
    "-W", "ignore:The --rsyncdir:DeprecationWarning",
    "-W", "ignore::pytest.PytestUnraisableExceptionWarning",  # execnet leaves the socket of a refused connection open
)  # fmt: skip

LOST = """
import os
import pathlib
import time
import pytest
from shop import answer

IS_HOST = "pyexecnetcache" in os.getcwd()
MEASURED = pathlib.Path({measured!r})


def pytest_runtest_logreport(report):
    if report.passed and report.when == "call" and hasattr(report, "node"):  # here at the controller
        MEASURED.touch()


@pytest.fixture(scope="session")
def rag():
    def ask(query):
        for _ in range(6000 if IS_HOST else 0):
            if MEASURED.exists():
                os._exit(9)
            time.sleep(0.01)
        return answer(query)
    return ask
"""


class Host:
    """A process that waits for a pytest to make it one of its workers; it serves one run, as imports stay."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        command = [sys.executable, "-u", "-m", "execnet.script.socketserver", "127.0.0.1:0"]
        with alone():
            self._server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        said = self._server.stdout.readline()  # ... Entering Accept loop ('127.0.0.1', PORT)
        self.address = f"socket=127.0.0.1:{int(said.rpartition(', ')[2].rstrip(')' + chr(10)))}"
        self._reader = threading.Thread(target=self._server.stdout.read)  # a full pipe would stop the worker
        self._reader.start()

    def close(self) -> None:
        self._server.kill()
        self._server.wait()
        self._reader.join()
        assert self._server.stdout is not None
        self._server.stdout.close()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[list[Host]]:
    found = [Host(tmp_path / f"host{n}") for n in range(2)]
    yield found
    for host in found:
        host.close()


def spread(project: Example, *args: str) -> pytest.RunResult:
    return project.run_apart(*QUIET, "-d", f"--rsyncdir={project.path}", *args, str(project.path))


def test_a_run_over_a_host_is_stored_here_and_replayed_there(project: Example, hosts: list[Host]) -> None:
    project.edit("\ncases:", AGAIN)
    project.accept()
    serial = project.baseline.read_bytes()
    project.baseline.unlink()
    result = spread(project, "--tx", hosts[0].address, "--tx", "popen", "--auepora-update", "-v")
    assert result.ret == 0
    assert "[gw0] " in str(result.stdout)
    assert "[gw1] " in str(result.stdout)
    assert project.baseline.read_bytes() == serial
    (project.path / "release").mkdir()
    project.baseline.rename(project.path / "release" / "shop.json")
    project.edit('"token_f1": 0.3636', '"token_f1": 0.9636', "release/shop.json")
    project.system("def rag():\n    raise RuntimeError('the system must not be made')")
    result = spread(project, "--tx", hosts[1].address, "--auepora-replay", "--auepora-baseline=release")
    assert "1 newly failing (1 answered otherwise), 4 unchanged" in str(
        result.stdout
    )  # the worker has seen the baseline
    store = HistoryStore(project.path / ".auepora" / "history.sqlite")
    replayed, then = (store.load(name) for name in ("last", "last~1"))
    assert {i: c.scores for i, c in replayed.cases.items()} == {i: c.scores for i, c in then.cases.items()}
    assert len(store.runs()) == 3  # that of `accept`, and one each: nothing is stored by workers
    for host in hosts:
        assert (host.folder / "pyexecnetcache" / project.path.name / "shop.golden.yaml").exists()
        assert not list(host.folder.rglob(".auepora"))


def test_a_run_that_loses_a_host_is_red_and_can_be_resumed(project: Example, hosts: list[Host], tmp_path: Path) -> None:
    """pytest-xdist ends it with an internal error, as it has nothing to replace the host with."""
    project.write("conftest.py", LOST.format(measured=str(tmp_path / "measured")))
    result = spread(project, "--tx", hosts[0].address, "--tx", "popen")
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR, str(result.stdout)
    run = HistoryStore(project.path / ".auepora" / "history.sqlite").load("last")
    assert len(run.cases) > 1
    assert [case.state for case in run.cases.values() if case.state != "passed"] == ["error"]
    result = project.run("--auepora-resume")
    assert result.ret == 0, str(result.stdout)
    assert "5 passed" in str(result.stdout)
    assert f"{len(run.cases) - 1} of 5 answers taken" in str(result.stdout)
