"""Claims against evidence: RAGChecker's metrics and ALCE's, by a judge, an NLI model or a matrix that is given."""
