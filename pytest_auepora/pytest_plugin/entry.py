"""The part that every pytest run pays for: options, hook specifications, fixtures' names, one ``if``.

Only `options` and `hookspecs` are imported here until ``--auepora`` is given or a test asks for a fixture.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from .options import KEEP, is_asked_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from .fixtures import Auepora, ScoredCase

_ALONE = {"--auepora-update": "all", "--auepora-suggest": "-", "--auepora-replay": "last", "--auepora-resume": "last"}
"""What options mean without ``=``: what follows them is a path."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and ini keys."""
    _declare_options(parser)
    _declare_settings(parser)


def _declare_options(parser: pytest.Parser) -> None:
    add: Callable[..., None]
    add = parser.getgroup("auepora", "RAG regression tests; each option but --auepora implies it").addoption
    add("--auepora", action="store_true", help="collect golden files, run their cases, judge the result")
    add(
        "--auepora-update", nargs="?", const="all", metavar="WORDS",
        help="accept results into the baseline; WORDS: all (default), new, improved; anew: all, also what differs by "
        "chance alone; prune: drop cases that the golden files no longer have (full runs); anchor: make this run the "
        "anchor, with which later runs are compared too; preview: say what would be written, and write nothing",
    )  # fmt: skip
    add("--auepora-require-baseline", action="store_true", help="fail where a suite has no baseline (for CI)")
    add("--auepora-baseline", metavar="PATH", help="directory or .json file to use instead of __baselines__/")
    add("--auepora-concurrency", type=int, metavar="N", help="calls in flight (default: 1, async systems 8)")
    add("--auepora-max-calls", type=int, metavar="N", help="make at most so many calls, refuse a run that takes more")
    add("--auepora-repeat", type=int, metavar="N", help="ask each case N times")
    add(
        "--auepora-why", action="store_true",
        help="show why a run is worse: ask today's generator with the documents that the accepted run had",
    )  # fmt: skip
    add(
        "--auepora-suggest", nargs="?", const="-", metavar="FILE",
        help="ask each case 5 times and suggest thresholds that live with the noise; FILE: the golden file, or a patch",
    )  # fmt: skip
    add("--auepora-seed", type=int, metavar="N", help="seed random, numpy and torch before each call; one at a time")
    add("--auepora-timeout", type=float, metavar="SECONDS", help="give up on a single call after this long")
    add(
        "--auepora-replay", nargs="?", const="last", metavar="RUN",
        help="judge the answers of an earlier run again, without any call; RUN: an id or its beginning, last "
        "(default), last~2",
    )  # fmt: skip
    add(
        "--auepora-resume", nargs="?", const="last", metavar="RUN",
        help="take the answers that an earlier run has and call only for the rest",
    )  # fmt: skip
    add("--auepora-run-name", metavar="NAME", help="what to call the run in the history")
    add(
        "--auepora-report", action="append", metavar="KIND:FILE",
        help="write a report (repeatable); KIND: md, html, json, csv, summary",
    )  # fmt: skip
    add(
        "--auepora-labels", metavar="WORDS",
        help="WORDS: check: report labels that moved in the corpus, without calling the system; repair: also rewrite "
        "those that provably moved; strict: match labels that moved by chunk or not at all; old=FILE: the corpus "
        "before (JSONL: id, text), which says what old chunk ids stood for",
    )  # fmt: skip


def _declare_settings(parser: pytest.Parser) -> None:
    add: Callable[..., None] = parser.addini
    add(
        "auepora_files", "globs of golden files", type="args",
        default=["*.golden.yaml", "*.golden.yml", "*.golden.jsonl"],
    )  # fmt: skip
    add("auepora", "as if --auepora were always given", type="bool", default=False)
    add("auepora_concurrency", "as --auepora-concurrency", type="int", default=None)
    add("auepora_timeout", "as --auepora-timeout, in seconds", type="float", default=None)
    add("auepora_calibrations", "folder of calibrated judges instead of __calibrations__/", default="")
    add("auepora_judge", "the YAML file that says which LLM judge is asked, and what it may spend", default="")
    add(
        "auepora_budget",
        "what the system may spend in a run: cost=NUMBER, tokens=NUMBER",
        type="args",
        default=[],
    )
    add("auepora_history", "where runs are kept: a path, a URL for SQLAlchemy, or off", default="")
    add(
        "auepora_keep", "what is kept of each suite and configuration: runs=N; answers=N, runs whose answers are kept "
        "for a replay (none: no answer is stored); characters=N of an answer with its documents; N may be all",
        type="args",
        default=list(KEEP),
    )  # fmt: skip
    add(
        "auepora_accepted", "texts: an update also keeps the accepted answers and their documents, compressed, beside "
        "the baseline", default="",
    )  # fmt: skip
    add("auepora_report", "as --auepora-report, relative to the rootdir", type="linelist", default=[])
    add(
        "auepora_github", "what GitHub Actions gets by itself: summary, annotations, or off", type="args",
        default=["summary", "annotations"],
    )  # fmt: skip
    add(
        "auepora_plugins", "modules (my_hooks, or hooks.py from the rootdir) whose hooks the command auepora uses as "
        "well; pytest has conftest.py", type="args", default=[],
    )  # fmt: skip
    add("auepora_junit_properties", "put scores into --junitxml as properties of cases", type="bool", default=False)
    add("auepora_reference", "the configuration that the others are compared with, side by side", default="")
    add("auepora_retry", "exceptions to retry: names or dotted paths", type="args", default=[])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Let ``--auepora-update tests/`` mean what it says: argparse would take the path for the option's words.

    Raises:
        pytest.UsageError: what follows is no path, but a word that belongs behind ``=``.
    """
    given = early_config.known_args_namespace
    behind = ((option, path) for option, path in pairwise(args) if option in _ALONE and not path.startswith("-"))
    for option, path in () if given.pyargs else behind:
        if not (early_config.invocation_params.dir / path.partition("::")[0]).exists():
            raise pytest.UsageError(f"there is no {path}; words follow {option} after `=`: {option}={path}")
    whole = [f"{arg}={_ALONE[arg]}" if arg in _ALONE else arg for arg in args]
    if whole != args:  # the path may have a conftest.py
        args[:] = whole
        given.file_or_dir = parser.parse_known_args(args).file_or_dir


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of `hookspecs`."""
    from .. import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Load the rest where it is asked for."""
    config.addinivalue_line("markers", "auepora(path): run the test once per case of a golden file (auepora_case)")
    words = (config.getoption("auepora_labels") or "").split(",")
    if "check" in words or "repair" in words:
        from .registration import configure_checking

        configure_checking(config)
    elif is_asked_for(config):
        from .registration import configure

        configure(config)
    else:
        _refuse_golden_files(config)


def _refuse_golden_files(config: pytest.Config) -> None:
    """Say what is missing where the command line names a golden file: pytest would only say that it finds nothing."""
    for path, name in ((arg.partition("::")[0], arg) for arg in config.args):
        if path.endswith((".yaml", ".yml", ".jsonl")):
            from .collect import has_golden_name

            where = config.invocation_params.dir / path
            if where.is_file() and has_golden_name(where, config):
                raise pytest.UsageError(
                    f"{name} is a golden file: give --auepora as well, or set `auepora = true` in the ini file"
                )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``auepora_case`` one parameter per golden case of the marker's file."""
    if "auepora_case" in metafunc.fixturenames:
        from .fixtures import parametrize_cases

        parametrize_cases(metafunc)


def pytest_assertrepr_compare(op: str, left: Any, right: Any) -> list[str] | None:
    """Explain a failed comparison of a score; scores exist only where their module was imported."""
    scores = sys.modules.get("pytest_auepora.core.comparable_score")
    if scores is None or not isinstance(left, scores.ComparableScore):
        return None
    from ..reporting.terminal.assertions import explain_score

    return explain_score(left, op, right)


@pytest.fixture
def auepora(request: pytest.FixtureRequest) -> Auepora:
    """Evaluate golden files inside a test: ``run = auepora.evaluate("golden/billing.golden.yaml")``."""
    from .fixtures import Auepora

    return Auepora(request)


@pytest.fixture
def auepora_case(request: pytest.FixtureRequest) -> ScoredCase:
    """One case of the golden file named by ``@pytest.mark.auepora(path)``, run and scored."""
    from .fixtures import score_case_of

    return score_case_of(request)
