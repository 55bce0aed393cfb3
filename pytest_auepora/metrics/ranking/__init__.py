"""Returned lists held against labels: what is relevant, where it stands, and many lists at once."""
