"""Which layout of `transformers` a folder has, by its config.json."""

from __future__ import annotations

from pathlib import Path

from translator.checkpoints import bart, fsmt, marian, multilingual
from translator.checkpoints.bundle import CONFIG, Bundle
from translator.checkpoints.manifest import inside, read_json
from translator.checkpoints.shelf import SPM, TOKENIZER_JSON
from translator.errors import CheckpointError

LOADERS = {
    "fsmt": fsmt.load_fsmt,
    "marian": marian.load_marian,
    **dict.fromkeys(multilingual.MODEL_TYPES, multilingual.load_multilingual),
}
ONE_SIDED = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification")
"""How `transformers` calls what has one stack of layers alone."""
SIDE_FILES = tuple(sorted({*fsmt.SIDE_FILES, *marian.SIDE_FILES, *multilingual.SIDE_FILES}))


def load_foreign(folder: Path, *, root: Path, name: str | None = None, pickles: bool = False) -> Bundle:
    """Load a folder of `transformers`, on the CPU; see `load_marian`, `load_multilingual` and `load_fsmt`.

    Args:
        root: no file may lie outside it, whatever links say.
        name: overrules the name that the checkpoint gives itself.
        pickles: whether weights may be a pickle, read as weights only; true for a conversion alone.
    Raises:
        CheckpointError: its model is of no type that is known here, its weights may not be read, or a file is missing
            or damaged.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise CheckpointError(f"{path} is missing; it says what the model is")
    config = read_json(inside(folder, CONFIG, root), 2**20)
    kind, architectures = config.get("model_type"), config.get("architectures") or []
    if not isinstance(architectures, list):
        raise CheckpointError(f"{path}: architectures is {architectures!r:.40}; it must be a list of names")
    if any(str(name).endswith(ONE_SIDED) for name in architectures):
        raise CheckpointError(
            f"{path}: {architectures[0]} ({kind!r:.40}) has no encoder beside its decoder, and so no attention from a"
            " translation to its source; give a seq2seq model, such as Marian, M2M100, mBART, FSMT, T5 or BART"
        )
    if not isinstance(kind, str) or kind not in LOADERS:
        raise CheckpointError(
            f"{path}: model_type is {kind!r}; known are {', '.join(sorted(LOADERS))}. "
            "Another seq2seq model is shown by translator.adapt, or by serve --transformers"
        )
    weights = bart.weights_path(folder, root, pickles=pickles)
    return LOADERS[kind](folder, root=root, weights=weights, name=name)


def is_whole(folder: Path) -> bool:
    """Whether a folder holds what some layout needs beside its weights."""
    kinds = ({*marian.NEEDED}, {*fsmt.NEEDED}, {CONFIG, SPM}, {CONFIG, TOKENIZER_JSON})
    return any(all((folder / name).is_file() for name in needed) for needed in kinds)
