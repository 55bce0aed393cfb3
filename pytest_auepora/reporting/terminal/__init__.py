"""Terminal output: summary, failed cases, calibration, labels."""
