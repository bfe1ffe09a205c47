"""What is fitted on answers that people judged: the weights of nli_lex, and thresholds for any metric."""
