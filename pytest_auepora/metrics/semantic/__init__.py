"""Similarity by models: BERTScore and sentence embeddings, computed in batches."""
