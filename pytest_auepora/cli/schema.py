"""``auepora schema``: the JSON Schema of golden files, for editors."""

from __future__ import annotations

import argparse
import json

from .exit_codes import PASSED

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(given: argparse.Namespace) -> int:  # noqa: ARG001 - as all commands
    """Print the schema."""
    from ..io.json_schema import golden_schema

    print(json.dumps(golden_schema(), indent=1, ensure_ascii=False))
    return PASSED
