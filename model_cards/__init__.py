"""The checkpoints shipped with semantic-metrics, one folder each; this file lets editable installs find them."""
