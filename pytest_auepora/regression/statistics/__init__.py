"""Permutation tests, bootstrap intervals, precision, repeats."""
