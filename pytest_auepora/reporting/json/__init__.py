"""The JSON reports and their schemas."""
