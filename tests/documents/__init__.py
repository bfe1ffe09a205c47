"""Tests of what people read: README, docs, the site, the notebook."""
