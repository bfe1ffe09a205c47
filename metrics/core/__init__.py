"""The floor of every metric: checked inputs, checkpoints and their folders, batches."""
