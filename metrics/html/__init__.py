"""Pieces of HTML that the demos and the reports share; none needs another part of the package."""
