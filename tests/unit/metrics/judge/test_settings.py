"""The file of judge settings: what it gives, and what is wrong with it, by line and column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.judge.settings import JudgeSettings, critic_from_environment, load_settings, use_judge

from .judge_server import GOOD, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.fixture(autouse=True)
def nobody_else() -> Iterator[None]:
    use_judge()
    yield
    use_judge()


def write(folder: Path, text: str) -> Path:
    file = folder / "judge.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_all_keys_reach_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-0123")
    with judge_server(GOOD) as server:
        file = write(
            tmp_path,
            f"url: {server.url}\nmodel: judge-1\nkey: MY_KEY\nkey_header: api-key\nquery: {{api-version: v2}}\n"
            "parameters: {temperature: null, seed: 7, reasoning_effort: low}\nschema: none\n"
            "prices: {judge-1: {input: 1, output: 2}}\nbudget: {tokens: 500}\nconcurrency: 2\ntimeout: 5\n"
            "attempts: 1\ncache: replies\n",
        )
        judge = load_settings(file).critic()
        assert judge.score(prompt="x") == 0.75
    (body,) = server.bodies
    assert body == {"model": "judge-1", "messages": body["messages"], "seed": 7, "reasoning_effort": "low"}
    assert server.paths == ["/v1/chat/completions?api-version=v2"]
    assert server.headers[0]["Api-Key" if "Api-Key" in server.headers[0] else "api-key"] == "sk-0123"
    assert repr(judge.concurrency) == "2"
    assert judge.usage.cost == pytest.approx(120e-6)
    assert list((tmp_path / "replies").rglob("*.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", ":1:1: expected keys and values"),
        ("", ":1:1: expected keys and values"),
        ("model: a\nurl: x\nmodel: b", ":3:1: 'model' is given twice"),
        ("parameters:\n  seed: 1\n  seed: 2", ":3:3: 'seed' is given twice"),
        ("prices: {m: {input: 1, output: 2, input: 3}}", ":1:35: 'input' is given twice"),
        ("url: x\nquery: &q {b: *q}", "recursion"),
        ("url: x\nmodle: m", ":2:1: unknown key 'modle' (did you mean 'model'?)"),
        ("url: [", ":1:7: "),
        ("model: m\n  url: 3: 4", ":2:"),
        ("model: m\ntimeout: soon", ':2:1: timeout: expected a finite number above 0 or null, found "soon"'),
        ("attempts: 1.5", ":1:1: attempts: expected a whole number from 1 on or null, found 1.5"),
        ("parameters: hot", ':1:1: parameters: expected a mapping, found "hot"'),
        ("model: m\nkey: 5", ":2:1: key: expected a text, found 5"),
        ("model: 4", ":1:1: model: expected a text, found 4"),
        ("url: [x]", ':1:1: url: expected a text, found ["x"]'),
        ("key_header: [x]", ':1:1: key_header: expected a text or null, found ["x"]'),
        ("cache: 5", ":1:1: cache: expected a text, found 5"),
        ("prompts: {a: b}", ":1:1: prompts: expected a text, found {"),
        ("query: {a: 2024-13-45}", "month must be in 1..12"),
        ("url: \x00", "special characters are not allowed"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(MetricError) as caught:
        load_settings(file)
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prices: {input: 1}", ":3:1: there is no key 'prices.output'"),
        ("prices: {other: {input: 1, output: 1}}", ":3:1: no prices of m"),
        ("prices: {input: -1, output: 1}", ":3:10: prices.input: expected a finite number from 0 on, found -1"),
        ("budget: 2", "a budget of cost needs prices"),
        ("budget: much", ":3:1: budget: expected a finite number from 0 on or a mapping or null, found "),
        ("budget: {euros: 2}", ":3:10: unknown key 'budget.euros'"),
        ("schema: xml", ':3:1: schema: expected one of auto, json_schema, json_object, none or null, found "xml"'),
        ("concurrency: 0", ":3:1: concurrency: expected a whole number from 1 on or null, found 0"),
    ],
)
def test_values_that_make_no_sense(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path, f"url: http://127.0.0.1:1/v1\nmodel: m\n{text}\n")
    with pytest.raises(MetricError) as caught:
        load_settings(file).critic()
    assert str(file) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "url: http://127.0.0.1:1/v1\nprices: {m: {input: 1, output: 1}}\n", "model: m\n"])
def test_settings_without_a_url_or_a_model_make_no_critic(tmp_path: Path, text: str) -> None:
    settings = load_settings(write(tmp_path, text)) if text else JudgeSettings()
    with pytest.raises(MetricError, match=r"there is no judge: .*(needs url and model|set AUEPORA_JUDGE_URL)"):
        settings.critic()


def test_a_file_without_a_model_is_told(tmp_path: Path) -> None:
    use_judge(file := write(tmp_path, "url: http://127.0.0.1:1/v1\n"))
    with pytest.raises(MetricError, match=f"{file.name} needs url and model"):
        critic_from_environment()
    use_judge(tmp_path / "none.yaml")
    with pytest.raises(MetricError, match=r"none.yaml: cannot be read"):
        critic_from_environment()
