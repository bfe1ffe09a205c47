"""Fitting on judged answers: the weights of `nli_lex`, and thresholds."""
