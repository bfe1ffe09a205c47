"""From datasets (parquet, CSV, JSON lines, or the Hub) to batches of token ids."""
