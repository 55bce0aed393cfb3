"""A named pipe in place of a file that the project keeps: an error that names it, and nobody waits for a writer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.base.files import read_text
from pytest_auepora.drafting.files import DraftJournal
from pytest_auepora.errors import AueporaError
from pytest_auepora.history.accepted import AcceptedTexts
from pytest_auepora.history.journal import recover
from pytest_auepora.history.settings import Keep, find_settings
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.io.importers import import_cases
from pytest_auepora.metrics.judge.client import ReplyCache
from pytest_auepora.metrics.judge.settings import load_settings
from pytest_auepora.regression.baseline_file import read_baseline
from pytest_auepora.regression.guards.calibration import load_calibration

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")


def ends(act: Callable[[], Any]) -> Any:
    """Return what *act* returns, which must not wait."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(act).result(timeout=30)
    finally:
        pool.shutdown(wait=False)


@pytest.mark.parametrize(
    "read", [read_text, read_baseline, load_settings, DraftJournal, load_calibration, AcceptedTexts]
)
def test_a_pipe_is_refused_by_name(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    pipe = tmp_path / "a.json"
    os.mkfifo(pipe)
    with pytest.raises(AueporaError, match=r"a\.json: .*it is no regular file"):
        ends(lambda: read(pipe))


def test_a_pipe_among_what_is_optional_is_passed_over(tmp_path: Path) -> None:
    for name in ("ab/cd.json", "unfinished-x.jsonl", "pytest.ini"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        os.mkfifo(tmp_path / name)
    assert ends(lambda: ReplyCache(tmp_path).get("abcd")) is None
    assert ends(lambda: recover(HistoryStore(tmp_path / "h.sqlite"), tmp_path, Keep())) == []
    assert ends(lambda: find_settings(tmp_path)) == (tmp_path, {})
    config = tmp_path / "promptfooconfig.yaml"
    config.write_text("prompts: [file://pytest.ini]\ntests: [{vars: {query: Open?}}]\n", encoding="utf-8")
    assert [case["query"] for case in ends(lambda: import_cases(config, "promptfoo")).cases] == ["Open?"]


def test_what_a_shell_substitutes_is_read() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"some text")
    os.close(writer)
    assert ends(lambda: read_text(Path(f"/dev/fd/{reader}"))) == "some text"
