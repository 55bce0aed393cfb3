"""``auepora new``: what it writes is collected, passes at once, and fails when the system gets worse."""

from __future__ import annotations

import sys

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.cli.new import FORMS, suite_name

from .conftest import Example
from .listening import gates, judged

WITHOUT_A_PACKAGE = [form for form, (module, _) in FORMS.items() if not module]


@pytest.fixture
def empty(project: Example, monkeypatch: pytest.MonkeyPatch) -> Example:
    """A project without a file of its own but its settings."""
    for name in ("shop.py", "conftest.py", "shop.golden.yaml"):
        (project.path / name).unlink()
    for name in [name for name in sys.modules if name.endswith("_rag")]:
        monkeypatch.delitem(sys.modules, name)
    return project


@pytest.mark.parametrize("form", WITHOUT_A_PACKAGE)
def test_it_is_green_at_once_and_red_when_it_breaks(
    empty: Example, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "--rag", form]) == 0
    said = capsys.readouterr().out
    assert "pytest --auepora\n" in said
    assert f"into golden/{suite_name(empty.path)}.golden.yaml" in said
    assert "--auepora-update" in said
    result = empty.run("-rf")
    assert result.ret == 0, str(result.stdout)
    result.assert_outcomes(passed=6)
    name = suite_name(empty.path)
    empty.edit("2.2 / (counts", "0 / (counts", f"{name}_rag.py")
    sys.modules.pop(f"{name}_rag", None)
    result = empty.run("-rf")
    assert result.ret == 1
    assert "recall@3" in gates(result)


def test_a_wrong_fact_makes_the_untouched_starter_red(empty: Example) -> None:
    assert main(["new"]) == 0
    empty.run("--auepora-update")
    golden = f"golden/{suite_name(empty.path)}.golden.yaml"
    text = empty.read(golden)
    empty.write(golden, text.replace('must_contain: ["30 days"]', 'must_contain: ["90 days"]', 1))
    result = empty.run()
    assert result.ret == 1
    assert [one.details["missing"] for one in judged(result).run.cases["return-window"].findings] == [["90 days"]]
    assert f"FAILED {golden}::return-window" in str(result.stdout)


def test_two_suites_of_one_repository_are_two_systems(empty: Example) -> None:
    (empty.path / ".git").mkdir()
    for service in ("cars", "boats"):
        assert main(["new", f"{service}/eval"]) == 0
    empty.run().assert_outcomes(passed=12)
    empty.edit("2.2 / (counts", "0 / (counts", "boats/eval/boats_eval_rag.py")
    for name in ("cars_eval_rag", "boats_eval_rag"):
        sys.modules.pop(name, None)
    result = empty.run("-rf")
    assert {line.split("::")[0] for line in result.outlines if line.startswith("FAILED")} == {
        "FAILED boats/eval/golden/boats_eval.golden.yaml"
    }
