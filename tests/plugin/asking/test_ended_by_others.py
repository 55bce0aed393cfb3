"""Cases that somebody else ends while they wait for their answer, as pytest-timeout does."""

from __future__ import annotations

import signal

import pytest

from ..conftest import Example

HANGS = """\
def rag():
    import signal, threading

    def ring(*_):
        pytest.fail("ended from outside", pytrace=False)

    before, hung, over = signal.signal(signal.SIGALRM, ring), [], threading.Event()

    def ask(query):
        if "refund" in query:
            hung.append(query)
            if len(hung) == 2:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            over.wait(60)
        return answer(query)

    yield ask
    over.set()
    signal.signal(signal.SIGALRM, before)
    pathlib.Path("hung.txt").write_text(str(len(hung)))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no such signal there")
def test_calls_of_an_ended_case_give_their_places_back(project: Example) -> None:
    project.system(HANGS)
    project.edit("cases:", "repeat: 3\ncases:")
    result = project.run("--auepora-concurrency", "2")
    result.stdout.fnmatch_lines(["Failed: ended from outside", "1 errored*4 passed*"])
    assert project.read("hung.txt") == "2", "its third call does not take a place that is free again"
