"""Two results of one suite, paired case by case."""
