"""Golden files: reading, checking, their schema."""
