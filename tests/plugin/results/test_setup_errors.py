"""A fixture that is missing or raises is told once: its cause, what to write, and how many cases it cost."""

from __future__ import annotations

import pytest

from ..conftest import Example

RAISES = "def rag():\n    raise RuntimeError('no index')\n"
NEEDS = "def rag(client):\n    return answer\n\n\n@pytest.fixture\ndef client():\n    raise RuntimeError('no index')\n"
ASKS = "def rag(clint):\n    return answer\n\n\n@pytest.fixture(scope='session')\ndef client():\n    return 1\n"
NARROW = "def rag(client):\n    return answer\n\n\n@pytest.fixture\ndef client():\n    return 1\n"


@pytest.mark.parametrize(
    ("name", "source", "cause", "what"),
    [
        ("system", "", "there is no fixture 'rag': write it in", "as `auepora new` does, or name yours"),
        ("rags", "", "there is no fixture 'rag' (did you mean 'rags'?): write it", "`fixture: my_rag`"),
        ("rag_service", "", "there is no fixture 'rag': write it in", "`fixture: rag_service`"),
        ("rag", RAISES, "RuntimeError: no index", 'conftest.py", line 9, in rag'),
        ("rag", NEEDS, "RuntimeError: no index", 'conftest.py", line 14, in client'),
        ("rag", ASKS, "there is no fixture 'clint' (did you mean 'client'?)", "`pytest --fixtures` lists"),
        ("rag", NARROW, "ScopeMismatch: You tried to access the function scoped fixture client", "def client()"),
    ],
)
@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_cases_without_a_system_say_why_once(
    project: Example, workers: tuple[str, ...], name: str, source: str, cause: str, what: str
) -> None:
    project.system(source or f"def {name}():\n    return answer\n", scope="function" if source == NEEDS else "session")
    result = project.run(*workers, plugins=("xdist",) if workers else ())
    assert (result.ret, result.parseoutcomes()["errors"]) == (1, 5)
    shown = str(result.stdout).partition("= ERRORS =")[2].partition("= auepora =")[0]
    assert "ERROR at setup of refund-window and 4 more cases" in shown
    assert shown.count(cause) == 1
    assert what in " ".join(shown.split())
    assert len(shown.splitlines()) < 10
    assert "_pytest" not in shown
    assert str(result.stdout).count("ERROR shop.golden.yaml::") == 1


def test_every_set_up_is_shown_on_request(project: Example) -> None:
    project.system(RAISES)
    assert str(project.run("-v").stdout).count("ERROR at setup of") == 5
    assert str(project.run("-rE").stdout).count("ERROR shop.golden.yaml::") == 5
    assert "pluggy" in str(project.run("--tb=native").stdout)


def test_different_causes_are_told_apart(project: Example) -> None:
    project.conftest("""
        @pytest.fixture(autouse=True)
        def index(request):
            if request.node.name != "warranty":
                raise RuntimeError(f"no index {request.node.name > 'r'}")
    """)
    project.write("test_own.py", "def test_own():\n    pass\n")
    text = str(project.run().stdout)
    for title in ("refund-window and 1 more case", "free-returns and 1 more case", "test_own"):
        assert f"ERROR at setup of {title} _" in text
