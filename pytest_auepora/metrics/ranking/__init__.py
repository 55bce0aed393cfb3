"""Gold labels, rankings matched with them, and batches of rankings."""
