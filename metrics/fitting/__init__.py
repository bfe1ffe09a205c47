"""Fits on answers that people judged: the weights of nli_lex, and thresholds for any metric."""

CRITERIA = ("youden", "macro_f1")  # rules for a threshold, the default first
FOLDS = 5  # of cross-validation
