"""HTML pages: reports of scored systems and explanations of single scores."""
