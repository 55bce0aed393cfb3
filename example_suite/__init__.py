"""A complete example: a real RAG over the Python language reference, judged by hand-written golden cases."""
