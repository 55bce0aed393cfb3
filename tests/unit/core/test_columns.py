"""Columns of measurements: what goes in comes out, without the texts."""

from __future__ import annotations

import pickle

import pytest

from pytest_auepora.core.columns import MeasurementColumn
from pytest_auepora.core.metrics_base import Measurement, NotApplicable

SEEN: list[Measurement | NotApplicable] = [
    Measurement(0.1),
    Measurement(None, [1, 2]),
    NotApplicable("none"),
    Measurement(3),
    Measurement(1.0, {"a": "b"}),
]


def test_values_and_data_come_back() -> None:
    column = MeasurementColumn([*SEEN, Measurement(0.5, details={"missed": ["long text"]})])
    assert list(column) == [*(s for s in SEEN if isinstance(s, Measurement)), Measurement(0.5)]
    assert (len(column), column.skipped) == (5, 1)
    assert column[-1] == Measurement(0.5)
    assert column[1:3] == [Measurement(None, [1, 2]), Measurement(3)]
    with pytest.raises(IndexError, match="there is no 5 among 5"):
        column[5]


@pytest.mark.parametrize("cut", range(len(SEEN) + 1))
def test_parts_put_together_are_the_whole(cut: int) -> None:
    whole, joined = MeasurementColumn(SEEN), MeasurementColumn()
    for part in (SEEN[:cut], SEEN[cut:], SEEN[:1]):
        joined.extend(pickle.loads(pickle.dumps(MeasurementColumn(part))))
    assert list(joined) == [*whole, Measurement(0.1)]
    assert joined.skipped == 1
