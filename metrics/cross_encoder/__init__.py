"""The pair model behind `stsscore` and `nli_lex`: scores, checkpoints, precision and attribution."""
