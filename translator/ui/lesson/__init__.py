"""The lesson: twelve stations from a sentence to its translation, on the tensors of that sentence."""
