"""The scripts of CI, run by bash as a runner would: with a key, without one, with recorded answers and without any."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from ..unit.cli.github_server import serving
from .pages import PAGES, ROOT, File, fences, read

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="runs scripts of bash"),
]
PAGE = PAGES / "how-to" / "ci.md"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
KEY = "OPENAI_API_KEY"


def step_of_action(name: str) -> str:
    return next(str(step["run"]) for step in ACTION["runs"]["steps"] if step.get("name") == name)


def step_of_page() -> str:
    (file,) = (s for s in read(PAGE).steps if isinstance(s, File) and s.path.endswith("rag-with-key.yml"))
    (step,) = (
        step for step in yaml.safe_load(file.text)["jobs"]["rag"]["steps"] if "pytest $how" in step.get("run", "")
    )
    return str(step["run"])


@dataclass
class Runner:
    """A checkout in which scripts are run as steps of a job."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def run(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        for name in ("summary", "output"):
            (self.folder / name).write_text("", encoding="utf-8")
        told = {
            **{name: text for name, text in os.environ.items() if name != KEY},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.folder), "CI": "true",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GITHUB_OUTPUT": str(self.folder / "output"),
            "NEEDS": "", "ARGS": "-p no:cacheprovider",
        }  # fmt: skip
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]  # as `shell: bash` does
        return subprocess.run(
            command, cwd=self.folder, env=told | self.env | env, capture_output=True, text=True, check=False
        )

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def accept(self) -> None:
        done = self.run("pytest --auepora-update", **{KEY: "k"})
        assert done.returncode == 0, done.stdout


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """The project of the tutorial, whose fixture skips without a key, as the page writes it."""
    for step in read(PAGES / "tutorial.md").steps:
        if isinstance(step, File) and not step.path.startswith("."):
            path = tmp_path / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
    (fixture,) = (token.content for token in fences(PAGE) if KEY in token.content and "def rag" in token.content)
    (tmp_path / "conftest.py").write_text(
        f"import os\n\nimport pytest\n\nfrom rag import ask\n\n\n{fixture}", encoding="utf-8"
    )
    settings = "[pytest]\nasyncio_default_fixture_loop_scope = function\n"
    (tmp_path / "pytest.ini").write_text(settings, encoding="utf-8")
    return Runner(tmp_path)


SCRIPTS = {"page": (step_of_page(), {}), "action": (step_of_action("judge"), {"NEEDS": KEY})}


def test_with_a_key_the_system_is_judged(runner: Runner) -> None:
    script, env = SCRIPTS["action"]
    runner.accept()
    done = runner.run(script, **env, **{KEY: "k"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 unchanged" in runner.read("summary")
    assert runner.read("output") == "judged=asked\n"
    broken = runner.read("rag.py").replace('re.findall(r"\\w+", text.lower())', "text.lower().split()")
    (runner.folder / "rag.py").write_text(broken, encoding="utf-8")
    assert runner.run(script, **env, **{KEY: "k"}).returncode == 1
    with serving() as github:
        github.pull(7, "friend:fix/it", "abc")
        told = {"GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": "acme/shop", "GITHUB_TOKEN": "t0ken", "PR": "7"}
        done = runner.run(step_of_action("comment"), **told)
    assert done.returncode == 0, done.stderr
    assert "auepora: failed" in github.bodies[0]


@pytest.mark.parametrize("where", SCRIPTS)
def test_without_a_key_recorded_answers_are_judged(runner: Runner, where: str) -> None:
    script, env = SCRIPTS[where]
    runner.accept()
    for _ in range(2):  # a replay leaves the answers for the next push
        done = runner.run(script, **env)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "its answers, no calls" in runner.read("summary")
        assert runner.read("output") in ("", "judged=replayed\n")
    golden = runner.folder / "golden" / "bicycles.golden.yaml"
    golden.write_text(golden.read_text(encoding="utf-8").replace('["14 days"]', '["15 days"]'), encoding="utf-8")
    assert runner.run(script, **env).returncode == 1


@pytest.mark.parametrize("where", SCRIPTS)
def test_without_a_key_or_answers_it_says_not_judged(runner: Runner, where: str) -> None:
    script, env = SCRIPTS[where]
    runner.accept()
    shutil.rmtree(runner.folder / ".auepora")
    done = runner.run(script, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = runner.read("summary")
    assert "\u26aa auepora: not judged" in summary
    assert "skipped: 6 cases (hire-length, hire-length-typo and 4 more): no OPENAI_API_KEY" in summary
    assert runner.read("output") in ("", "judged=skipped\n")
    assert re.search(r"^::notice .*title=bicycles%3A not judged::skipped: 6 cases", done.stdout, re.MULTILINE)


def test_the_action_installs_itself_and_what_is_named() -> None:
    assert (ROOT / "pyproject.toml").is_file(), "what GITHUB_ACTION_PATH holds"
    script = step_of_action("install").replace("python -m pip install", "echo")
    env = {"GITHUB_ACTION_PATH": "/the action", "INSTALL": "-r requirements.txt bm25s", "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-ec", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "-q /the action -r requirements.txt bm25s\n"


def test_inputs_reach_scripts_as_variables_alone() -> None:
    """What a pull request can choose is never part of the text of a script."""
    steps: list[dict[str, Any]] = ACTION["runs"]["steps"]
    assert [step for step in steps if "${{" in step.get("run", "")] == []
    assert all(step.get("uses", "actions/").startswith("actions/") for step in steps)
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


def test_the_hook_of_pre_commit_checks_golden_files(runner: Runner) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    names = ["golden/bicycles.golden.yaml", "rag.py", "a.golden.jsonl", "b.golden.yml", "c.yaml"]
    chosen = [name for name in names if re.search(hook["files"], name)]
    assert chosen == ["golden/bicycles.golden.yaml", "a.golden.jsonl", "b.golden.yml"]
    assert runner.run(f"{hook['entry']} {chosen[0]}").returncode == 0
    golden = runner.folder / chosen[0]
    golden.write_text(golden.read_text(encoding="utf-8").replace("recall@3", "recal@3", 1), encoding="utf-8")
    done = runner.run(f"{hook['entry']} {chosen[0]}")
    assert (done.returncode, "'recall@3'" in done.stdout) == (1, True)
