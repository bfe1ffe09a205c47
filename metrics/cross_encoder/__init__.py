"""The pair model behind `consensus`, `stsscore` and `nli_lex`: scores, checkpoints, precision and attribution."""
