"""Tokenization, and metrics over n-grams, phrases and numbers."""
