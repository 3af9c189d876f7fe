"""The contestants of decoding: one random Marian checkpoint, read by us, by `transformers` and by CTranslate2.

Its weights are what 16 bits hold, like those of the checkpoints that are shipped; every contestant gets the same.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel

from translator.checkpoints import load_bundle
from translator.engine import Engine, best

if TYPE_CHECKING:
    import ctranslate2

EOS, PIECES = 0, 300
NEVER = -1e4
"""The logit bias of what must not be chosen, so that every contestant decodes the full length."""


@dataclass(frozen=True)
class Size:
    """How large a contestant is."""

    name: str
    layers: int
    d_model: int
    d_ff: int
    vocab: int = 8000
    heads: int = 8

    @property
    def bytes_read(self) -> int:
        """Bytes of float32 weights that one cached decoding step has to read: cross keys and values are made once."""
        width, inner = self.d_model, self.d_ff
        layer = 4 * width * width + 2 * width * width + 2 * width * inner
        return 4 * (self.layers * layer + self.vocab * width)


MARIAN = Size("Marian size (6 + 6 layers, d 512)", 6, 512, 2048)
SHIPPED = Size("shipped size (6 + 6 layers, d 256)", 6, 256, 1024)


@dataclass(frozen=True, eq=False)
class Contestants:
    """The same weights three times."""

    size: Size
    ours: Engine
    theirs: Any
    folder: Path

    def ctranslate2(self, compute_type: str, threads: int) -> ctranslate2.Translator:
        """CTranslate2's model of the same weights, on one translator of `threads` threads."""
        import ctranslate2  # the rows of a GPU need none of it
        from ctranslate2.converters import TransformersConverter

        out = self.folder / f"ct2-{compute_type}"
        if not out.exists():
            TransformersConverter(str(self.folder)).convert(str(out), quantization=compute_type)
        return ctranslate2.Translator(str(out), compute_type=compute_type, inter_threads=1, intra_threads=threads)


def make(size: Size, folder: Path) -> Contestants:
    """Write a random checkpoint of `size` into `folder` and read it with every contestant that needs no conversion."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces = ["</s>", "<unk>", *(f"▁w{i}" for i in range(size.vocab - 3)), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"source_lang": "eng", "target_lang": "deu"}', encoding="utf-8")
    model = io.BytesIO()
    text = (" ".join(f"w{i * j % 997}" for j in range(1, 12)) for i in range(600))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=text, model_writer=model, vocab_size=PIECES, hard_vocab_limit=False, minloglevel=2
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model.getvalue())
    theirs = _random(size)
    theirs.save_pretrained(folder)
    ours = best(load_bundle(str(folder), device="cpu").model.eval())
    ours.compile(wait=True)
    return Contestants(size, ours, theirs, folder)


def _random(size: Size) -> MarianMTModel:
    torch.manual_seed(0)
    pad = size.vocab - 1
    settings: dict[str, Any] = dict(
        vocab_size=size.vocab, d_model=size.d_model, encoder_ffn_dim=size.d_ff, decoder_ffn_dim=size.d_ff,
        encoder_layers=size.layers, decoder_layers=size.layers, encoder_attention_heads=size.heads,
        decoder_attention_heads=size.heads, activation_function="swish", scale_embedding=True,
        max_position_embeddings=512, pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=EOS,
        forced_eos_token_id=None, num_beams=1, attn_implementation="eager",
    )  # fmt: skip
    model = MarianMTModel(MarianConfig(**settings)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name and parameter.dim() > 1:
                parameter.copy_(torch.randn_like(parameter) * parameter.shape[-1] ** -0.5)
            parameter.copy_(parameter.half().float())  # checkpoints are stored so; all compute in float32
        model.final_logits_bias[0, EOS] = model.final_logits_bias[0, pad] = NEVER
    model.generation_config.num_beams = 1
    model.generation_config.max_length = None
    model.generation_config.bad_words_ids = None
    return model
