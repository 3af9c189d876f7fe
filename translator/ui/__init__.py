"""The page, in Gradio: one file per tab, and our own live components."""
