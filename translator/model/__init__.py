"""The encoder-decoder Transformer: explicit attention that returns its weights and stores nothing."""

from translator.model.attention import Attention
from translator.model.linear import memory, prepare
from translator.model.transformer import Cache, Decoded, Encoded, Gates, Stepped, Transformer

__all__ = ["Attention", "Cache", "Decoded", "Encoded", "Gates", "Stepped", "Transformer", "memory", "prepare"]
