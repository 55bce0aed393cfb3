"""The report as one HTML file: what is on it (`page`, `broken`, `cases`), its pictures (`plots`), its making."""
