"""Shared by the tests of golden files."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from pytest_auepora.io.yaml import nodes

PARSERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


@pytest.fixture(params=PARSERS, ids=lambda p: p.__name__)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Both parsers: libyaml's, and the one that takes over where PyYAML was built without it."""
    monkeypatch.setattr(nodes, "Parser", request.param)
    return request.param
