"""Training data: configs, states of runs, the rows that they name (parquet, CSV, JSON lines, the Hub), and commands that make more."""
