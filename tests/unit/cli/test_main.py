"""What is mistyped on the command line is named, with what was probably meant and the usage of its command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Shell


@pytest.mark.parametrize(
    ("command", "usage", "told"),
    [
        ("nwe", "auepora ", "auepora: error: there is no command 'nwe' (did you mean 'new'?); choose from demo, new,"),
        ("xyzzy --json", "auepora ", "there is no command 'xyzzy'; choose from demo, new,"),
        ("--verison", "auepora ", "there is no option --verison (did you mean '--version'?)"),
        ("new --rga async", "auepora new", "auepora new: error: there is no option --rga (did you mean '--rag'?)"),
        ("new --rga=async", "auepora new", "there is no option --rga (did you mean '--rag'?)"),
        ("new --rag asnyc", "auepora new", "argument --rag: there is no 'asnyc' (did you mean 'async'?); choose from"),
        ("report last --format slack", "auepora report", "conftest.py counts where `auepora_plugins` names it"),
        ("import . --from slack", "auepora import", "conftest.py counts where `auepora_plugins` names it"),
        ("schema report --xyzzy", "auepora schema", "error: there is no option --xyzzy\n"),
        ("schema raport", "auepora schema", "argument schema: there is no 'raport' (did you mean 'report'?); choose"),
        ("new here and there", "auepora new", "auepora new: error: unrecognized arguments: and there"),
        ("new -x", "auepora new", "auepora new: error: unrecognized arguments: -x"),
        # what is missing was mistyped
        ("score outputs.jsonl --godlen a", "auepora score", "there is no option --godlen (did you mean '--golden'?)"),
        ("check shop.goldne.yaml", "auepora check", "there is no shop.goldne.yaml (did you mean 'shop.golden.yaml'?)"),
        ("check lost/shop.golden.yaml", "auepora check", "there is no lost/shop.golden.yaml\n"),
    ],
)
def test_what_was_probably_meant_is_said(shell: Shell, command: str, usage: str, told: str) -> None:
    said = shell(*command.split())
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith(f"usage: {usage}")
    assert told in said.err


def test_without_a_command_all_are_shown(shell: Shell) -> None:
    said = shell()
    assert said.code == 2
    assert "human labels" in said.err


def test_options_may_be_cut_short_have_values_and_end(shell: Shell) -> None:
    assert shell("check", "--js", "shop.golden.yaml").code == 0
    assert "nope.json" in shell("report", "--format=md", "nope.json").err
    assert "no option" not in shell("report", "--", "--nope").err
    assert "no option" not in shell("report", "--nope of mine").err  # a space in it makes it a value


def test_of_an_unknown_run_it_says_what_lists_them(shell: Shell) -> None:
    assert shell("report", "xyzzy").err.rstrip().rpartition("; ")[2].startswith("auepora runs")


def test_a_python_without_sqlite_says_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> int:
        raise ModuleNotFoundError("No module named '_sqlite3'", name="_sqlite3")

    monkeypatch.setattr("pytest_auepora.cli.runs.run", run)
    said = shell("runs")
    assert (said.code, said.err.count("\n"), " sqlite3" in said.err) == (3, 1, True)


PROGRAM = "import sys; from pytest_auepora.cli.main import main; sys.exit(main(sys.argv[1:]))"


def ran_into(stdout: int, *args: str, buffered: bool = True) -> tuple[int, str]:
    """Run `auepora` with an output that refuses what it gets; return its exit code and errors."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, *([] if buffered else ["-u"]), "-c", PROGRAM, *args]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=env, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("args", "code"),
    [(("--help",), 0), (("check", "shop.golden.yaml"), 0), (("schema",), 3)],  # more than one buffer
)
def test_a_closed_pipe_is_no_error(shell: Shell, args: tuple[str, ...], code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert ran_into(writer, *args) == (code, "")
    os.close(writer)


@pytest.mark.parametrize(("buffered", "code"), [(True, 1), (False, 3)])  # images of containers buffer nothing
@pytest.mark.slow
def test_a_closed_pipe_turns_nothing_green(shell: Shell, buffered: bool, code: int) -> None:
    shell.write("shop.golden.yaml", "suite: shop\nmetrics: [recal@1]\ncases: [{id: a, query: q}]\n")
    reader, writer = os.pipe()
    os.close(reader)
    assert ran_into(writer, "check", "shop.golden.yaml", buffered=buffered) == (code, "")
    os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["--version", "schema"])
def test_an_output_that_cannot_be_written_is_said(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        code, errors = ran_into(full.fileno(), command)
    assert code == 3
    assert set(errors.splitlines()) == {"auepora: [Errno 28] No space left on device"}
