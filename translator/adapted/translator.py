"""`adapt`: a model and a tokenizer of `transformers` in, a `Translator` out."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any, cast

import torch

from translator.adapted.model import AdaptedModel
from translator.adapted.pretrained import PretrainedModel, PretrainedTokenizer
from translator.adapted.tokenizer import AdaptedTokenizer
from translator.checkpoints import Bundle, bart
from translator.engine import Engine
from translator.errors import InputError
from translator.model import Transformer
from translator.pipeline import Translator
from translator.request import Limits
from translator.trace import CheckpointId

LIMITS = Limits(characters=20_000, source_tokens=1024, target_tokens=512)


class AdaptedTranslator(Translator):
    """A seq2seq model of `transformers` that translates, summarises or whatever it was trained for, with all maps."""

    @property
    def memory(self) -> int:
        """Bytes that its weights come to."""
        network = cast(AdaptedModel, self.bundle.model).network
        return sum(tensor.numel() * tensor.element_size() for tensor in network.parameters())

    def _spare_engine(self) -> Engine:
        raise InputError(f"the memory of {self.device} ran out; move {self.name} to the CPU, or send a shorter text")


def adapt(
    model: PretrainedModel,
    tokenizer: PretrainedTokenizer,
    *,
    name: str | None = None,
    src: str = "und",
    tgt: str = "und",
    limits: Limits = LIMITS,
) -> AdaptedTranslator:
    """Make a `Translator` of a seq2seq model of `transformers`: T5, BART, Pegasus, MADLAD and what comes next.

    Decoding is this package's own search, by the model's `generation_config`; every trace has the maps of encoder,
    decoder and cross attention. The model is put into evaluation mode with eager attention, and stays on its device.
    Head gates work for models laid out as BART or T5; analyses that read the layers of our own model refuse it.

    Args:
        model: such as `AutoModelForSeq2SeqLM.from_pretrained(...)`; its weights are not changed.
        tokenizer: the model's own. A multilingual one is set to its languages before.
        name: what traces call it; None: what it calls itself.
        src: code of the text's language, "und" where there is none to name.
        tgt: code of the output's language, likewise.
        limits: characters and tokens of one text.
    Raises:
        InputError: the model is no encoder-decoder, returns no attention, or lacks a start, end or padding token.
    """
    said = getattr(model, "generation_config", None)
    generation: dict[str, Any] = {} if said is None else said.to_dict()
    path = Path(name or str(getattr(model.config, "_name_or_path", "") or type(model).__name__))
    adapted = AdaptedModel(model)
    eos = adapted.config.eos_id
    banned, sequences = bart.banned(path, generation, eos)
    adapted.config = dataclasses.replace(
        adapted.config,
        banned_ids=tuple(banned),
        banned_sequences=tuple(map(tuple, sequences)),
        min_length=bart.shortest(path, generation),
        name=path.name,
    )
    sides = [
        AdaptedTokenizer(
            tokenizer,
            code,
            source=source,
            size=adapted.config.src_vocab if source else adapted.config.tgt_vocab,
            start_id=adapted.config.start_id,
            eos_id=eos,
        )
        for code, source in ((src, True), (tgt, False))
    ]
    forced = generation.get("forced_bos_token_id")
    decode = bart.decoding(path, {"eos_token_id": eos}, generation, first_id=forced)
    bundle = Bundle(
        model=cast(Transformer, adapted),  # it answers the same calls
        src=sides[0],
        tgt=sides[1],
        info=CheckpointId(path.name, _digest(model), src, tgt),
        decode=decode,
    )
    return AdaptedTranslator(bundle, limits=limits)


def _digest(model: PretrainedModel) -> str:
    """SHA-256 of every weight, so that a trace names the weights that made it."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
