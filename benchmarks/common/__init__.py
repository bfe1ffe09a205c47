"""What the benchmarks share: baselines, encoders, options, published numbers, tables, our own metrics, plots."""
