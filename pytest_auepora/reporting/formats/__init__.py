"""Report formats: one module a format, or a few alike; which there are, and writing them."""
