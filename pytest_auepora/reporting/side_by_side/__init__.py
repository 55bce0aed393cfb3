"""Several systems on one golden set, as columns."""
