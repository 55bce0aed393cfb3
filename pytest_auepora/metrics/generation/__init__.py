"""Metrics of the answer that need no model: n-grams, recall, evidence, assertions, structure."""
