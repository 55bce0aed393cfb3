"""Labels that people or a judge give to retrieved chunks and to answers, and metrics over them."""
