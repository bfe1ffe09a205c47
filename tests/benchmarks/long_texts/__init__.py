"""Tests of benchmarks.long_texts."""
