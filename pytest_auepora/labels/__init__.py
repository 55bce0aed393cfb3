"""Checks golden chunk ids against the current corpus, and repairs labels that provably moved."""
