"""Tables on disk: .txt, .csv, .tsv, .jsonl, .json and .parquet, read and written in chunks of rows.

pandas (`read_csv` and `read_json` with `chunksize`), pyarrow and `datasets` were weighed for the text formats: none of
them names the line of a bad row, keeps lines of JSONL byte for byte, or reads two formats alike (each guesses types and
missing values in its own way), and all of them take longer to import than `score --help` may take. The 160 lines of
formats.py do that in the memory of one chunk, so ours are kept; parquet is read and written by pyarrow.
"""
