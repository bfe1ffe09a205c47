"""The paper's fifteen training sets as triplets: from where they are published to one parquet file each."""
