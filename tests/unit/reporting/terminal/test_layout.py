from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.reporting.terminal.layout import Cell, Column, plain, render, table
from pytest_auepora.reporting.text import text_width

COLUMNS = (
    Column("metric", least=8),
    Column("value", right=True),
    Column("baseline", right=True, expendable=1),
    Column("gate", least=6),
)

TEXT = st.text(alphabet=st.sampled_from("abc de fg…✓返金規定한글é\u0301\u200b\u20dd🙂ש-"), max_size=60)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), max_size=4), st.integers(30, 90))
def test_no_line_of_a_table_is_too_wide(rows: list[tuple[str, ...]], width: int) -> None:
    lines = table(COLUMNS, [[Cell(t) for t in row] for row in rows], width)
    assert all(text_width(plain(line)) <= width for line in lines)


def test_a_table_lines_up() -> None:
    rows = [
        [Cell("recall@5"), Cell("0.8"), Cell("0.75"), Cell("✓ >= 0.8")],
        [Cell("返金"), Cell("12.5"), Cell(""), Cell("")],
    ]
    assert render(table(COLUMNS, rows, 80)).splitlines() == [
        "metric    value  baseline  gate",
        "─" * 35,
        "recall@5    0.8      0.75  ✓ >= 0.8",
        "返金       12.5",
    ]


def test_a_narrow_table_shrinks_then_drops_what_is_expendable() -> None:
    row = [Cell("a-metric-with-a-long-name"), Cell("0.800"), Cell("0.750"), Cell("✓ >= 0.8")]
    assert "baseline" in plain(table(COLUMNS, [row], 40)[0])
    narrow = [plain(line) for line in table(COLUMNS, [row], 28)]
    assert "baseline" not in narrow[0]
    assert "0.800" in narrow[2]


def test_a_cell_is_one_printable_line_with_its_blanks() -> None:
    texts = ["  typo", "  tippfehler … é", "a\n  b\x1b", "##[error]x"]
    rows = [[Cell(text), Cell("1  "), Cell(""), Cell("")] for text in texts]
    assert render(table(COLUMNS, rows, 80)).splitlines()[2:] == [
        "  typo              1",
        "  tippfehler … é    1",
        "a   b\\x1b           1",
        "#[error]x           1",
    ]


def test_empty_columns_are_left_out() -> None:
    head = plain(table(COLUMNS, [[Cell("recall@5"), Cell("0.8"), Cell(""), Cell("")]], 80)[0])
    assert head.split() == ["metric", "value"]
    assert table(COLUMNS, [], 80) == []


def test_a_text_has_no_styles() -> None:
    assert render([[Cell("bad", ("red", "bold")), Cell(" plain "), Cell("", ("green",))]]) == "bad plain"
