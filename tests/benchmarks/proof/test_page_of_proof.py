"""The page of proof has a place for every table, and its figures are those that are computed now."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import exactness, people
from .__main__ import filled, main, table_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/pages/proof.md").read_text(encoding="utf-8")
DATA = ROOT.parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real data at {DATA}")


@pytest.mark.parametrize("name", ["gates", "people", "exactness", "calls", "times"])
def test_the_page_has_each_table(name: str) -> None:
    assert table_of(PAGE, name).count("\n|") > 3


def test_a_table_is_put_into_its_place_and_found_again() -> None:
    page = "# A\n\n<!-- table: calls -->\n\nold\n\n<!-- end -->\n\nB\n\n<!-- table: gates -->\n\nkept\n\n<!-- end -->\n"
    new = filled(page, "calls", "| a |\n|---|\n| \\1 |")
    assert table_of(new, "calls") == "| a |\n|---|\n| \\1 |"
    assert (table_of(new, "gates"), new.count("\n\nB\n\n")) == ("kept", 1)
    assert filled(new, "calls", "old") == page


def test_an_unknown_table_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "gate"])
    told = capsys.readouterr().err
    assert all(name in told for name in ("gate", "people", "exactness", "calls", "gates", "times"))


@needs_data
@pytest.mark.slow
@pytest.mark.shared_data
def test_metrics_beside_people_are_as_on_the_page() -> None:
    found = people.agreement(DATA)
    assert [round(x) for x in found["people with each other"]] == [64, 72, 70], "as published"
    assert [round(x) for x in found["`token_f1`"]] == [41, 56, 52]
    assert table_of(PAGE, "people") == "\n".join(people.table(DATA))


@needs_data
@pytest.mark.slow
@pytest.mark.shared_data
def test_exactness_is_as_on_the_page() -> None:
    for package in ("pytrec_eval", "bm25s", "rouge_score", "sacrebleu"):
        pytest.importorskip(package)
    assert table_of(PAGE, "exactness") == "\n".join(exactness.table(DATA))


@needs_data
@pytest.mark.slow
@pytest.mark.shared_data
def test_a_figure_that_differs_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "proof.md"
    page.write_text(PAGE.replace("| `token_f1` | 41 |", "| `token_f1` | 99 |"), encoding="utf-8")
    assert main(["--only", "people", "--check", str(page)]) == 1
    assert "-| `token_f1` | 99 | 56 | 52 | 0 |" in capsys.readouterr().out
    assert main(["--only", "people", "--write", str(page)]) == 0
    assert main(["--only", "people", "--check", str(page)]) == 0
