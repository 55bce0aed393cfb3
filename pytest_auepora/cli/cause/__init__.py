"""Commands about causes: would a suite notice, one case by itself."""
