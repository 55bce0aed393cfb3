"""A run with many failures: nothing that pytest shows for each of them is lost by being quick about it."""

from __future__ import annotations

import re

from .conftest import Project

TEARDOWN = """

@pytest.fixture(autouse=True)
def note(request):
    yield
    if request.node.name == "refund-window":
        print("left after", request.node.name)
"""


def test_output_of_a_tear_down_stands_under_its_failure(project: Project) -> None:
    project.break_retriever()
    project.write("conftest.py", (project.path / "conftest.py").read_text() + TEARDOWN)
    text = str(project.run().stdout)
    failures = text[text.index("= FAILURES =") : text.index("= auepora =")]
    assert "Captured stdout teardown" in failures
    assert failures.count("left after refund-window") == 1


def test_durations_know_every_phase(project: Project) -> None:
    project.break_retriever()
    text = str(project.run("--durations=0", "-vv").stdout)
    for phase in ("setup", "call", "teardown"):
        assert len(re.findall(rf"s {phase} +shop.golden.yaml::[\w-]+\n", text)) == 5


def test_a_failure_says_where_its_case_stands(project: Project) -> None:
    project.break_retriever()
    result = project.run("-rf", "--tb=line")
    text = str(result.stdout)
    line = (project.golden.read_text().splitlines()).index("  - id: refund-window") + 1
    assert f"{project.golden}:{line}: Failed: retrieval: refunds was not" in text
    assert "FAILED shop.golden.yaml::refund-window - Failed: retrieval: refunds was not" in text
