"""The command line, ``auepora``: runs kept and compared, outputs scored, golden files checked."""
