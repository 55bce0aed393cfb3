"""Terminal output: summary, failed cases, labels."""
