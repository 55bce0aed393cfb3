"""The page: one template, one JSON and one set of scripts for the HTML report, `auepora view` and its export."""
