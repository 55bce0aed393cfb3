"""What ``auepora new`` writes for the frameworks, run with the real packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.cli.new import FORMS


@pytest.mark.parametrize("form", [form for form, (module, _) in FORMS.items() if module])
def test_it_is_green_at_once(form: str, tmp_path: Path) -> None:
    module, package = FORMS[form]
    pytest.importorskip(module, reason=f"{package} is not installed")
    assert main(["new", str(tmp_path), "--rag", form]) == 0
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--auepora", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
