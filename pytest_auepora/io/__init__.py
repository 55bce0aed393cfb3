"""Golden files and data sets: reading, checking, writing."""
