"""The tables and figures of the paper on NLI and lexical match."""
