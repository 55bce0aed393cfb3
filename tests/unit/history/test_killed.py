"""``kill -9`` at random moments of a write: what was there is there, and whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KILLS = 60


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
@pytest.mark.parametrize("what", ["store", "journal", "baseline", "labels"])
def test_a_killed_writer_leaves_the_old_or_the_new(
    what: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("temporary"))}  # the killed leave their locks in it
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.history.killed", what, str(tmp_path), str(KILLS)],
        cwd=ROOT, env=own, capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["kills"] >= 50  # they died at work, not after it
    assert seen["kept"] > 0  # and some had got something done
