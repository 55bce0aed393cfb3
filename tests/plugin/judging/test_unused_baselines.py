"""A baseline whose golden file or configuration is gone is told, and fails a run that requires baselines."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import gates, unused

TWO = """\
@pytest.fixture(scope="session", params=[{}])
def rag(request):
    return answer
"""


def test_a_baseline_that_no_run_used_is_told(project: Example) -> None:
    project.write("conftest.py", "import pytest\nfrom shop import answer\n\n" + TWO.format("'a', 'b'"))
    project.accept()
    project.write("conftest.py", "import pytest\nfrom shop import answer\n\n" + TWO.format("'a'"))
    result = project.run()
    assert (result.ret, unused(result)) == (0, ["__baselines__/shop@b.json"])
    result.stdout.fnmatch_lines(["warning: __baselines__/shop@b.json: *shop[[]b[]]*"])
    strict = project.run("--auepora-require-baseline")
    assert (strict.ret, gates(strict)) == (1, ["unused baseline"])
    selected = project.run("--auepora-require-baseline", "-k", "warranty")
    assert (selected.ret, unused(selected)) == (0, [])


@pytest.mark.slow
def test_the_baseline_of_a_deleted_file_is_told_with_its_anchor(project: Example) -> None:
    project.write("more/more.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: more"))
    project.accept()
    project.accept("--auepora-update=all,anchor")
    assert (project.path / "more/__baselines__/more.anchor.json").exists()
    assert unused(project.run("--auepora-require-baseline")) == []
    (project.path / "more/more.golden.yaml").unlink()
    strict = project.run("--auepora-require-baseline")
    assert (strict.ret, gates(strict)) == (1, ["unused baseline"])
    assert unused(strict) == ["more/__baselines__/more.json"]
    (project.path / "more/__baselines__/more.json").unlink()
    assert unused(project.run()) == ["more/__baselines__/more.anchor.json"]


def test_a_suite_whose_folder_was_hidden_is_told(project: Example) -> None:
    project.write("more/more.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: more"))
    project.accept()
    (project.path / "more").rename(project.path / ".more")
    strict = project.run("--auepora-require-baseline")
    assert (gates(strict), unused(strict)) == (["unused baseline"], [".more/__baselines__/more.json"])


def test_the_setting_asks_for_golden_cases_as_the_option_does(project: Example) -> None:
    project.write("more/more.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: more"))
    project.accept()
    project.pytester.makeini("[pytest]\nauepora = true")
    (project.path / "more/more.golden.yaml").unlink()
    result = project.run(auepora=False)
    assert (result.ret, unused(result)) == (0, ["more/__baselines__/more.json"])
    project.golden.unlink()
    project.run(auepora=False).assert_outcomes(failed=1)  # nothing was measured
