"""Runs and verdicts for people: numbers, tables, failure texts, files."""
