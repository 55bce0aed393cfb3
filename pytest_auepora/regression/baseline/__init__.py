"""Baselines: what was accepted, where it is stored, how a run is merged into it."""
