"""The tables and figures of the MATCHA paper."""
