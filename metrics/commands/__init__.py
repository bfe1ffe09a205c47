"""The commands of `semantic-metrics`, one module each."""
