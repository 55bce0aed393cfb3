"""The verdict: thresholds, baselines, comparison."""
