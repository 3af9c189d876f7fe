"""The lesson: twelve stations from a sentence to its translation, with that sentence's tensors."""
