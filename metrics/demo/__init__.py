"""The page that the Gradio demos of the metrics share."""
