"""Golden files as pytest modules, golden cases as pytest functions; and what of them a run covers.

Each case becomes a small real function whose code claims to stand on the case's line of the golden file,
handed to ``pytest_pycollect_makeitem`` like any other.  Node ids, ``-k``, ``-m``, ``--lf``, fixtures of any
scope, parametrized and async fixtures, xdist and every plugin then work because nothing is special.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Generator, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from glob import glob
from pathlib import Path, PurePath
from typing import Any

import pytest

from ..base.complaints import Problem
from ..base.files import shown_path
from ..base.grouping import grouped
from ..errors import AueporaWarning, GoldenFileError
from ..io.golden.model import GoldenSuite
from ..io.golden.names import SUITE_ITEM, disk_name, shared_baseline
from ..reporting.text import printable
from .compat import fixture_definitions, has_plugin, is_anyio_automatic, loop_scope
from .items import case_marks, run_case, run_case_async
from .keys import CASE, CORPUS, MISTAKES, SUFFIXES, SYSTEM
from .options import is_asked_for_by_option, words_of
from .session import SESSION, SUITE, AueporaSession, SessionSuite
from .suite_items import run_suite, run_suite_async

_SELECTING_OPTIONS = ("keyword", "markexpr", "lf", "deselect", "ignore", "ignore_glob")
_SELECTION = "auepora_selection"
"""Key of a worker's output: how many cases were deselected, and which are to run, as JSON."""


def has_golden_name(path: Path, config: pytest.Config) -> bool:
    """Whether *path* matches ``auepora_files``."""
    return any(_matches(path, config.rootpath, pattern) for pattern in words_of(config, "auepora_files"))


def _matches(path: Path, root: Path, pattern: str) -> bool:
    """Whether *path* matches as ``PurePath.full_match`` does, its folders below *root*; a bare name does anywhere."""
    parts = PurePath(pattern).parts
    if len(parts) > 1 and path.is_relative_to(root):
        path = path.relative_to(root)
    return _match_parts(path.parts, parts if PurePath(pattern).is_absolute() else ("**", *parts))


def _match_parts(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _match_parts(parts, pattern[1:]) or (bool(parts) and _match_parts(parts[1:], pattern))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _match_parts(parts[1:], pattern[1:])


class Collecting:
    """In every process that collects tests: collects golden files, and notes which of their cases are to run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.selected: dict[str, dict[str, list[str]]] = {}  # golden file → configuration → cases
        self._deselected = 0

    @property
    def is_narrowed(self) -> bool:
        """Whether somebody left cases out on purpose; known once tests have run."""
        by_name = any("::" in arg for arg in self.config.args)
        return by_name or self._deselected > 0 or bool(getattr(self.config.option, "lf", False))

    @property
    def is_everything(self) -> bool:
        """Whether the run is of all golden cases that there are; known once tests have run."""
        config, start, root = self.config, self.config.invocation_params.dir, self.config.rootpath
        if self.is_narrowed or any(getattr(config.option, name, None) for name in _SELECTING_OPTIONS):
            return False
        if config.args == [str(start)]:  # none was given; by the setting alone, a folder of other tests is fine
            return is_asked_for_by_option(config) or start.resolve() == root.resolve()
        chosen = {(start / arg).resolve() for arg in config.args}
        paths = [str(root / part) for part in config.getini("testpaths")]
        configured = {Path(match).resolve() for path in paths for match in glob(path, recursive=True)}  # noqa: PTH207 - absolute
        return root.resolve() in chosen or (bool(configured) and configured <= chosen)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect golden files, which match the pattern or are named on the command line."""
        is_named = file_path.suffix in SUFFIXES and parent.session.isinitpath(file_path)
        if not (is_named or has_golden_name(file_path, self.config)):
            return None
        collector: pytest.Collector = GoldenFile.from_parent(parent, path=file_path)
        return collector

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the cases that somebody deselects, and says so."""
        self._deselected += sum(CASE in item.stash for item in items)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Put the mistakes in a golden file on its report, as data that workers can send."""
        report = yield
        if isinstance(collector, GoldenFile) and collector.mistakes:
            setattr(report, MISTAKES, [list(mistake) for mistake in collector.mistakes])
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the cases that are to run."""
        self.selected = {suite.path: {} for suite in self.config.stash[SESSION].collected}
        for item in session.items:
            if (case := item.stash.get(CASE, None)) is not None:
                suite = item.stash[SUITE]
                self.selected[suite.path].setdefault(suite.variant_of(item).name, []).append(case.id)

    def pytest_sessionfinish(self) -> None:
        """Send to the controller what this worker was to run."""
        if (out := getattr(self.config, "workeroutput", None)) is not None:
            unnamed = [[suite.path, *suite.unnamed] for suite in self.config.stash[SESSION].collected]
            out[_SELECTION] = json.dumps([self._deselected, self.selected, unnamed])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Read what a worker was to run: each collects all cases."""
        if (text := getattr(node, "workeroutput", {}).get(_SELECTION)) is not None:
            self._deselected, self.selected, unnamed = json.loads(text)
            for path, *names in unnamed:
                self.config.stash[SESSION].load(path).unnamed.update(names)


class GoldenFile(pytest.Module):
    """A golden file; pytest sees a module whose functions are the cases."""

    mistakes: Sequence[Problem] = ()
    _where = ""

    @cached_property
    def _auepora(self) -> AueporaSession:
        return self.config.stash[SESSION]

    def _shown(self, problem: Problem) -> Problem:
        """Return *problem* with its path as everywhere in pytest's output."""
        return problem._replace(path=shown_path(Path(problem.path), self.config.rootpath))

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield one item per case (or per case and parameter)."""
        try:
            suite = self._auepora.load(self.path)
        except GoldenFileError as exc:
            self.mistakes = [self._shown(problem) for problem in exc.problems]
            title = [f"{len(self.mistakes)} problems in this golden file:"] if len(self.mistakes) > 1 else []
            raise self.CollectError("\n".join([*title, *map(str, self.mistakes)])) from None
        golden = suite.golden
        if (other := self._auepora.namesake(suite)) is not None:
            raise self.CollectError(
                f"{shared_baseline(golden.name, other.golden.name, other.path)}: the two would share a "
                "baseline, and each update would drop the other's cases; rename one of them with suite:"
            )
        self.obj = types.ModuleType(self.path.stem)
        self.obj.__file__ = str(self.path)
        for problem in golden.warnings:
            self.warn(AueporaWarning(printable(str(self._shown(problem)))))
        for tag in golden.tags:
            self.add_marker(tag)
        fixtures, mark = self._fixtures(golden)
        checking, loop_marks = self._auepora.options.checking, [mark] if mark is not None else []
        base = self._template(fixtures, self._bodies, is_async=mark is not None)
        for case in golden.cases:
            marks = case_marks(case, xfail=not checking)
            if case.skip is not None and not checking:
                marks.append(pytest.mark.skip(reason=printable(case.skip)))
            function = self._function(case.id, case.line, case.sample.query, base, marks + loop_marks)
            items = self._make_items(function, suite)
            if case is golden.cases[0]:
                self._check_variants(suite, items)
            for item in items:
                item.stash[CASE] = case
            yield from items
        if not checking:
            yield from self._make_items(self._suite_function(golden, fixtures, loop_marks), suite)

    def _make_items(self, function: types.FunctionType, suite: SessionSuite) -> list[Any]:
        """Return what pytest and its plugins make of *function*: one item for each parameter of its fixtures."""
        name = function.__name__
        setattr(self.obj, name, function)
        function.__dict__["__test__"] = True  # collected whatever python_functions says
        items = self.ihook.pytest_pycollect_makeitem(collector=self, name=name, obj=function) or []
        for attribute in ("__test__", "pytestmark"):  # some pytest selects by these names: `-k test` would match them
            function.__dict__.pop(attribute, None)
        items = items if isinstance(items, list) else [items]
        for item in items:
            item.stash[SUITE], item.stash[SYSTEM] = suite, suite.golden.fixture
            self._where = self._where or item.location[0]  # pytest looks for the file each time it is asked
            item.location = self._where, function.__code__.co_firstlineno - 1, item.name
        return items

    def _check_variants(self, suite: SessionSuite, items: Sequence[pytest.Item]) -> None:
        """Say which configurations of the system in *items* would not keep a baseline of their own."""
        reasons = [why for item in items if (why := suite.unnamed_variant(item))]
        if reasons and self._auepora.options.wants_baselines:
            raise self.CollectError(reasons[0])
        if reasons:
            self.warn(AueporaWarning(reasons[0]))
        by_name = grouped((disk_name(name), name) for name in {suite.variant_of(item).name for item in items})
        for names in by_name.values():
            if len(names) > 1:
                both = " and ".join(map(repr, sorted(names)))
                raise self.CollectError(f"the configurations {both} have one baseline on disks that ignore case")

    def _function(
        self, name: str, line: int, doc: str, base: types.FunctionType, marks: list[pytest.MarkDecorator]
    ) -> types.FunctionType:
        """Return the test function *name* after *base*, at *line* of the golden file."""
        # one compilation per file: line tables are relative, so moving the first line moves the function
        code = base.__code__.replace(co_firstlineno=line, co_name=name)
        function = types.FunctionType(code, base.__globals__, name)
        function.__qualname__ = name
        function.__module__ = self.path.stem
        function.__doc__ = doc
        function.__dict__["pytestmark"] = [m.mark for m in marks]
        return function

    def _suite_function(
        self, suite: GoldenSuite, fixtures: tuple[str, ...], loop_marks: list[pytest.MarkDecorator]
    ) -> types.FunctionType:
        """Return the test function that judges *suite*, with the tags of all cases: ``-m`` selects it with them."""
        base = self._template(fixtures, (run_suite, run_suite_async), is_async=bool(loop_marks))
        first, *others = (case.tags for case in suite.cases)
        marks = [getattr(pytest.mark, tag) for tag in first if all(tag in tags for tags in others)]
        if has_plugin(self.config, "timeout"):
            marks.append(pytest.mark.timeout(0))  # the limit is for one test, and here all cases may be asked again
        return self._function(SUITE_ITEM, suite.line, f"Judges {suite.name}.", base, marks + loop_marks)

    @property
    def _bodies(self) -> tuple[Any, Any]:
        """What the items of cases run, and those in an event loop."""
        if self._auepora.options.checking:
            from .labels_checking import check_labels

            return check_labels, check_labels
        return run_case, run_case_async

    def _template(self, fixtures: tuple[str, ...], bodies: tuple[Any, Any], *, is_async: bool) -> types.FunctionType:
        """Return ``def case(<fixtures>)``, which calls one of *bodies*, compiled as if it stood in the golden file."""
        body = bodies[is_async]
        prefix, wait = "async " if is_async else "", "await " if inspect.iscoroutinefunction(body) else ""
        source = f"{prefix}def case({', '.join(fixtures)}): {wait}run()"
        scope: dict[str, Any] = {"run": partial(body, self._auepora), "__file__": str(self.path)}
        exec(compile(source, str(self.path), "exec"), scope)
        template: types.FunctionType = scope["case"]
        return template

    def _fixtures(self, suite: GoldenSuite) -> tuple[tuple[str, ...], pytest.MarkDecorator | None]:
        """Return the fixtures of the cases, and the mark that makes an event-loop plugin run those that are async.

        The system, unless labels alone are checked, and the corpus where the project says what that is.  A replay
        needs neither: the name of the system stays, as it tells the configurations.
        """
        if self._auepora.asks_nothing:
            return (suite.fixture,), None
        names: tuple[str, ...] = (suite.fixture, CORPUS)
        if self._auepora.options.checking:
            names = (CORPUS,)
        elif any(case.benchmark is not None for case in suite.cases):
            names += ("request",)  # which pytest-benchmark's fixture is asked of
        base = self._template(names, self._bodies, is_async=False)
        probe = pytest.Function.from_parent(self, name="probe", callobj=base)
        definitions = fixture_definitions(probe)
        fixtures = tuple(name for name in names if name != CORPUS or definitions.get(name))
        marks = (self._loop_mark(probe, definitions[name][-1]) for name in fixtures if definitions.get(name))
        return fixtures, next(filter(None, marks), None)

    def _loop_mark(self, probe: pytest.Item, definition: pytest.FixtureDef[Any]) -> pytest.MarkDecorator | None:
        if not (inspect.iscoroutinefunction(definition.func) or inspect.isasyncgenfunction(definition.func)):
            return None
        if "anyio_backend" in getattr(probe, "fixturenames", ()) or is_anyio_automatic(self.config):
            return pytest.mark.anyio
        if has_plugin(self.config, "asyncio"):
            return pytest.mark.asyncio(loop_scope=loop_scope(self.config, definition))
        return None
