"""A seed makes a system that draws random numbers repeat itself, however it is run."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example
from ..listening import judged

DICE = """\
def rag():
    import random
    import time

    def ask(query):
        lucky = random.random() < 0.5
        {between}
        text, found = answer(query)
        return (text, found) if lucky and random.random() < 0.9 else (f"{random.random()} days", found[::-1])

    return {wrap}
"""
WAITING = """\
def rag():
    import random

    async def ask(query):
        lucky = random.random() < 0.5
        await asyncio.sleep(0)
        text, found = answer(query)
        return (text, found) if lucky and random.random() < 0.9 else (f"{random.random()} days", found[::-1])

    return ask
"""
UPDATE = ("--auepora-update", "--auepora-repeat", "3")


def dice() -> str:
    return DICE.replace("{between}", "pass").replace("{wrap}", "ask")


def accepted(project: Example, *args: str, plugins: tuple[str, ...] = ()) -> str:
    project.baseline.unlink(missing_ok=True)
    result = project.run(*UPDATE, *args, plugins=plugins)
    assert "baseline __baselines__/shop.json written" in str(result.stdout)
    return project.baseline.read_text(encoding="utf-8")


@pytest.fixture
def dicey(project: Example) -> Example:
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    return project


@pytest.mark.parametrize("source", [dice(), pytest.param(WAITING, marks=pytest.mark.slow)], ids=["sync", "async"])
@pytest.mark.parametrize("how", [("--auepora-concurrency", "4"), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_scores(dicey: Example, source: str, how: tuple[str, ...]) -> None:
    dicey.system(source)
    first = accepted(dicey, "--auepora-seed", "7")
    assert json.loads(first)["provenance"]["seed"] == 7
    assert accepted(dicey, "--auepora-seed", "7", *how, plugins=("xdist",) if "-n" in how else ()) == first
    assert accepted(dicey, "--auepora-seed", "8") != first.replace('"seed": 7', '"seed": 8')


def test_a_case_draws_the_same_whatever_runs_beside_it(dicey: Example) -> None:
    dicey.system(dice())
    everything = json.loads(accepted(dicey, "--auepora-seed", "7"))["cases"]
    alone = json.loads(accepted(dicey, "--auepora-seed", "7", "-k", "warehouse"))["cases"]
    assert alone == {"warehouse": everything["warehouse"]}


def test_the_fixture_and_the_marker_use_the_seed(dicey: Example) -> None:
    dicey.system(dice())
    dicey.write(
        "test_q.py",
        "import pytest\n\nseen = {}\n\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_case(auepora_case):\n"
        "    seen[auepora_case.id] = auepora_case.answer\n\n\n"
        "def test_suite(auepora):\n    run = auepora.evaluate('shop.golden.yaml').run\n"
        "    assert {i: c.outputs['answer'] for i, c in run.cases.items()} == seen\n"
        "    assert run.provenance['seed'] == 3\n",
    )
    dicey.write("pytest.ini", "[pytest]\naddopts = --auepora-seed 3\n")
    (dicey.path / "tox.ini").unlink(missing_ok=True)
    dicey.run("test_q.py", auepora=False).assert_outcomes(passed=7)  # 6, and the suite


def test_other_tests_draw_what_they_would_without(dicey: Example) -> None:
    dicey.system(dice())
    dicey.edit('    must_contain: ["30 days"]\n', "")
    dicey.conftest("import random\n\nrandom.seed(11)\n")
    dicey.write(
        "test_z.py", "import random\n\n\ndef test_z():\n    assert random.random() == random.Random(11).random()\n"
    )
    result = dicey.run("--auepora-seed", "0", "shop.golden.yaml", "test_z.py")
    assert result.ret == 0, str(result.stdout)
    assert judged(result).run.provenance["seed"] == 0
    assert {case.concurrency for case in judged(result).run.cases.values()} == {1}
