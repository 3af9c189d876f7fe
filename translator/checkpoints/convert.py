"""Foreign checkpoints converted to our format: safetensors, JSON and a manifest."""

from __future__ import annotations

from pathlib import Path

from translator.checkpoints import annotated, nanogpt
from translator.checkpoints.foreign import Weights
from translator.checkpoints.layouts import load_foreign
from translator.checkpoints.place import free_place
from translator.checkpoints.save import save_bundle
from translator.checkpoints.shelf import is_foreign
from translator.config import TextConfig
from translator.errors import CheckpointError, InputError

WEIGHT_FILES = ("model.safetensors", "model.pt", "model.pth", "model.bin", "pytorch_model.bin")
_LAYOUTS = {annotated.MARK: annotated.load_annotated, nanogpt.MARK: nanogpt.load_nanogpt}
_NAMES = {annotated.MARK: "annotated", nanogpt.MARK: "nanogpt"}
_HEADS = {annotated.MARK: 8, nanogpt.MARK: 6}  # what the source documents say
_LANGUAGES = {annotated.MARK: ("en", "zh"), nanogpt.MARK: ("de", "en")}


def convert(
    source: str | Path,
    folder: str | Path,
    *,
    heads: int | None = None,
    languages: tuple[str, str] | None = None,
    dtype: str = "float32",
) -> Path:
    """Write the checkpoint `source` to `folder` in our format; the layout is told by its files.

    Args:
        source: a folder of Marian, M2M100, NLLB, mBART or FSMT; or a folder with weights (model.pt ..., or the file
            itself), src_vocab.json and tgt_vocab.json, in the layout of one of the two source documents.
        heads: of the attention, where the weights do not tell (8 and 6, as the documents have them).
        languages: codes of source and target; what the folder says where it is one of `transformers`.
        dtype: "float32", or "float16" for half the size and logits that differ in the third decimal.
    Raises:
        CheckpointError: `source` is no checkpoint of a known layout, is damaged, or its files do not fit each other.
        InputError: a setting is out of range, or `folder` is or holds something else than a checkpoint of ours.
    """
    source, folder = Path(source), free_place(folder)
    for language in languages or ():
        TextConfig(language)
    if source.is_dir() and is_foreign(source):
        return _from_transformers(source, folder, heads, languages, dtype)
    path = _weights_file(source)
    weights = Weights(path)
    mark = next((mark for mark in _LAYOUTS if mark in weights), None)
    if mark is None:
        raise CheckpointError(f"{path} has no layout that is known here: it holds neither {' nor '.join(_LAYOUTS)}")
    model, src, tgt = _LAYOUTS[mark](
        weights, path.parent, heads=heads or _HEADS[mark], languages=languages or _LANGUAGES[mark]
    )
    card = _card(folder.name, src.config.language, tgt.config.language, f"the {_NAMES[mark]} layout, `{path.name}`")
    return save_bundle(folder, model=model, src=src, tgt=tgt, name=folder.name, card=card, dtype=dtype)


def _from_transformers(
    source: Path, folder: Path, heads: int | None, languages: tuple[str, str] | None, dtype: str
) -> Path:
    if heads is not None or languages is not None:
        raise InputError("this checkpoint says itself how many heads and which languages it has; leave them out")
    bundle = load_foreign(source, root=source)
    card = bundle.card or _card(
        folder.name, *_codes(bundle.src.config, bundle.tgt.config), f"the layout of transformers, `{source.name}`"
    )
    return save_bundle(
        folder, model=bundle.model, src=bundle.src, tgt=bundle.tgt, name=folder.name, card=card, dtype=dtype,
        decode=bundle.decode,
    )  # fmt: skip


def _codes(src: TextConfig, tgt: TextConfig) -> tuple[str, str]:
    return src.language, tgt.language


def _weights_file(source: Path) -> Path:
    if source.is_file():
        return source
    for name in WEIGHT_FILES:
        if (source / name).is_file():
            return source / name
    raise CheckpointError(f"{source} holds no weights; there must be one of {', '.join(WEIGHT_FILES)}")


def _card(name: str, src: str, tgt: str, origin: str) -> str:
    return f"# {name}\n\nTranslates {src} to {tgt}. Converted from {origin}; the licence is that of the original.\n"
