"""The controller process: gathers results, judges each run, accepts it, and publishes what no item tells."""
