"""The tables and figures of the paper on set-theoretic criteria."""
