"""The report as one HTML file: the data of its page (`page`, `cases`), and its rendering (`report`)."""
