"""The page, in Gradio: one file a tab, and our own live components."""
