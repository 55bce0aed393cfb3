"""Tests of measuring whole suites from Python."""
