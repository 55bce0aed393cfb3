"""The settings of docs/pages/how-to/judge-providers.md against servers that behave as each provider documents.

Each fake refuses what its provider refuses, in its words, and replies in its form; no network, no key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.base.records import meanings
from pytest_auepora.metrics.judge.settings import JudgeSettings, load_settings

from .judge_server import JudgeServer, Reply, chat, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")
PAGE = Path(__file__).resolve().parents[4] / "docs" / "pages" / "how-to" / "judge-providers.md"
VERDICT = {"rationale": "as the policy says", "score": 0.75}
SHOWN = json.dumps(VERDICT)


def wants(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("type", "text"))


def openai(body: dict[str, Any]) -> Reply:
    """A reasoning model: sampling cannot be set, and part of the prompt was in the cache."""
    if "temperature" in body and body["temperature"] != 1:
        return refused("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
                       "value is supported.", "temperature")  # fmt: skip
    if "max_tokens" in body:
        return refused("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                       "'max_completion_tokens' instead.", "max_tokens")  # fmt: skip
    details = {"prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": {"reasoning_tokens": 8}}
    return chat(SHOWN, usage={"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, **details})


def refused(message: str, param: str) -> Reply:
    code = "unsupported_value" if "value" in message else "unsupported_parameter"
    return Reply({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}, 400)


def anthropic(body: dict[str, Any]) -> Reply:
    """Takes everything, ignores `response_format` and `seed`, and writes around the verdict."""
    return chat(f"Here is my judgement.\n\n```json\n{json.dumps(VERDICT, indent=2)}\n```")


def gemini(body: dict[str, Any]) -> Reply:
    """Does not know `seed`; an error is a list of one."""
    if "seed" in body:
        told = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        violations = [
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"description": told}]}
        ]
        error = {"code": 400, "message": told, "status": "INVALID_ARGUMENT", "details": violations}
        return Reply([{"error": error}], 400)
    return chat(SHOWN if wants(body) == "json_schema" else "no JSON")


def ollama(body: dict[str, Any]) -> Reply:
    """A model that thinks aloud, as far as the form allows."""
    return chat(SHOWN if wants(body) == "json_schema" else f'<think>maybe {{"score": 0}}</think>{SHOWN}')


def vllm(body: dict[str, Any]) -> Reply:
    """Thoughts are apart, and parameters of its own are taken."""
    reply = chat(SHOWN)
    reply.body["choices"][0]["message"]["reasoning_content"] = 'maybe {"score": 0}'
    return reply if body.get("chat_template_kwargs") == {"enable_thinking": False} else chat("not asked as documented")


def llama_cpp(body: dict[str, Any]) -> Reply:
    """A build that takes no schema from chat completions, but JSON."""
    if wants(body) == "json_schema":
        message = 'Either "json_schema" or "grammar" can be specified, but not both'
        return Reply({"error": {"code": 400, "message": message, "type": "invalid_request_error"}}, 400)
    return chat(SHOWN if wants(body) == "json_object" else "no JSON")


def deepseek_like(body: dict[str, Any]) -> Reply:
    """No form at all: the score in the last line."""
    if "response_format" in body:
        return Reply({"error": {"message": "This response_format type is unavailable now"}}, 400)
    return chat("The evidence supports it.\n\n**Score: 0.75**")


FAKES: dict[str, tuple[Callable[[dict[str, Any]], Reply], str, str]] = {
    # behaviour, path of the requests, header of the key
    "OpenAI": (openai, "/v1/chat/completions", "Authorization"),
    "Azure OpenAI": (openai, "/openai/v1/chat/completions", "api-key"),
    "Azure OpenAI, by deployment": (
        openai, "/openai/deployments/judge/chat/completions?api-version=2024-10-21", "api-key",
    ),
    "Anthropic": (anthropic, "/v1/chat/completions", "Authorization"),
    "Gemini": (gemini, "/v1beta/openai/chat/completions", "Authorization"),
    "Ollama": (ollama, "/v1/chat/completions", ""),
    "vLLM": (vllm, "/v1/chat/completions", "Authorization"),
    "llama.cpp": (llama_cpp, "/v1/chat/completions", ""),
    "Any other": (deepseek_like, "/v1/chat/completions", "Authorization"),
}  # fmt: skip


def settings_of(provider: str) -> dict[str, Any]:
    """Return the settings that the page gives for *provider*."""
    block = re.search(
        rf"## {re.escape(provider)}\n.*?```yaml.*?\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert block is not None, provider
    found: dict[str, Any] = yaml.safe_load(block[1])
    return found


def header(server: JudgeServer, name: str) -> str:
    return next((v for k, v in server.headers[-1].items() if k.lower() == name.lower()), "")


@pytest.mark.parametrize("provider", FAKES)
def test_the_settings_of_the_page_work(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behaviour, path, key_header = FAKES[provider]
    said = settings_of(provider)
    if key := said.get("key"):
        monkeypatch.setenv(key, "sk-0123456789")
    with judge_server(answer=behaviour) as server:
        host = server.url.removesuffix("/v1")
        said["url"] = re.sub(r"^https?://[^/]+", host, said["url"])
        file = tmp_path / "judge.yaml"
        file.write_text(yaml.safe_dump(said), encoding="utf-8")
        judge = load_settings(file).critic()
        found = judge.judge(prompt="x", metadata={"scale": (0.0, 1.0)})
        first, asked = judge.usage.notes.copy(), len(server.bodies)
        judge.judge(prompt="y", metadata={"scale": (0.0, 1.0)})
    assert found.score == 0.75
    assert judge.usage.prompt_tokens == 200
    assert set(server.paths) == {path}
    assert len(server.bodies) == asked + 1  # what a server refuses is learned once
    assert judge.usage.notes == first
    if key_header:
        assert "sk-0123456789" in header(server, key_header)
    else:
        assert not header(server, "Authorization")


@pytest.mark.parametrize("provider", ["OpenAI", "Azure OpenAI", "Anthropic", "Gemini", "Ollama", "vLLM"])
def test_the_pages_settings_need_no_second_try(provider: str, tmp_path: Path) -> None:
    said = settings_of(provider)
    with judge_server(answer=FAKES[provider][0]) as server:
        said["url"] = server.url
        (tmp_path / "judge.yaml").write_text(yaml.safe_dump(said), encoding="utf-8")
        judge = load_settings(tmp_path / "judge.yaml").critic()
        judge.score(prompt="x")
    assert (len(server.bodies), judge.usage.notes) == (1, [])


def test_the_page_has_all_keys_of_the_settings() -> None:
    told = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    meant = {key: " ".join(text.split()).removesuffix(".") for key, text in meanings(JudgeSettings).items()}
    assert {key: text[0].upper() + text[1:] for key, text in told} == meant


def test_what_the_page_leaves_out_is_learned_and_told() -> None:
    from .judge_server import critic

    with judge_server(answer=gemini) as server:
        judge = critic(server)
        assert judge.score(prompt="x") == 0.75
    (note,) = judge.usage.notes
    assert "seed=0" in note
