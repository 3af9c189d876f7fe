"""The encoder-decoder Transformer: explicit attention that returns its weights and stores nothing."""

from translator.model.attention import Attention
from translator.model.linear import prepare
from translator.model.pack import memory
from translator.model.transformer import Cache, Transformer
from translator.model.values import Decoded, Encoded, Gates, Stepped

__all__ = ["Attention", "Cache", "Decoded", "Encoded", "Gates", "Stepped", "Transformer", "memory", "prepare"]
