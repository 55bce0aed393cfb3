"""Errors: one tree, messages with places."""

from __future__ import annotations

import inspect
import pickle

import pytest

from pytest_auepora import errors
from pytest_auepora.base.complaints import Problem
from pytest_auepora.base.http import HttpError
from pytest_auepora.errors import (
    AueporaError,
    CallTimeoutError,
    GoldenFileError,
    MissingExtraError,
    NoGeneratorError,
    NoRetrieverError,
    OutputShapeError,
)


def test_every_error_is_in_the_tree() -> None:
    classes = {n: c for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, Exception)}
    assert all(issubclass(c, AueporaError) for n, c in classes.items() if n != "AueporaWarning")


def test_a_golden_file_error_says_every_place() -> None:
    error = GoldenFileError([Problem("a.yaml", 3, 5, "no query"), Problem("a.yaml", 0, 0, "no case")])
    assert str(error) == "a.yaml:3:5: no query\na.yaml: no case"
    assert [p.place for p in error.problems] == ["a.yaml:3:5", "a.yaml"]


@pytest.mark.parametrize(
    "error",
    [
        AueporaError("odd"), GoldenFileError([Problem("a.yaml", 3, 5, "no query"), Problem("a.yaml", 0, 0, "no case")]),
        MissingExtraError("the cluster", "dask"), OutputShapeError("a list", "a text"), HttpError("late", "5 s"),
        NoGeneratorError("rag.ask", "it is whole"), NoRetrieverError("rag.ask", "it is whole"), CallTimeoutError("5 s"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_error_is_the_same_in_another_process(error: AueporaError) -> None:
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), there.args, vars(there)) == (type(error), str(error), error.args, vars(error))


def test_a_missing_extra_says_how_to_install_it() -> None:
    with pytest.raises(ImportError, match=r"pip install 'pytest-auepora\[html\]'"):
        raise MissingExtraError("the HTML report", "html")


def test_a_message_never_repeats_megabytes() -> None:
    error = AueporaError(f"a.txt:1: got {'x y ' * 3_000_000}, expected z\nnext: {'q' * 100}")
    assert len(str(error)) < 2_200
    assert str(error).startswith("a.txt:1: got x y")
    assert ", expected z\nnext: qqq" in str(error)
