"""What is made from a golden file: markers of its tags, a baseline for each configuration, one suite of a name."""

from __future__ import annotations

import pytest

from .conftest import Example


def test_tags_are_registered_markers(project: Example) -> None:
    project.run("-m", "smoke").assert_outcomes(passed=1, deselected=5)
    project.edit("tags: [smoke]", "tags: [smoke, slow-one]")
    project.run("-m", "slow-one").assert_outcomes(passed=1, deselected=5)


def test_each_configuration_has_its_own_run_and_baseline(project: Example) -> None:
    project.system(
        "def rag(request):\n    return answer if request.param == 'good' else (lambda q: ('?', []))",
        decorator="pytest.fixture",
    )
    project.edit("scope='session')", "scope='session', params=['good', 'bad'])", "conftest.py")
    result = project.run("--auepora-update")
    text = str(result.stdout)
    assert "shop[good]" in text
    assert "shop[bad]" in text
    assert sorted(p.name for p in project.baseline.parent.iterdir()) == ["shop@bad.json", "shop@good.json"]
    project.run("shop.golden.yaml::warehouse[good]").assert_outcomes(passed=1)


def test_two_golden_files_of_one_suite_are_an_error(project: Example) -> None:
    project.write("other.golden.yaml", project.read("shop.golden.yaml"))
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*ERROR collecting shop.golden.yaml*", "*'shop'*other.golden.yaml*"])
    project.edit("suite: shop", "suite: SHOP")
    assert "'shop' of other.golden.yaml" in " ".join(str(project.run().stdout).split())
    project.edit("suite: SHOP", "suite: shop")
    assert project.run("--auepora-update", "shop.golden.yaml").ret == 0


def test_a_threshold_that_cannot_fail_is_a_warning(project: Example) -> None:
    project.edit("recall@3: 0.9", "recall@3: 0")
    result = project.run("-W", "default")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*shop.golden.yaml:4:13: recall@3 >= 0 cannot fail: the value is always from 0 to 1"])
