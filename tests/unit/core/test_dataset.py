"""A data set that is a list: named, sized, read as often as one likes."""

from __future__ import annotations

import pytest

from pytest_auepora.core.dataset import EvaluationDataset, InMemoryDataset
from pytest_auepora.core.types import EvaluationSample


def test_a_list_of_samples_is_a_data_set() -> None:
    samples = [EvaluationSample(str(i), "q") for i in range(3)]
    data = InMemoryDataset("toy", samples)
    samples.pop()
    assert (data.name, len(data)) == ("toy", 3)
    assert [s.sample_id for s in data] == [s.sample_id for s in data] == ["0", "1", "2"]


def test_a_data_set_says_its_name_length_and_samples() -> None:
    class Nameless(EvaluationDataset):
        def __len__(self) -> int:
            return 0

    with pytest.raises(TypeError, match="abstract"):
        Nameless()  # type: ignore[abstract]
