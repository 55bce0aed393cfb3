"""LLM judges in a pytest run: asked side by side, what they spend shown to the last token, a budget that stops."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.metrics.judge.judge_server import JudgeServer, Reply, chat, judge_server

from ..conftest import Example
from ..listening import judged as run_of

pytestmark = pytest.mark.usefixtures("no_proxy")
SETTINGS = "url: {url}\nmodel: judge-1\nprices: {{input: 10, output: 100}}\n"


def verdict(body: dict[str, Any]) -> Reply:
    reply = chat('{"rationale": "as it says", "score": 0.75}')
    reply.delay = 0.1
    return reply


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server(answer=verdict) as server:
        yield server


@pytest.fixture
def judged(project: Example, server: JudgeServer) -> Example:
    """Twelve cases, one judged metric."""
    project.pytester.makeini("[pytest]\nfilterwarnings = error\nauepora_judge = judge.yaml\n")
    project.write("judge.yaml", SETTINGS.format(url=server.url))
    cases = "".join(f"  - {{id: c{i}, query: 'How many days until a refund {i}?'}}\n" for i in range(12))
    project.write("shop.golden.yaml", f"suite: shop\nmetrics: [llm_answer_quality]\ncases:\n{cases}")
    return project


@pytest.mark.parametrize("option", ["--auepora-concurrency=8", "-q"], ids=["calls at once", "calls one by one"])
def test_judges_are_asked_side_by_side(judged: Example, server: JudgeServer, option: str) -> None:
    judged.edit("model:", "concurrency: 1\nmodel:", "judge.yaml")
    assert judged.run(option).ret == 0
    assert (server.most_running, len(server.bodies)) == (1, 12)
    judged.edit("concurrency: 1\n", "", "judge.yaml")
    assert judged.run(option).ret == 0
    assert 3 <= server.most_running <= 8


@pytest.mark.parametrize("fixture", ["def", "async def"])
def test_async_systems_are_judged_beside_their_loop(judged: Example, server: JudgeServer, fixture: str) -> None:
    decorator = "pytest.fixture" if fixture == "def" else "pytest_asyncio.fixture"
    judged.system(f"{fixture} rag():\n    async def ask(query):\n        return answer(query)\n\n    return ask\n",
                  scope="session", decorator=decorator)  # fmt: skip
    judged.edit("import asyncio\n", "import asyncio\nimport pytest_asyncio\n", "conftest.py")
    ini = "[pytest]\nauepora_judge = judge.yaml\nasyncio_default_fixture_loop_scope = session\n"
    judged.pytester.makeini(ini)
    assert judged.run(plugins=("pytest_asyncio.plugin",)).ret == 0
    assert 1 < server.most_running <= 8
    assert len(server.bodies) == 12


def test_tokens_and_cost_are_shown_to_the_last_one(judged: Example) -> None:
    result = judged.run(
        "--auepora-report=json:out.json", "--auepora-report=md:out.md", "--auepora-report=html:out.html"
    )
    told = "judge: 12 requests, 1,200 + 120 tokens, cost 0.024"
    result.stdout.fnmatch_lines([told])
    assert told in judged.read("out.md")
    assert told in judged.read("out.html")
    (suite,) = json.loads(judged.read("out.json"))["suites"]
    spent = suite["judge"]["metrics"]["llm_answer_quality"]
    assert {k: v for k, v in spent.items() if k != "seconds"} == {
        "requests": 12, "prompt_tokens": 1_200, "completion_tokens": 120, "cost": pytest.approx(0.024),
    }  # fmt: skip


def test_the_history_knows_what_a_run_cost(judged: Example, capsys: pytest.CaptureFixture[str]) -> None:
    judged.run()
    from pytest_auepora.cli.main import main

    capsys.readouterr()
    assert main(["runs"]) == 0
    assert "0.024" in capsys.readouterr().out
    assert judged.run("--auepora-replay").ret == 0
    capsys.readouterr()
    assert main(["runs", "--json"]) == 0
    replayed, asked = json.loads(capsys.readouterr().out)
    assert asked["aggregate"]["judge"]["requests"] == 12
    assert "judge" not in replayed["aggregate"]


def test_a_budget_stops_the_judge_and_is_told(judged: Example, server: JudgeServer) -> None:
    judged.edit("model:", "concurrency: 1\nbudget: {requests: 5}\nmodel:", "judge.yaml")
    result = judged.run()
    assert len(server.bodies) == 5
    scores = {name: case.scores["llm_answer_quality"] for name, case in run_of(result).run.cases.items()}
    assert [name for name, score in scores.items() if score.state != "number"] == [f"c{i}" for i in range(5, 12)]
    assert "requests 5 of 5" in scores["c5"].reason


@pytest.mark.slow
def test_resuming_asks_the_judge_only_what_is_not_known(judged: Example, server: JudgeServer) -> None:
    judged.edit("model:", "concurrency: 1\nbudget: {requests: 5}\nmodel:", "judge.yaml")
    for asked in (5, 10, 12, 12):
        judged.run(*(["--auepora-resume"] if server.bodies else []))
        assert len(server.bodies) == asked
    judged.edit("budget: {requests: 5}\nmodel: judge-1", "model: judge-2", "judge.yaml")
    for _ in range(2):  # what another judge said is not taken for its word
        judged.run("--auepora-resume")
        assert [body["model"] for body in server.bodies[12:]] == ["judge-2"] * 12


@pytest.mark.parametrize("option", ["--auepora-replay", "--auepora-resume"])
@pytest.mark.slow
def test_recorded_answers_are_judged_side_by_side(judged: Example, server: JudgeServer, option: str) -> None:
    judged.run("--auepora-repeat=2")
    judged.edit("model: judge-1", "model: judge-2\ncache: replies", "judge.yaml")
    server.most_running = 0
    judged.run(option, "--auepora-repeat=2")
    assert 3 <= server.most_running <= 8
    assert len(server.bodies) == 24 + 24, "the second answer has a reply of its own"


def test_repeats_and_answers_asked_again_are_counted(judged: Example, server: JudgeServer) -> None:
    result = judged.run("--auepora-repeat=2")
    assert len(server.bodies) == 24
    result.stdout.fnmatch_lines(["judge: 24 requests, 2,400 + 240 tokens, cost 0.048"])


def test_a_cached_reply_is_told_apart(judged: Example, server: JudgeServer) -> None:
    judged.edit("model:", "cache: replies\nmodel:", "judge.yaml")
    judged.run()
    judged.run().stdout.fnmatch_lines(["judge: 0 requests (12 more from the cache), 0 + 0 tokens"])
    assert len(server.bodies) == 12


def test_what_the_server_refuses_is_told(judged: Example, server: JudgeServer) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        return Reply({"error": "'temperature' is not supported"}, 400) if "temperature" in body else verdict(body)

    server.answer = answer
    result = judged.run()
    result.stdout.fnmatch_lines(["judge-1: temperature=0.0 left out, the server refuses it"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("url: x\nmodle: m\n", "*judge.yaml:2:1: unknown key 'modle' (did you mean 'model'?)"),
        ("prompts: nowhere\n", "*nowhere: there is no such folder of prompts"),
    ],
)
def test_mistakes_in_the_settings_end_the_run(judged: Example, text: str, told: str) -> None:
    judged.write("judge.yaml", text)
    result = judged.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*auepora_judge: {told}"])


def test_what_a_system_prints_early_is_its_own_cases(judged: Example) -> None:
    judged.when_asked("refund 7", "print('it is seven'); raise OSError('gone')")
    result = judged.run("-rA")
    out = str(result.stdout)
    assert out.splitlines().count("it is seven") == 3  # each answer is its own case's
    assert out.index("__ c7 __") < out.index("\nit is seven\n") < out.index("__ suite __")


def test_a_rubric_of_the_case_is_judged_with_a_reason(judged: Example, server: JudgeServer) -> None:
    server.answer = lambda _: chat('{"rationale": "no date is named", "verdict": "no"}')
    judged.edit("metrics: [llm_answer_quality]", "metrics: [rubric]")
    judged.edit("refund 3?'}", "refund 3?', rubric: mentions the deadline}")
    result = judged.run("--auepora-report=json:out.json")
    (suite,) = json.loads(judged.read("out.json"))["suites"]
    scores = {name: case["scores"]["rubric"] for name, case in suite["run"]["cases"].items()}
    assert scores["c3"]["value"] == 0
    assert "no date is named" in str(scores["c3"]["details"]["rationale"])
    assert {s["reason"] for name, s in scores.items() if name != "c3"} == {"no rubric"}
    assert len(server.bodies) == 1
    assert result.ret == 0


def test_a_judge_that_gates_says_why_a_case_fails(judged: Example, server: JudgeServer) -> None:
    server.answer = lambda _: chat('{"rationale": "no date is named", "verdict": "no"}')
    gate = "regression: {judge: gate}\ncase_thresholds: {rubric: 0.5}\n"
    judged.edit("metrics: [llm_answer_quality]\n", f"metrics: [rubric]\n{gate}")
    judged.edit("refund 3?'}", "refund 3?', rubric: mentions the deadline}")
    result = judged.run("--auepora-report=html:out.html")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*rubric 0.000, wanted >= 0.5*", "*rubric: mentions the deadline: no date is named"])
    assert "no date is named" in judged.read("out.html")


@pytest.mark.parametrize(
    "option", ["-q", "--auepora-concurrency=4", "in a fresh checkout", pytest.param("-n2", marks=pytest.mark.slow)]
)
def test_answers_are_held_against_those_accepted(judged: Example, server: JudgeServer, option: str) -> None:
    def prefers_hours(body: dict[str, Any]) -> Reply:
        first = body["messages"][0]["content"].partition("<second>")[0]
        return chat(json.dumps({"rationale": "r", "verdict": "first" if "hours" in first else "second"}))

    server.answer = prefers_hours
    judged.edit("metrics: [llm_answer_quality]", "metrics: [preference, distinct_2]")
    if option == "in a fresh checkout":
        option = "-oauepora_accepted=texts"
        judged.accept(option)
        shutil.rmtree(judged.path / ".auepora")
    else:
        judged.accept()
    assert server.bodies == []
    judged.edit("within 30 days of purchase", "within 720 hours of purchase", "shop.py")
    result = judged.run(option, "--auepora-report=json:out.json", plugins=("xdist",) if option == "-n2" else ())
    assert result.ret == 0
    (suite,) = json.loads(judged.read("out.json"))["suites"]
    scores = [case["scores"]["preference"] for case in suite["run"]["cases"].values()]
    assert [score["value"] for score in scores] == [1.0] * 12
    assert scores[0]["details"]["orders"] == [1.0, 1.0]
    assert len(server.bodies) == 24


def test_an_update_judges_each_case_once(judged: Example, server: JudgeServer) -> None:
    result = judged.run("--auepora-update")
    result.stdout.fnmatch_lines(["auepora: * 24 calls, up to 60 *", "auepora: 12 scores *, none of them again"])
    assert len(server.bodies) == 12
    kept = json.loads((judged.path / "__baselines__" / "shop.json").read_text())["metrics"]
    assert "steady" not in kept["llm_answer_quality"]


@pytest.mark.parametrize("cases", [9, 10])
def test_what_varies_of_a_judge_counts_in_few_clusters(judged: Example, server: JudgeServer, cases: int) -> None:
    judged.edit("suite: shop", "suite: shop\nregression: {judge: gate, again: 1}")
    lines = (judged.path / "shop.golden.yaml").read_text().splitlines()
    judged.write("shop.golden.yaml", "\n".join(lines[: 4 + cases]) + "\n")
    scores, again = (18, "9") if cases == 9 else (10, "none")
    judged.run("--auepora-update").stdout.fnmatch_lines([f"auepora: {scores} scores *, {again} of them again"])
    assert len(server.bodies) == scores
