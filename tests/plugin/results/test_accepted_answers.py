"""``auepora_accepted = texts``: an update keeps what it accepted beside the baseline, and a fresh checkout has it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.history.accepted import NAME, AcceptedTexts, accepted_path
from pytest_auepora.history.store import HistoryStore

from ...unit.reporting.page.pages import details_of, read
from ..conftest import Example
from ..listening import notes

INI = "[pytest]\nauepora_accepted = texts\n"
PAGE = ("--auepora-report", "html:r.html")
OF_THEN = (NAME, "A refund can be asked for within 30 days of purchase.")
IDS = ["refund-window", "warehouse", "free-returns", "warranty", "ceo-salary"]


@pytest.fixture
def keeping(project: Example) -> Example:
    project.pytester.makeini(INI)
    return project


def place(project: Example) -> Path:
    return accepted_path(project.path / "__baselines__" / "shop.json")


def texts(project: Example) -> AcceptedTexts:
    return AcceptedTexts(place(project))


def earlier(project: Example) -> tuple[str | None, str | None]:
    """The run beside which the page shows the case that fell, and the answer of then."""
    (fell,) = (one for one in details_of(read(project.read("r.html"))) if one["now"]["state"] == "failed")
    return fell.get("earlier"), fell.get("then", {}).get("answer")


def fresh(project: Example) -> None:
    """Leave what a checkout has."""
    shutil.rmtree(project.path / ".auepora", ignore_errors=True)


def test_nothing_is_kept_unless_it_is_wished(project: Example) -> None:
    project.accept()
    assert [path.name for path in (project.path / "__baselines__").iterdir()] == ["shop.json"]


@pytest.mark.parametrize("how", [{}, pytest.param({"plugins": ("xdist",)}, marks=pytest.mark.slow)])
def test_an_update_keeps_answers_and_documents(keeping: Example, how: dict[str, Any]) -> None:
    keeping.run("--auepora-update=all", *(["-n2"] if how else []), **how)
    kept = texts(keeping)
    assert sorted(kept) == sorted(IDS)
    answer = kept["refund-window"]
    assert "30 days" in str(answer.answer)
    assert answer.documents[0].id == "refunds"
    assert kept.text(answer.documents[0]) == answer.answer
    assert answer.documents[0].grade == 1


def test_an_update_that_changes_nothing_leaves_the_file(keeping: Example) -> None:
    keeping.accept()
    before = place(keeping).read_bytes()
    fresh(keeping)
    keeping.run("--auepora-update=all")
    assert place(keeping).read_bytes() == before
    for words in ("--auepora", "--auepora-update=all,preview"):
        keeping.run(words)
        assert place(keeping).read_bytes() == before


def test_a_partial_update_changes_what_it_accepts(keeping: Example) -> None:
    keeping.accept()
    keeping.edit("within 30 days", "within 3 weeks", "shop.py")
    keeping.edit("two working days", "three working days", "shop.py")
    keeping.run("--auepora-update=all", "-k", "warehouse")
    assert "three working days" in str(texts(keeping)["warehouse"].answer)
    assert "30 days" in str(texts(keeping)["refund-window"].answer)


def test_a_pruned_case_goes(keeping: Example) -> None:
    keeping.accept()
    keeping.edit("- id: warranty", "- id: guarantee")
    keeping.run("--auepora-update=all,prune")
    assert sorted(texts(keeping)) == sorted({*IDS, "guarantee"} - {"warranty"})


@pytest.mark.parametrize("setting", ["auepora_history = off", "auepora_keep = answers=none"])
def test_the_history_may_keep_less(keeping: Example, setting: str) -> None:
    keeping.pytester.makeini(f"{INI}{setting}\n")
    keeping.run("--auepora-update=all")
    assert len(texts(keeping)) == 5
    path = keeping.path / ".auepora" / "history.sqlite"
    assert not path.exists() or not HistoryStore(path).recorded()


def test_redaction_applies(keeping: Example) -> None:
    keeping.conftest(
        "\n\ndef pytest_auepora_redact(result):\n"
        "    result.query = result.query.replace('warehouse', '***')\n"
        "    result.outputs['answer'] = (result.outputs.get('answer') or '').replace('30 days', '***')\n"
        "    for hit in result.outputs.get('retrieved', ()):\n"
        "        hit['text'] = hit['text'].replace('30 days', '***')\n"
    )
    keeping.run("--auepora-update=all")
    kept = texts(keeping)
    told = repr(dict(kept)) + "".join(kept.text(document) for answer in kept.values() for document in answer.documents)
    assert "***" in told
    assert not any(word in told for word in ("30 days", "leave the warehouse?"))
    assert {"answer", "documents"} <= set(kept["refund-window"].lost)


def test_a_fresh_checkout_shows_what_was_accepted(keeping: Example) -> None:
    keeping.accept()
    fresh(keeping)
    keeping.break_retriever()
    assert keeping.run(*PAGE).ret == 1
    assert earlier(keeping) == OF_THEN


def test_a_second_red_run_is_shown_beside_what_was_accepted_too(project: Example) -> None:
    project.accept()
    project.break_retriever()
    for _ in range(2):
        assert project.run(*PAGE).ret == 1
        assert earlier(project) == OF_THEN


def test_without_texts_it_shows_none(project: Example) -> None:
    project.accept()
    fresh(project)
    project.break_retriever()
    project.run(*PAGE)
    assert earlier(project) == (None, None)


@pytest.mark.parametrize("data", [b"no gzip", b""])
def test_a_damaged_file_costs_the_view_alone(keeping: Example, data: bytes) -> None:
    keeping.accept()
    place(keeping).write_bytes(data)
    assert keeping.run(*PAGE).ret == 0
    result = keeping.run("--auepora-update=anew")
    assert result.ret == 0
    assert "accepted answers not kept" in notes(result)
    assert place(keeping).read_bytes() == data


def test_another_word_is_a_usage_error(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora_accepted = text\n")
    result = project.run("--auepora-update=all")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "auepora_accepted = text:" in str(result.stderr)
