"""Benchmarks: the tables and figures of each paper measured here, published numbers side by side."""
