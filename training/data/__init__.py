"""Training data: configs, the rows that they name (parquet, CSV, JSON lines, the Hub), and commands that make more."""
