"""``auepora repro CASE``: the file that it writes fails by itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from ...cause.accepting import accept_system, recorded_run
from ...cause.test_repro import GOLDEN, good, lost
from ..conftest import Shell


@pytest.fixture
def runs(shell: Shell) -> list[str]:
    """A run that is fine, one in which all is lost, and one that is fine again."""
    shell.write("shop.golden.yaml", GOLDEN)
    accepted = accept_system(shell.path / "shop.golden.yaml", good)
    store, ids = HistoryStore(shell.path / FOLDER / "history.sqlite"), []
    for system in (good, lost, good):
        source = recorded_run(accepted, as_system(system))
        source.run.path = "shop.golden.yaml"
        ids.append(store.add(source.run, Verdict(source.run.title), recordings=source.recordings))
    return ids


def run_python(shell: Shell, *args: str) -> Any:
    return subprocess.run([sys.executable, *args], cwd=shell.path, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_file_fails_by_itself(shell: Shell, runs: list[str]) -> None:
    said = shell("repro", "refund")
    assert said.code == 0, said.err
    assert said.out.startswith("repro_refund.py ")
    assert "'30 days'" in said.out
    (shell.path / "shop.golden.yaml").unlink()
    done = run_python(shell, "repro_refund.py")
    assert done.returncode == 1
    assert "must_contain: the answer misses '30 days'" in done.stderr
    assert f"run {runs[1]}" in (shell.path / "repro_refund.py").read_text()


@pytest.mark.slow
def test_it_passes_once_the_system_is_mended(shell: Shell, runs: list[str]) -> None:
    assert shell("repro", "typo", "--out", "typo.py", "--run", runs[1]).code == 0
    path = shell.path / "typo.py"
    path.write_text(path.read_text().replace("terms.md", "refunds.md"))
    assert run_python(shell, "typo.py").returncode == 0


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("case_id", "code", "told"),
    [
        ("other", 2, "'other' did not fail in the runs of"),
        ("refnud", 2, "'refnud' is unknown (did you mean 'refund'?)"),
    ],
)
def test_what_did_not_fail_has_no_file(shell: Shell, case_id: str, code: int, told: str) -> None:
    said = shell("repro", case_id)
    assert (said.code, told in said.err) == (code, True), said.err
    assert list(shell.path.glob("repro_*")) == []
