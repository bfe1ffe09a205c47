"""The samples of the set-theoretic criteria: built from news, rated by people."""
