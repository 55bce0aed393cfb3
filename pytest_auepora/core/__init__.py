"""Auepora's own terms: targets, data sets, metrics, plans, runs.  Knows no pytest and computes no metric."""
