"""Tables on disk: csv, tsv, jsonl, txt and parquet, read and written by chunks of rows."""
