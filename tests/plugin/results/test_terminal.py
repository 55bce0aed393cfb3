"""What a run shows in the terminal."""

from __future__ import annotations

from ..conftest import Example


def test_the_word_under_v_has_the_key_scores(project: Example) -> None:
    result = project.run("-v", "-k", "refund-window")
    assert "PASSED recall@1=1.00" in str(result.stdout)


def test_what_to_do_next_is_said_once_for_all_suites(project: Example) -> None:
    project.write("second.golden.yaml", project.golden.read_text().replace("suite: shop", "suite: second"))
    project.accept()
    project.break_retriever()
    text = str(project.run().stdout)
    assert text.count("1 newly failing") == 2
    assert text.count("→ if it was intended: accept it") == text.count("→ look closer: ") == 1
    assert text.index("shop  shop.golden.yaml") < text.index("→ if it was intended: ")


def test_the_first_green_run_says_how_to_accept_it(project: Example) -> None:
    step = "→ no baseline yet: accept with `pytest --auepora-update`"
    assert step in str(project.run().stdout)
    assert step not in str(project.run("-k", "refund-window").stdout)
    assert step not in str(project.run("--auepora-update").stdout)
    assert step not in str(project.run().stdout)
    project.baseline.unlink()
    project.break_retriever()
    assert step not in str(project.run().stdout)
