"""The project that plugins are tried on: ordinary tests, golden cases, and a retriever that can be broken."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_project"]

FILES = {
    "shop.py": '''
DOCS = {"refunds": "A refund can be asked for within 30 days.", "hours": "The shop opens at nine."}


def answer(query):
    found = [name for name, text in DOCS.items() if set(query.lower().split()) & set(text.lower().split())]
    return (DOCS[found[0]] if found else "I do not know."), found
''',
    "conftest.py": '''
import json
from collections import Counter

import pytest
from shop import answer

SEEN = Counter()


@pytest.fixture(scope="session")
def rag():
    return answer


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        kind = "suite" if "::suite" in report.nodeid else "golden" if ".golden.yaml" in report.nodeid else "test"
        SEEN[f"{kind} {report.outcome}"] += 1


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        with open("counts.json", "w") as file:
            json.dump(SEEN, file)
''',
    "test_ordinary.py": '''
import pytest


@pytest.fixture(params=[1, 2])
def number(request):
    return request.param


def test_parametrized(number):
    assert number


def test_skipped():
    pytest.skip("on purpose")


@pytest.mark.xfail(reason="on purpose", strict=True)
def test_expected_to_fail():
    assert False


class TestGroup:
    def test_inside(self, tmp_path):
        assert tmp_path.exists()
''',
    "shop.golden.yaml": '''
suite: shop
metrics: [recall@1]
thresholds: {recall@1: 0.9}
cases:
  - {id: refund, query: when may a refund come, relevant_docs: [refunds], must_contain: ["30 days"]}
  - {id: hours, query: when does the shop open, relevant_docs: [hours]}
  - {id: later, query: opens, relevant_docs: [hours], skip: not now}
''',
}  # fmt: skip
BROKEN = ("found = [name for", "found = [name + '-old' for")


def write_project(path: Path, ini: str, *, broken: bool) -> None:
    """Write it into the directory *path*, with the line *ini* among its settings."""
    for name, text in FILES.items():
        (path / name).write_text(text.lstrip(), encoding="utf-8")
    (path / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    if broken:
        shop = (path / "shop.py").read_text(encoding="utf-8").replace("return (DOCS[found[0]]", "return (found[0]")
        (path / "shop.py").write_text(shop.replace(*BROKEN), encoding="utf-8")
