"""The command line, ``auepora``: one module for each command."""
