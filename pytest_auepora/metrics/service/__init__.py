"""Metrics of a service: errors and time limits, tokens and cost, what leaks."""
