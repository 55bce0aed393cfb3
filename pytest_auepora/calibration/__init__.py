"""Calibration of LLM judges against human labels: reads labels, asks the judge, measures agreement."""
