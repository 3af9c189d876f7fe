"""Foreign checkpoints converted to our format: safetensors, JSON and a manifest."""

from __future__ import annotations

from pathlib import Path

from translator.checkpoints import annotated, nanogpt
from translator.checkpoints.destination import free_folder
from translator.checkpoints.foreign import Weights
from translator.checkpoints.hub import download, is_fetched
from translator.checkpoints.layouts import load_foreign
from translator.checkpoints.save import save_bundle
from translator.checkpoints.shelf import DOCUMENT_WEIGHTS, HUB_ID, SAFE_WEIGHTS, is_foreign, pinned
from translator.config import TextConfig
from translator.errors import CheckpointError, InputError

WEIGHT_FILES = (SAFE_WEIGHTS, *DOCUMENT_WEIGHTS)
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

    Here alone weights may be a pickle; it is read as weights only, and none of it is run.

    Args:
        source: a folder of Marian, M2M100, NLLB, mBART or FSMT, or a hub id (owner/name or owner/name@revision) of one;
            or a folder with weights (model.pt ..., or the file itself), src_vocab.json and tgt_vocab.json, in the
            layout of one of the two source documents.
        heads: of the attention, where the weights do not tell (8 and 6, as the documents have them).
        languages: codes of source and target; what the folder says where it is one of `transformers`.
        dtype: "float32", or "float16" for half the size and logits that differ in the third decimal.
    Raises:
        CheckpointError: `source` is no checkpoint of a known layout, is damaged, or its files do not fit each other.
        InputError: a setting is out of range, or `folder` is or holds something else than a checkpoint of ours.
    """
    folder = free_folder(folder)
    for language in languages or ():
        TextConfig(language)
    on_hub = _is_on_hub(source)
    if on_hub or is_foreign(Path(source)):
        if heads is not None or languages is not None:
            raise InputError("this checkpoint says itself how many heads and which languages it has; leave them out")
        return _from_transformers(_fetched(str(source)) if on_hub else Path(source), folder, str(source), dtype)
    path = _weights_file(Path(source))
    weights = Weights(path)
    mark = next((mark for mark in _LAYOUTS if mark in weights), None)
    if mark is None:
        raise CheckpointError(f"{path} has no layout that is known here: it holds neither {' nor '.join(_LAYOUTS)}")
    model, src, tgt = _LAYOUTS[mark](
        weights, path.parent, heads=heads or _HEADS[mark], languages=languages or _LANGUAGES[mark]
    )
    card = _card(folder.name, src.config.language, tgt.config.language, f"the {_NAMES[mark]} layout, `{path.name}`")
    return save_bundle(folder, model=model, src=src, tgt=tgt, name=folder.name, card=card, dtype=dtype)


def convert_snapshot(snapshot: Path, folder: str | Path, origin: str) -> Path:
    """Write a checkpoint of `transformers` in the hub's cache to `folder`, as `convert` does.

    Raises:
        CheckpointError: it is of no known layout or damaged.
        InputError: `folder` is or holds something else than a checkpoint of ours.
    """
    return _from_transformers(snapshot, free_folder(folder), origin, "float32")


def _is_on_hub(source: str | Path) -> bool:
    """Whether `source` is a hub id, and nothing here is called so."""
    return not Path(source).exists() and HUB_ID.fullmatch(str(pinned(str(source))[0])) is not None


def _fetched(source: str) -> Path:
    """The hub's checkpoint of `transformers`, in its cache."""
    repository, revision = pinned(source)
    folder = download(str(repository), revision or "main", pickles=True)
    if not is_foreign(folder):
        raise CheckpointError(f"{source} has no layout of transformers that is known here, so nothing is converted")
    return folder


def _from_transformers(source: Path, folder: Path, origin: str, dtype: str) -> Path:
    # in the hub's cache a snapshot's files are links to what lies beside it
    bundle = load_foreign(source, root=source.parents[1] if is_fetched(source) else source, pickles=True)
    languages = bundle.src.config.language, bundle.tgt.config.language
    card = bundle.card or _card(folder.name, *languages, f"the layout of transformers, `{Path(origin).name}`")
    return save_bundle(
        folder, model=bundle.model, src=bundle.src, tgt=bundle.tgt, name=folder.name, card=card, dtype=dtype,
        decode=bundle.decode,
    )  # fmt: skip


def _weights_file(source: Path) -> Path:
    if source.is_file():
        return source
    for name in WEIGHT_FILES:
        if (source / name).is_file():
            return source / name
    raise CheckpointError(f"{source} holds no weights; there must be one of {', '.join(WEIGHT_FILES)}")


def _card(name: str, src: str, tgt: str, origin: str) -> str:
    return f"# {name}\n\nTranslates {src} to {tgt}. Converted from {origin}; the licence is that of the original.\n"
