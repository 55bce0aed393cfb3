"""Numbers and dates in one form, however they are written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document
from pytest_auepora.metrics.text.numbers import QuantityIndex, UnsupportedNumbers, quantities, read_number_words

from ..samples import case, gave, is_na, value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 days", [(30, "day")]),
        ("a 30-day window", [(30, "day")]),
        ("1,234.56 km", [("1234.56", "km")]),
        ("1.234,56 €", [("1234.56", "€")]),
        ("1,00,000 rupees", [(100000, "")]),
        ("10'000 and 100\u202f000", [(10000, ""), (100000, "")]),
        ("$2.5 million", [(2500000, "$")]),
        ("5k or €3 bn", [(5000, ""), (3, "€")]),
        ("€3bn", [(3000000000, "€")]),
        ("2 million euros", [(2000000, "€")]),
        ("20%, 3 percent, 4 per cent", [(20, "%"), (3, "%"), (4, "%")]),
        ("in the 1960s, 5s", [(1960, ""), (5, "s")]),
        ("3,5 litres", [("3.5", "")]),
        ("1,2,3", [(1, ""), (2, ""), (3, "")]),
        ("10-20 items", [(10, ""), (20, "")]),
        ("B12, GPT4, v2.0", []),
        ("1. First\n 2) Second [1] [2, 3]", []),
        ("٣٠ يوما \uff13\uff10\uff05", [(30, ""), (30, "%")]),
        ("no numbers at all", []),
    ],
)
def test_numbers(text: str, expected: list[tuple[float | str, str]]) -> None:
    assert [(q.readings, q.unit) for q in quantities(text)] == [((Decimal(n),), u) for n, u in expected]


@pytest.mark.parametrize(
    "text",
    [
        "May 1, 2024",
        "1 May 2024",
        "1st of May, 2024",
        "2024-05-01",
        "2024/5/1",
        "may 1st 2024",
        "MAY 1 2024",
        "May 1 , 2024",
    ],
)
def test_one_date_in_many_ways(text: str) -> None:
    (date,) = quantities(f"due on {text}.")
    assert date.readings == ((2024, 5, 1),)


def test_dates_that_can_be_read_twice_or_in_part() -> None:
    assert quantities("01/05/2024")[0].readings == ((2024, 1, 5), (2024, 5, 1))
    assert quantities("Sept. 2023")[0].readings == ((2023, 9, 0),)
    assert [q.readings for q in quantities("at 10:30 with 1.2.3")] == [("10:30",), ("1.2.3",)]


def test_what_is_stated() -> None:
    index = QuantityIndex(["Within thirty days of May 1, 2024.", "5 km; twenty-five users; 1.000.000 rows"])
    for text in ("30 days", "30", "2024", "May 2024", "1 May 2024", "1/5/2024", "5 km", "25", "1,000,000", "25 GB"):
        (quantity,) = quantities(text)
        assert quantity in index, text
    for text in ("30 hours", "5 miles", "2023", "June 2024", "2 May 2024", "1000"):
        (quantity,) = quantities(text)
        assert quantity not in index, text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("two hundred and fifty thousand people", [250000]),
        ("twenty-five and six", [25, 6]),
        ("five six", [5, 6]),
        ("one million two hundred", [1000200]),
        ("the second try", [2]),
        ("twenty ten", [20, 10]),
        ("and hundred thousand", []),
    ],
)
def test_number_words(text: str, numbers: list[int]) -> None:
    assert [n for n, _ in read_number_words(text)] == numbers


def test_unsupported_numbers() -> None:
    metric = UnsupportedNumbers()
    assert metric.direction == "lower"
    sample = case(query="Which of the 3 plans?")
    outputs = gave("Plan 3 costs $1,000 a year, from 1 May 2024, and 7 GB.", "one thousand dollars", "since 2024-05-01")
    assert metric.measure(sample, outputs) == Measurement(0.25, details={"unsupported": ["7 gb"]})
    assert is_na(metric, sample, gave("none"))
    assert is_na(metric, sample, gave(""))
    assert value(metric, sample, gave("4 plans")) == 1
    assert is_na(metric, case(), gave("4", Document("d1")))
