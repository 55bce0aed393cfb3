"""A baseline whose golden file or configuration is gone is told, and fails a run that requires baselines."""

from __future__ import annotations

from ..conftest import Example
from ..listening import gates

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
    assert result.ret == 0
    assert "warning: __baselines__/shop@b.json: no run used this baseline of shop[b]" in str(result.stdout)
    strict = project.run("--auepora-require-baseline")
    assert strict.ret == 1
    assert gates(strict) == ["unused baseline"]
    assert project.run("--auepora-require-baseline", "-k", "warranty").ret == 0


def test_the_baseline_of_a_deleted_file_is_told_with_its_anchor(project: Example) -> None:
    project.write("more/more.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: more"))
    project.accept()
    project.accept("--auepora-update=all,anchor")
    assert (project.path / "more/__baselines__/more.anchor.json").exists()
    assert "no run used" not in str(project.run("--auepora-require-baseline").stdout)
    (project.path / "more/more.golden.yaml").unlink()
    strict = project.run("--auepora-require-baseline")
    assert strict.ret == 1
    assert gates(strict) == ["unused baseline"]
    assert "more/__baselines__/more.json: no run used this baseline of more" in str(strict.stdout)
    (project.path / "more/__baselines__/more.json").unlink()
    assert "more.anchor.json: no run used this baseline" in str(project.run().stdout)


def test_a_suite_whose_folder_was_hidden_is_told(project: Example) -> None:
    project.write("more/more.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: more"))
    project.accept()
    (project.path / "more").rename(project.path / ".more")
    strict = project.run("--auepora-require-baseline")
    assert gates(strict) == ["unused baseline"]
    assert ".more/__baselines__/more.json: no run used this baseline of more" in str(strict.stdout)


def test_the_setting_asks_for_golden_cases_as_the_option_does(project: Example) -> None:
    project.write("more/more.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: more"))
    project.accept()
    project.pytester.makeini("[pytest]\nauepora = true")
    (project.path / "more/more.golden.yaml").unlink()
    result = project.run(auepora=False)
    assert result.ret == 0
    assert "more/__baselines__/more.json: no run used this baseline of more" in str(result.stdout)
    project.golden.unlink()
    assert "no golden case was run: no file matches" in str(project.run(auepora=False).stdout)
