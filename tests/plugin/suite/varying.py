"""A system whose answers vary from call to call, as a file says, in twelve cases that are scored by their rank.

It says the words of the file in turn, and the last one from then on.  If the first one is "turn", it says the others
over and over, each case beginning with another one.
"""

from __future__ import annotations

from ..conftest import Example

N_CASES = 12
ACCEPTED = "good bad good good good"
"""The answers to each case that an update accepts: their centre is 0.8."""

SYSTEM = """\
{define} rag({arguments}):
    asked = {{}}
    with open("made.txt", "a") as file:
        file.write("made\\n")

    {ask} ask(query):
        alive[0] or 1 / 0
        asked[query] = number = asked.get(query, -1) + 1
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        said = pathlib.Path("says.txt").read_text().split()
        word = said[min(number, len(said) - 1)]
        if said[0] == "turn":
            word = said[1 + (number + int(query.split()[1][:-1])) % (len(said) - 1)]
        return (f"{{word}} {{number}}", [word])

    alive = [True]
    yield ask
    alive[0] = False
"""


def vary(
    project: Example, *, scope: str = "session", decorator: str = "pytest.fixture", define: str = "def",
    ask: str = "def", arguments: str = "",
) -> Example:  # fmt: skip
    """Make *project* such a one, with *define* and *ask* sync or async."""
    project.system(SYSTEM.format(define=define, ask=ask, arguments=arguments), scope=scope, decorator=decorator)
    case = "  - {{id: c{0:02}, query: number {0}?, relevant_docs: [good]}}\n"
    cases = "".join(case.format(i) for i in range(N_CASES))
    project.golden.write_text(f"suite: shop\nmetrics: [recall@1]\ncases:\n{cases}")
    return project


def says(project: Example, words: str) -> None:
    """Have the system answer each query by *words* in turn, the last one from then on; forget all calls."""
    project.write("says.txt", words)
    project.write("calls.txt", "")
    project.write("made.txt", "")


def calls(project: Example) -> list[str]:
    """The queries that were asked, in order."""
    return project.read("calls.txt").splitlines()


def accepted(project: Example, *args: str, plugins: tuple[str, ...] = ()) -> Example:
    """Accept answers that vary."""
    says(project, ACCEPTED)
    project.accept(*args, plugins=plugins)
    return project
