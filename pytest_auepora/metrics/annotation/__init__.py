"""The metrics over labels: what people or a judge said about retrieved chunks and about the answer."""
