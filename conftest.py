"""Shared by the tests and the example suite: puts the repository on the import path."""

from __future__ import annotations
