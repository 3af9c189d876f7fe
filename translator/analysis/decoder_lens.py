"""DecoderLens: the translation decoded from each layer of the encoder.

Source: Langedijk et al. 2023, "DecoderLens: Layerwise interpretation of encoder-decoder Transformers". The stream after
a layer goes through the encoder's own last norm, where it has one, and is then read as if it were the memory. The
decoder was trained on the last layer alone: a poor translation says that it cannot read a layer, not that the layer
knows little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from translator.analysis.passes import pair_of
from translator.decode import search_encoded
from translator.errors import InputError
from translator.model import Encoded
from translator.pipeline import Translator
from translator.trace import Trace


@dataclass(frozen=True, eq=False)
class DecoderLens:
    """`layers[n]` is what is made of the stream after encoder layer n + 1; the last is `translation`, the model's own.

    `embedding` is made of what enters the first layer. `same` says, for each layer, whether its translation is that of
    the last one.
    """

    translation: str
    embedding: str
    layers: tuple[str, ...]

    @property
    def same(self) -> tuple[bool, ...]:
        """Whether each layer's translation is the last one's."""
        return tuple(text == self.translation for text in self.layers)


def decoder_lens(translator: Translator, trace: Trace, *, stop: Callable[[], bool] | None = None) -> DecoderLens:
    """Decode from every encoder layer of `trace`, as it was decoded, side by side.

    Raises:
        InputError: the trace is sampled, so that no layer could be compared, or it is not of this model.
        CancelledError: `stop` said so.
    """
    if trace.settings.method == "sample":
        raise InputError("the translation was sampled; decode greedily or with a beam to compare layers")
    pair = pair_of(translator, trace)
    with torch.inference_mode():
        memories = pair.model.encoder_norm(pair.encode().states[0])  # (L + 1, S, D)
    limit = trace.settings.max_length or translator.usual_length(translator.source_ids(trace.source))
    keep = None if pair.src_keep is None else pair.src_keep.expand(len(memories), -1)
    encoded = Encoded.without_maps(memories, keep)
    spans = [translator.bundle.spans(trace.source, trace.settings)] * len(memories)
    found = search_encoded(pair.engine, encoded, trace.settings, [limit] * len(memories), stop, spans=spans)
    embedding, *layers = (translator.bundle.tgt.decode(ids) for ids in found)
    return DecoderLens(layers[-1], embedding, tuple(layers))
