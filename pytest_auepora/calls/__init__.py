"""Calls of RAG systems: bounded, timed, cancellable, and many at once."""
