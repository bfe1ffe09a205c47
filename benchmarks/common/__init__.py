"""What the benchmarks share: baselines, encoders, options, text tables, timing."""
