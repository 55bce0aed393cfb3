"""Tests of the calibration of judges."""
