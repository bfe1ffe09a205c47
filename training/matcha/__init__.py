"""Training of MATCHA: configuration, networks, batches, losses, validation."""
