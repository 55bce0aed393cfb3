"""Judges held against people: labels read, the judge asked, agreement and biases measured, a calibration made."""
