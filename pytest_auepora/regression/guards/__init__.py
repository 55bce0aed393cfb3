"""What can fail a run: thresholds, the case guard, the suite guard, coverage."""
