"""What becomes of results: shown in the terminal, stored, reported, suggested from."""
