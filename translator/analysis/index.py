"""The search index of a checkpoint over a file of sentences, and its storage format.

For every head and every token of every sentence: the key it reads most, and with what weight. For every token: the
stream before each layer and after the last, turned to its main directions. Weights and directions are bytes: weights
are exact to 1/255, and the neighbours of a state are those of rounded states.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from translator.analysis.passes import KINDS, head_counts
from translator.checkpoints.destination import own_folder
from translator.checkpoints.manifest import is_listed
from translator.checkpoints.save import amend
from translator.errors import CheckpointError, InputError
from translator.pipeline import Translator

FORMAT_VERSION = 1
FILE = "index.npz"
MOST_BYTES = 4 * 2**20
"""What an index may take on the disk: it is shipped with the checkpoint."""
SIDES = ("encoder", "decoder")


@dataclass(frozen=True, eq=False)
class Index:
    """N sentences, S source tokens in all (ends included), T target tokens in all.

    `texts` [N] are the sources; `targets` the ids of each translation, end to end [T]. Sentence n has the source tokens
    `src_at[n]` up to `src_at[n + 1]`, the target tokens alike. `best` and `weight` of each kind are uint8 [L, H, rows]:
    the place in its sentence of the key that a row reads most, and 255 times its weight; rows are source tokens for the
    encoder, target tokens for the others. `states` of each side are int8 [L + 1, tokens, K], directions of length 127,
    in the basis `basis` [L + 1, D, K] around `centre` [L + 1, D], both float16; a decoder's row reads the token before.
    """

    checkpoint: str
    data: str
    texts: tuple[str, ...]
    targets: np.ndarray
    src_at: np.ndarray
    tgt_at: np.ndarray
    best: dict[str, np.ndarray]
    weight: dict[str, np.ndarray]
    states: dict[str, np.ndarray]
    basis: dict[str, np.ndarray]
    centre: dict[str, np.ndarray]

    def rows_at(self, kind: str) -> np.ndarray:
        """Where the rows of each sentence begin, [N + 1]."""
        return self.src_at if kind == "encoder" else self.tgt_at

    def keys_at(self, kind: str) -> np.ndarray:
        """Where the keys of each sentence begin, [N + 1]."""
        return self.tgt_at if kind == "decoder" else self.src_at

    def sentence_of(self, kind: str) -> np.ndarray:
        """The sentence of each row, [rows]."""
        at = self.rows_at(kind)
        return np.repeat(np.arange(len(at) - 1), np.diff(at))

    def packed(self) -> bytes:
        """The index as the bytes of an `.npz`."""
        meta = {"format": FORMAT_VERSION, "checkpoint": self.checkpoint, "data": self.data, "texts": self.texts}
        arrays = {"targets": self.targets, "src_at": self.src_at, "tgt_at": self.tgt_at}
        for name, parts in _parts(self).items():
            arrays |= {f"{name}_{part}": values for part, values in parts.items()}
        out = io.BytesIO()
        encoded = np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8)
        np.savez_compressed(out, meta=encoded, **arrays)  # type: ignore[arg-type]
        return out.getvalue()


def _parts(index: Index) -> dict[str, dict[str, np.ndarray]]:
    return {name: getattr(index, name) for name in ("best", "weight", "states", "basis", "centre")}


def store_index(translator: Translator, index: Index) -> Path:
    """Write the index into the checkpoint's folder.

    Raises:
        InputError: it is larger than an index may be.
        CheckpointError: the checkpoint has no folder of ours, or other weights were indexed.
    """
    if index.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"the index is of other weights than those of {translator.name}; make it again")
    content = index.packed()
    if len(content) > MOST_BYTES:
        said = f"the index of {len(index.texts)} sentences has {len(content):,} bytes"
        raise InputError(f"{said}; at most {MOST_BYTES:,} are allowed, take fewer sentences")
    return amend(own_folder(translator.bundle), {FILE: content})


def stored_index(translator: Translator) -> Index | None:
    """The index that was shipped with a checkpoint, or None.

    Raises:
        CheckpointError: the file is damaged, or of other weights.
    """
    folder = translator.bundle.folder
    if folder is None or not is_listed(folder, FILE):
        return None
    path = folder / FILE
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        with zipfile.ZipFile(path) as archive:  # little can unpack to very much
            if sum(entry.file_size for entry in archive.infolist()) > 8 * MOST_BYTES:
                raise ValueError(f"it unpacks to more than {8 * MOST_BYTES:,} bytes")
        with np.load(path, allow_pickle=False) as data:
            index = _read({name: data[name] for name in data.files})
        _check(translator, index)
    except Exception as error:  # archive, arrays and JSON each have errors of their own
        raise CheckpointError(f"{path} is not an index: {error}; run the command index again") from error
    if index.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"{path} is of other weights; run the command index again")
    return index


def _read(arrays: dict[str, np.ndarray]) -> Index:
    meta = json.loads(arrays["meta"].tobytes())
    if meta["format"] != FORMAT_VERSION:
        raise ValueError(f"its format is {meta['format']!r}")
    return Index(
        checkpoint=str(meta["checkpoint"]),
        data=str(meta["data"]),
        texts=tuple(map(str, meta["texts"])),
        targets=arrays["targets"],
        src_at=arrays["src_at"],
        tgt_at=arrays["tgt_at"],
        best={kind: arrays[f"best_{kind}"] for kind in KINDS},
        weight={kind: arrays[f"weight_{kind}"] for kind in KINDS},
        states={side: arrays[f"states_{side}"] for side in SIDES},
        basis={side: arrays[f"basis_{side}"] for side in SIDES},
        centre={side: arrays[f"centre_{side}"] for side in SIDES},
    )


def _check(translator: Translator, index: Index) -> None:
    """Whether every place that a search may look at is there.

    Raises:
        ValueError: one is not.
    """
    config, count = translator.bundle.model.config, len(index.texts)
    for name, at in (("src_at", index.src_at), ("tgt_at", index.tgt_at)):
        if at.shape != (count + 1,) or at.dtype.kind != "i" or at[0] != 0 or (np.diff(at) < 1).any():
            raise ValueError(f"{name} is not a row of {count + 1} rising places")
    if index.targets.shape != (index.tgt_at[-1],) or index.targets.dtype.kind != "i":
        raise ValueError(f"there are {index.targets.shape} targets, not {index.tgt_at[-1]}")
    if not ((index.targets >= 0) & (index.targets < config.tgt_vocab)).all():
        raise ValueError("a target id is outside the vocabulary")
    for kind, heads in head_counts(translator.bundle.model).items():
        shape = (*heads, int(index.rows_at(kind)[-1]))
        for name, values in (("best", index.best[kind]), ("weight", index.weight[kind])):
            if values.shape != shape or values.dtype != np.uint8:
                raise ValueError(f"{name} of {kind} is {values.dtype} {values.shape}, not uint8 {shape}")
        if (index.best[kind] >= np.diff(index.keys_at(kind))[index.sentence_of(kind)]).any():
            raise ValueError(f"a best key of {kind} is not in its sentence")
    for side, layers in (("encoder", config.encoder_layers + 1), ("decoder", config.decoder_layers + 1)):
        width = index.states[side].shape[-1]
        for name, found, want in (
            ("states", index.states[side], (layers, int(index.rows_at(side)[-1]), width)),
            ("basis", index.basis[side], (layers, config.d_model, width)),
            ("centre", index.centre[side], (layers, config.d_model)),
        ):
            if found.shape != want or (found.dtype.kind == "f" and not np.isfinite(found).all()):
                raise ValueError(f"{name} of {side} is {found.shape}, not {want}")
