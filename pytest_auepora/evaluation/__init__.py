"""Measuring golden cases: one call of the user's system becomes a `CaseResult`, a suite becomes a `Run`.

The pytest plugin, the Python API and the command line all come through here.
"""
