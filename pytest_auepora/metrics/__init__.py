"""The metrics: one class each, and the registry that finds them by the name people type."""
