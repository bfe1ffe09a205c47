"""The demos: their functions, and in a browser."""
