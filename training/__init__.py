"""Training of the checkpoints: data, losses, the loop, and the model cards."""
