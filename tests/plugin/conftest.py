"""A small project to run the plugin on: golden cases, a system that knows five documents, a few words to break it."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.base import plugins
from pytest_auepora.base.json import encode_finite
from pytest_auepora.core.case_texts import StoredTexts
from pytest_auepora.history.codec import CaseJson
from pytest_auepora.history.journal import Journal
from pytest_auepora.pytest_plugin import entry

from .listening import Listener
from .rechunked import accepted_under_old_chunks
from .sources import CONFTEST, COUNTING, GOLDEN, RAG, TIMED

__all__ = ["CONFTEST", "ENTRY", "RAG", "Example", "alone"]

for _module in (
    "numpy", "yaml", "nltk.stem.porter", "rouge_score.rouge_scorer", "sacrebleu", "orjson", "portalocker", "sqlite3",
    "jinja2", "pydantic.fields", "pydantic.json_schema", "pydantic.plugin._schema_validator",
):  # fmt: skip
    # pytester forgets what a run inside this process imported; C extensions do not survive a second import
    importlib.import_module(_module)
for _room in (
    "base", "calls", "history", "labels", "metrics", "regression", "evaluation", "cause", "reporting", "pytest_plugin",
):  # fmt: skip
    _package = importlib.import_module(f"pytest_auepora.{_room}")
    for _found in pkgutil.walk_packages(_package.__path__, f"pytest_auepora.{_room}."):
        importlib.import_module(_found.name)

ENTRY = entry.__name__
_ACCEPTED: dict[Any, frozenset[tuple[str, bytes]]] = {}
_OF_ONE_TEST = ("PYTEST_CURRENT_TEST", "HOME", "USERPROFILE", "PYTEST_DEBUG_TEMPROOT")
"""Variables that pytester sets for each test; any other makes a run another one."""
UNUSED = [f"-pno:{name}" for name in ("doctest", "pastebin", "legacypath", "faulthandler", "unittest", "recwarn")]
"""Parts of pytest that no golden case needs."""


@contextmanager
def alone() -> Iterator[None]:
    """Let a pytest load no plugin but those named, and be nobody's worker, even if these tests are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setattr(plugins, "metadata", SimpleNamespace(entry_points=lambda group: ()))
        patch.delenv("PYTEST_XDIST_WORKER", raising=False)
        yield


class Example:
    """A directory with a RAG, golden cases and a pytest to run on them."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        (self.path / "shop.py").write_text(RAG, encoding="utf-8")
        (self.path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (self.path / "shop.golden.yaml").write_text(GOLDEN, encoding="utf-8")
        pytester.makeini("[pytest]\naddopts = --strict-markers\nfilterwarnings = error")

    @property
    def golden(self) -> Path:
        return self.path / "shop.golden.yaml"

    @property
    def baseline(self) -> Path:
        return self.path / "__baselines__" / "shop.json"

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return (self.path / name).read_text(encoding="utf-8")

    def edit(self, old: str, new: str, name: str = "shop.golden.yaml") -> None:
        """Replace *old* by *new* in a file; it must be there exactly once."""
        path = self.path / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)  # stays valid if size and second are the same

    def conftest(self, code: str) -> None:
        """Add *code* to the conftest."""
        text = self.read("conftest.py").rstrip("\n")
        self.write("conftest.py", f"{text}\n\n\n{dedent(code).strip()}\n")

    def case(self, case: str, *lines: str) -> None:
        """Add *lines* to a case of the golden file."""
        start = f"  - id: {case}\n"
        self.edit(start, start + "".join(f"    {line}\n" for line in lines))

    def system(self, source: str, *, scope: str = "session", decorator: str = "pytest.fixture") -> None:
        """Replace the conftest's ``rag`` fixture by the body *source*."""
        self.write(
            "conftest.py",
            "import asyncio\nimport pathlib\nimport pytest\nfrom shop import DOCS, answer, search\n\n\n"
            f"@{decorator}(scope={scope!r})\n{source}\n",
        )

    def run(
        self, *args: str, auepora: bool = True, plugins: tuple[str, ...] = (), cache: bool = False,
        interrupts: bool = False,
    ) -> pytest.RunResult:  # fmt: skip
        """Run pytest in this process with few plugins but ours and *plugins*: to find and register others is slow.

        *cache* says whether it knows what failed before, *interrupts* whether the run itself presses Ctrl-C.
        """
        with alone():
            ours = (ENTRY,) if any("xdist" in name for name in (*plugins, *args)) else ()  # workers load what is named
            loaded = [part for name in (*ours, *plugins) for part in ("-p", name)]
            first = ["--auepora"] if auepora else []
            # the pytest that runs these tests has imported the entry module already
            quiet = ("-W", "ignore:Module already imported")
            arguments = *quiet, *UNUSED, *(() if cache else ("-p", "no:cacheprovider")), *loaded, *first, *args
            given = [] if ours else [entry]
            listener = Listener()
            return listener.heard(
                self.pytester.runpytest_inprocess(*arguments, plugins=[*given, listener], no_reraise_ctrlc=interrupts)
            )

    def run_apart(self, *args: str, timeout: float = 120) -> pytest.RunResult:
        """Do the same in a process of its own, with its cache, and pytest-xdist where that is asked for."""
        spread = ("-p", "xdist") if {"-n", "-d"} & set(args) else ()
        with alone():
            return self.pytester.runpytest_subprocess("-p", ENTRY, *spread, "--auepora", *args, timeout=timeout)

    def accept(self, *args: str, plugins: tuple[str, ...] = ()) -> None:
        """Make what the system does now the baseline; a project that is alike was accepted once for all tests."""
        files = self._files()
        environment = frozenset(item for item in os.environ.items() if item[0] not in _OF_ONE_TEST)
        before = args, plugins, files, environment
        if before not in _ACCEPTED:
            result = self.run("--auepora-update", *args, plugins=plugins)
            assert result.ret == 0, str(result.stdout)
            _ACCEPTED[before] = self._files()
        for name in dict(files).keys() - dict(_ACCEPTED[before]).keys():
            (self.path / name).unlink(missing_ok=True)
        for name, content in _ACCEPTED[before]:
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _files(self) -> frozenset[tuple[str, bytes]]:
        files = (path for path in self.path.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return frozenset((path.relative_to(self.path).as_posix(), path.read_bytes()) for path in files)

    def when_asked(self, word: str, what: str) -> None:
        """Make the system do *what*, one line of code, before it answers a query with *word* in it."""
        start = "def answer(query, docs=DOCS):"
        self.edit(start, f"{start}\n    if {word!r} in query: {what}", "shop.py")

    def limit_only(self, case: str) -> None:
        """Give all other cases minutes, whatever the run allows: a machine that stands still for a while is no news."""
        text = self.golden.read_text(encoding="utf-8")
        self.golden.write_text(re.sub(rf"(  - id: (?!{case}).*)", r"\1\n    timeout: 600", text), encoding="utf-8")

    def break_retriever(self) -> None:
        """Make the system forget everything about refunds."""
        self.edit(
            "def search(query, docs=DOCS):",
            "def search(query, docs=DOCS):\n    docs = {k: v for k, v in docs.items() if k != 'refunds'}",
            "shop.py",
        )


@pytest.fixture(autouse=True)
def _texts_are_read_as_they_were(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a result reads from its journal is what it had before."""
    changed: list[str] = []
    add = Journal.add

    def checked(journal: Journal, path: str, variant: str, case: CaseJson, provenance: Any) -> StoredTexts | None:
        stored = add(journal, path, variant, case, provenance)
        changed.extend([case.case_id] if stored and encode_finite(stored.read()) != case.texts else [])
        return stored

    monkeypatch.setattr(Journal, "add", checked)
    yield
    assert changed == []


@pytest.fixture
def project(pytester: pytest.Pytester) -> Example:
    return Example(pytester)


@pytest.fixture
def job(project: Example, monkeypatch: pytest.MonkeyPatch) -> Example:
    """A step of a GitHub job that has checked out the directory above the project."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    return project


@pytest.fixture
def counted(project: Example) -> Example:
    """A project that notes every call, and whose system cannot be made without a key."""
    project.system(COUNTING)
    project.write("key.txt", "")
    return project


@pytest.fixture
def shop(project: Example) -> Example:
    """A suite accepted under chunks that are cut anew."""
    return accepted_under_old_chunks(project)


@pytest.fixture
def timed(project: Example) -> Example:
    """A project that holds latency to its baseline; its system says that a call took 1 s; 2 s once there is `slow`."""
    project.system(TIMED)
    policy = "regression:\n  metrics: {mean_latency: {policy: tolerance}}\nowners: {mean_latency: tools}\n"
    project.edit("thresholds:\n  recall", f"{policy}thresholds:\n  recall")
    return project
