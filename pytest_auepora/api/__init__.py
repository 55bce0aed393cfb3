"""Measuring whole suites from Python: what `evaluate` and `score_recorded` give, with its assertions."""
