"""The encoder-decoder Transformer: explicit attention that returns its weights and stores nothing."""

from translator.model.attention import Attention
from translator.model.cache import Cache
from translator.model.linear import Linear
from translator.model.transformer import Transformer
from translator.model.values import Decoded, Encoded, Gates, Stepped

__all__ = ["Attention", "Cache", "Decoded", "Encoded", "Gates", "Linear", "Stepped", "Transformer"]
