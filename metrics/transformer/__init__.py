"""How a transformer runs: on which backend, in which precision, on how many cores."""
