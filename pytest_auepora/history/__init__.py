"""Stored runs: every `Run` with its verdict, kept to be listed, loaded, compared and aggregated anew.

In a SQLite file through the standard library, or on a server database through SQLAlchemy; the statements are the same.
"""
