"""Every metric on texts of many kinds: one set of texts at a time, the same figures for all."""
