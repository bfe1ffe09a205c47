"""Set-theoretic criteria: the metric script and its siblings (one folder, one Hub Space)."""
