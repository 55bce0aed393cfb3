"""A call that does not come back is named after a while, where there is no time limit."""

from __future__ import annotations

import os
import re

import pytest

from pytest_auepora.pytest_plugin.results import progress

from ..conftest import Example


def test_a_case_that_does_not_come_back_is_named(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    told = project.path / "told.txt"
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "AFTER", 0.02)
    monkeypatch.setattr(progress, "copy_of_stderr", lambda: os.open(told, os.O_WRONLY | os.O_CREAT))
    project.system(
        "def rag():\n    import time\n    told = pathlib.Path('told.txt')\n    def ask(query):\n"
        "        end = time.monotonic() + 30\n"
        "        while 'warehouse' in query and '::ware' not in told.read_text() and time.monotonic() < end:\n"
        "            time.sleep(0.01)\n        return answer(query)\n    return ask"
    )
    assert project.run().ret == 0
    assert re.search(r"auepora: shop.golden.yaml::warehouse .* \d+ s \(--auepora-timeout", told.read_text())
