"""Long texts: claims against whole articles (WiCE), and summaries with one planted error each."""
