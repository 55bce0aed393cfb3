"""What all tests share: properties are checked without a clock, as machines are shared and slow ones exist, and on
few examples where a developer waits; no test is told of the CI job, or of the user's own settings, that it runs among.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_NO_CLOCK: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("thorough", **_NO_CLOCK)  # of .ci/run: --hypothesis-profile=thorough
settings.register_profile("light", **_NO_CLOCK, max_examples=10)
settings.load_profile("light")

sys.dont_write_bytecode = False  # every process would compile the package, and rewrite the asserts of the tests, anew
TESTS = Path(__file__).parent


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: tests of calls, limits and killed processes wait while others compute."""
    return 1 + (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A process that has no tests left takes half of another's: the longest lie side by side."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_finish() -> None:
    """What is there now is there to the end: no later collection of garbage has to walk it, and they may be rarer."""
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_collection(session: pytest.Session) -> None:
    """Import first, in each process of a whole run, another share of the tests: then each file is rewritten once."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    share = sorted(TESTS.rglob("test_*.py"))[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]
    for path in [*TESTS.rglob("conftest.py"), *share]:
        with suppress(Exception, pytest.skip.Exception):  # told when the file is collected
            importlib.import_module(".".join(path.relative_to(TESTS.parent).with_suffix("").parts))


_TOLD = ("CI", "BUILD_NUMBER", "GH_TOKEN", "PYTEST_ADDOPTS")
_TOLD_BY = ("GITHUB_", "AUEPORA_")
_OURS = "AUEPORA_TEST_DATABASE"


@pytest.fixture(scope="session", autouse=True)
def _alone_in_the_world() -> Iterator[None]:
    """Take out of the environment what changes runs of pytest and commands; a test that needs some of it sets it.

    For the session, so that fixtures of any scope are made without it: what they start would write into the summary of
    the real job, and into the user's own history.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name in _TOLD or (name.startswith(_TOLD_BY) and name != _OURS):
                patch.delenv(name)
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # hundreds of processes would compile the package anew
        yield


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers on loopback are reached as they are, and no key is known."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
