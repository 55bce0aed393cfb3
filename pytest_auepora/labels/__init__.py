"""Labels that moved: golden chunk ids held against the corpus as it is now, and repaired where that is provable."""
