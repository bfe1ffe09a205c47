"""Tests of training/: each package of tests mirrors one of the code."""
