"""How texts are cut, and the metrics that count what they have: n-grams, phrases, numbers."""
