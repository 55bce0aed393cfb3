"""Of which suites the results are kept in columns and a temporary file, and not as the objects they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..io.golden.load import GoldenSuite

__all__ = ["keeps_columns", "only_ours_judge"]

_OURS = f"{__package__}."


def keeps_columns(config: pytest.Config, suite: GoldenSuite) -> bool:
    """Whether *suite* is large, and nobody comes back to the objects.

    The project's own hook may change them at the end, and what was on a report is shown once more under ``-v`` or
    written as JUnit.
    """
    return (
        suite.is_large
        and only_ours_judge(config)
        and not config.getini("auepora_junit_properties")
        and config.get_verbosity() < 1
    )


def only_ours_judge(config: pytest.Config) -> bool:
    """Whether results stay as they were reported: the project's own hook may change them at the end."""
    hooked = config.hook.pytest_auepora_run_finished.get_hookimpls()
    return all(type(impl.plugin).__module__.startswith(_OURS) for impl in hooked)
