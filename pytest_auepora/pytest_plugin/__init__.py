"""The pytest side.  Only `entry` is imported by every pytest run."""
