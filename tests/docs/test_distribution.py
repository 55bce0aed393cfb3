"""What is built: the wheel has the pages and the examples, links of the README hold once an address is given."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

from pytest_auepora import __version__

from .pages import PAGES, ROOT

pytest.importorskip("hatchling", reason="builds the wheel")

ADDRESS = "https://example.org/team/pytest-auepora"


def build(folder: Path, **environment: str) -> ZipFile:
    """Build the wheel of this tree without a network, and return it."""
    env = {**os.environ, **environment}
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, env=env,
                   check=True, capture_output=True)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return ZipFile(wheel)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def addressed(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    return build(tmp_path_factory.mktemp("addressed"), AUEPORA_REPOSITORY=f"{ADDRESS}/")


def metadata(wheel: ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(wheel.read(name))


def links(wheel: ZipFile) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", str(metadata(wheel).get_payload()))


def test_every_page_is_in_the_wheel(wheel: ZipFile) -> None:
    pages = {
        f"pytest_auepora/pages/{path.relative_to(PAGES).as_posix()}" for path in PAGES.rglob("*") if path.is_file()
    }
    assert pages <= set(wheel.namelist())
    assert "pytest_auepora/pages/llms.txt" in pages


def test_the_wheel_has_the_package_alone(wheel: ZipFile) -> None:
    assert {name.partition("/")[0] for name in wheel.namelist()} == {
        "pytest_auepora", f"pytest_auepora-{__version__}.dist-info"
    }  # fmt: skip


@pytest.mark.slow
def test_the_sdist_has_what_its_tests_read(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)], cwd=ROOT,
                   check=True, capture_output=True)  # fmt: skip
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"CONTRIBUTING.md", "CHANGELOG.md", ".ci/run", "conftest.py", "hatch_build.py", "action.yml"} <= names
    folders = "tests", "example_suite", "docs", ".ci", ".github"
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".yml")
             and ".pytest_cache" not in path.parts]  # fmt: skip
    assert {path.relative_to(ROOT).as_posix() for path in files} <= names


def test_without_an_address_no_link_leads_nowhere(wheel: ZipFile) -> None:
    assert [link for link in links(wheel) if not link.startswith("https://")] == []
    assert metadata(wheel).get_all("Project-URL") is None
    said = " ".join(str(metadata(wheel).get_payload()).split())
    linked = re.findall(r"\[([^\]]+)\]\((?!https?:)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert linked
    assert [text for text in linked if " ".join(text.split()) not in said] == [], "the words stay"


def test_with_an_address_every_link_leads_to_a_file(addressed: ZipFile) -> None:
    files = f"{ADDRESS}/blob/v{__version__}/"
    own = [link.removeprefix(files).partition("#")[0] for link in links(addressed) if link.startswith(files)]
    assert len(own) >= 20
    assert [link for link in own if not (ROOT / link).exists()] == []
    assert [link for link in links(addressed) if not link.startswith("https://")] == []
    urls = dict(url.split(", ") for url in metadata(addressed).get_all("Project-URL") or ())
    assert urls["Documentation"] == f"{files}docs/pages"
    assert urls["Repository"] == ADDRESS


def test_the_description_has_no_directive_of_the_tests(wheel: ZipFile) -> None:
    text = str(metadata(wheel).get_payload())
    assert "<!--" not in text
    assert "pip install pytest-auepora" in text
    assert metadata(wheel)["Author"] == "the pytest-auepora maintainers"


def run_from(wheel: ZipFile, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the unpacked wheel, in *folder*."""
    wheel.extractall(folder / "installed")
    code = f"import sys; from pytest_auepora.cli.main import main; sys.exit(main({list(args)!r}))"
    env = {**os.environ, "PYTHONPATH": str(folder / "installed")}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def test_pages_are_printed_from_the_wheel(wheel: ZipFile, tmp_path: Path) -> None:
    done = run_from(wheel, tmp_path, "help", "recall-is-zero")
    title = (PAGES / "how-to" / "recall-is-zero.md").read_text(encoding="utf-8").partition("\n")[0]
    assert (done.returncode, done.stdout.partition("\n")[0]) == (0, title.removeprefix("# "))


@pytest.mark.slow
def test_the_demo_runs_from_the_wheel(wheel: ZipFile, tmp_path: Path) -> None:
    done = run_from(wheel, tmp_path, "demo", "shown")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "90 passed" in done.stdout
    assert "worse: 29 newly failing" in done.stdout
    assert "installed/pytest_auepora" not in done.stdout
