"""Tokens, n-grams, ROUGE, BLEU: what text metrics count."""
