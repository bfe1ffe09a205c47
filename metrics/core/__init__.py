"""What every metric stands on: checked inputs, checkpoints and their folders, batches."""
