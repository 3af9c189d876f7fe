"""DecoderLens: the last layer says what the model says; each layer as `transformers` decodes from its hidden state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from transformers.modeling_outputs import BaseModelOutput

from translator import CancelledError, InputError, Translator
from translator.analysis.decoder_lens import decoder_lens

TEXT = "Das Haus ist groß, aber alt."


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["pre", "post", "embedding norm", "unequal", "padded"])
@pytest.mark.parametrize("settings", [{"method": "greedy"}, {"method": "beam", "beam": 3}, {"max_length": 5}])
def test_the_last_layer_gives_the_translation(
    laid_out: Callable[[str], Translator], layout: str, settings: dict[str, Any]
) -> None:
    engine = laid_out(layout)
    trace = engine.translate(TEXT, **{"method": "greedy", **settings})
    found = decoder_lens(engine, trace)
    assert found.layers[-1] == found.translation == trace.translation
    assert len(found.layers) == engine.bundle.model.config.encoder_layers
    assert found.same[-1] and found.embedding != found.translation


@pytest.mark.slow
def test_each_layer_is_what_transformers_decodes_from_it(marian: tuple[Translator, Any]) -> None:
    engine, net = marian
    trace = engine.translate("the house in old.", method="greedy", max_length=12)
    found = decoder_lens(engine, trace)
    src = torch.tensor([[token.id for token in trace.src]])
    with torch.inference_mode():
        states = net.model.encoder(src, output_hidden_states=True).hidden_states
        for layer, text in enumerate((found.embedding, *found.layers)):
            ids = net.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=states[layer]),
                attention_mask=torch.ones_like(src),
                do_sample=False,
                num_beams=1,
                max_length=13,  # it counts the start token
            )[0, 1:]
            assert text == engine.bundle.tgt.decode(tuple(ids.tolist())), layer


def test_what_was_sampled_cannot_be_compared(tiny: Translator) -> None:
    trace = tiny.translate(TEXT, method="sample", max_length=4)
    with pytest.raises(InputError, match="was sampled"):
        decoder_lens(tiny, trace)


def test_it_can_be_stopped(tiny: Translator) -> None:
    with pytest.raises(CancelledError):
        decoder_lens(tiny, tiny.translate(TEXT, method="greedy", max_length=4), stop=lambda: True)
