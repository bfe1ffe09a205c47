"""What every metric is built on: checked inputs, checkpoints and their folders, batches."""
