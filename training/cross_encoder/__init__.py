"""Training of cross-encoders: configuration, pairs, losses for partial labels."""
