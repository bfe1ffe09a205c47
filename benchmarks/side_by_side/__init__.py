"""Every metric beside ROUGE, BERTScore, BLEURT and a cosine, on texts that people evaluate."""
