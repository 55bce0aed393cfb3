"""The report as one HTML file: the data of its table of cases (`cases`), and all the rest (`report`)."""
