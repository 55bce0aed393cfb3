"""Reports in Markdown."""
