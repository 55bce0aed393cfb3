"""What any program needs: files, JSON, progress, retries, HTTP, words.  Knows nothing of RAG."""
