"""What the process that hands out the work does about its workers, and what of one that dies."""

from __future__ import annotations

from collections.abc import Collection, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadFileScheduling, LoadGroupScheduling, LoadScopeScheduling

from ..core.files import shown_path
from .options import OVERRIDE
from .session import SUFFIXES
from .xdist import case_id_of, let_go

if TYPE_CHECKING:
    from ..io.golden.model import GoldenCase, GoldenSuite


class _LosesOneCase(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """A worker that dies with a golden case loses that case alone.

    pytest-xdist would hand the whole rest of its unit of work to the next worker, the case that killed it included,
    and so one worker after the other would die of it.
    """

    def remove_node(self, node: Any) -> str | None:
        """Return the test that *node* died with, if any; others get what it left."""
        units: dict[str, dict[str, bool]] = self.assigned_work[node]
        left = ((scope, test) for scope, unit in units.items() for test, has_run in unit.items() if not has_run)
        scope, running = next(left, ("", ""))
        lost = running if running.partition("::")[0].endswith(SUFFIXES) else None
        if lost is not None:
            units[scope][lost] = True
            for done in [scope for scope, unit in units.items() if all(unit.values())]:
                del units[done]  # a worker that got it would wait for ever
        crashed: str | None = super().remove_node(node)
        return lost or crashed


class _ByFile(_LosesOneCase, LoadFileScheduling):  # type: ignore[misc]
    pass


class _ByGroup(_LosesOneCase, LoadGroupScheduling):  # type: ignore[misc]
    pass


_SCHEDULERS = {"loadscope": _LosesOneCase, "loadfile": _ByFile, "loadgroup": _ByGroup}
"""Instead of pytest-xdist's, by the words of ``--dist`` that hand out many tests as one unit of work."""


class Workers:
    """Tells workers what they cannot know, chooses who gets what, and lets go of what they sent.

    Args:
        override: the baseline that is to be used instead of those beside the golden files.
        verbose: whether results are shown again at the end.
    """

    def __init__(self, override: Path | None = None, *, verbose: bool = False) -> None:
        self._override, self._verbose = override, verbose

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell workers which baseline is to be used instead, where it is in another host's copy."""
        if self._override is not None:
            node.workerinput[OVERRIDE] = shown_path(self._override, node.config.rootpath)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Return a scheduler that survives a case that kills its worker; None where pytest-xdist's own does."""
        scheduler = _SCHEDULERS.get(config.getoption("dist"))
        return scheduler(config, log) if scheduler is not None else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Let go of what a worker sent."""
        yield
        if not self._verbose:
            let_go(report)


def lost_case(nodeid: str, suite: GoldenSuite, variants: Collection[str]) -> tuple[GoldenCase, str] | None:
    """Return the case of *suite* that a worker died with, by what its node id says, and its configuration.

    Some of the parameters in its id may be no part of the configuration: one of the known *variants* is the largest
    that they hold.
    """
    name, cases = nodeid.partition("::")[2], {case.id: case for case in suite.cases}
    if (case := cases.get(case_id_of(name, cases))) is None:
        return None
    parameters = name.partition("[")[2].rpartition("]")[0]
    parts = set(parameters.split("-"))
    fits = [one for one in variants if set(filter(None, one.split("-"))) <= parts]
    return case, parameters if parameters in variants or not fits else max(fits, key=len)
