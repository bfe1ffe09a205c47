"""What the benchmarks share: baselines, encoders, options, published numbers, text tables, timing."""
