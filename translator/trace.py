"""`Trace`: one complete translation as frozen NumPy values."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.lib import format as npy

from translator.config import DecodeConfig, from_dict
from translator.errors import InputError
from translator.files import write_whole

FORMAT_VERSION = 1
MAX_MAP, MAX_META = 2**28, 2**24
"""Bytes that the maps of one kind, and all that is not maps, may have in a file."""
PIECE = 2**20
"""Bytes that are compressed at once, in some 50 ms."""
R = TypeVar("R")
MimeBundle: TypeAlias = "dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]"
"""What Jupyter shows by kind: the data, or the data and its metadata."""


@dataclass(frozen=True)
class Token:
    """One id of a vocabulary and the text it stands for.

    `surface` is what a person reads (special tokens by their names, a byte of a character as `<0xE4>`).
    `span` is (start, end) in characters of what was typed, or of the produced translation; None for
    special tokens. `word` counts the words of that text from 0; -1 for special tokens.
    `space` says that a real space stands before it. `unknown`: the vocabulary lacks it, the surface is kept.
    """

    id: int
    surface: str
    span: tuple[int, int] | None = None
    word: int = -1
    space: bool = False
    special: bool = False
    unknown: bool = False


@dataclass(frozen=True)
class Candidate:
    """A token that might have been produced at a step; `log_prob` in nats under the model's full softmax."""

    token: Token
    log_prob: float


@dataclass(frozen=True)
class Beam:
    """One hypothesis that was alive, or ended, at a step.

    `score` is its summed log-probability in nats, `normalised` that score after the length penalty,
    `parent` the index of the hypothesis it grew from among the previous step's beams.
    """

    ids: tuple[int, ...]
    score: float
    normalised: float
    parent: int
    ended: bool


@dataclass(frozen=True, eq=False)
class Step:
    """One produced token of the leading hypothesis.

    `log_prob` and `entropy` are in nats, of the model's full softmax. `candidates` come best first.
    `cross` is [L, H, S]: the cross-attention row of every layer and head that predicted this token.
    `beams` is empty but for beam search; `tokens` is the leading hypothesis up to and with this token
    (a live beam search may change its mind about earlier tokens).
    """

    index: int
    token: Token
    log_prob: float
    entropy: float
    candidates: tuple[Candidate, ...]
    cross: np.ndarray
    beams: tuple[Beam, ...] = ()
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, eq=False)
class LiveStep(Step):
    """A step of a search that goes on; `log_probs` are those of all its steps so far, this one's last."""

    log_probs: tuple[float, ...] = ()


@dataclass(frozen=True)
class CheckpointId:
    """Which weights made a trace: a readable name and the SHA-256 of the weight file."""

    name: str
    sha256: str
    src_language: str
    tgt_language: str


@dataclass(frozen=True, eq=False)
class Trace:
    """One translation: tokens, steps and every attention map. NumPy on the CPU only.

    Axes: `src` are the tokens the encoder reads (EOS too), S of them. `tgt` are the T produced
    tokens, EOS last unless the length limit was hit (`truncated`). Row t of `decoder` [L, H, T, T]
    and of `cross` [L, H, T, S] is the query that reads `reads[t]` (the start token, then y1 … y(T-1))
    and predicts `tgt[t]`. `encoder` is [L, H, S, S]. Weights are float32 probabilities before
    dropout. `score` is the summed log-probability of `tgt` in nats. `seconds` is how long decoding took. `altered`:
    heads were gated or positions moved, so that the checkpoint by itself would not give this. Of arrays from elsewhere
    (`translator.explore`) kinds may be missing, with no layers, and log-probabilities may be NaN: unknown.
    """

    source: str
    normalised: str
    translation: str
    src: tuple[Token, ...]
    start: Token
    tgt: tuple[Token, ...]
    steps: tuple[Step, ...]
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    checkpoint: CheckpointId
    settings: DecodeConfig
    truncated: bool = False
    seconds: float = 0.0
    altered: bool = False

    def __post_init__(self) -> None:
        s, t = len(self.src), len(self.tgt)
        for name, shape in (("encoder", (s, s)), ("decoder", (t, t)), ("cross", (t, s))):
            array = getattr(self, name)
            if array.ndim != 4 or array.shape[2:] != shape or array.dtype.kind != "f":
                raise ValueError(f"{name} is {array.dtype} {array.shape}, want float [L, H, {shape[0]}, {shape[1]}]")
            array.flags.writeable = False
        if self.decoder.size and self.cross.size and self.decoder.shape[:2] != self.cross.shape[:2]:
            raise ValueError(f"decoder is {self.decoder.shape}, cross {self.cross.shape}, want maps of the same heads")
        if len(self.steps) != t:
            raise ValueError(f"there are {len(self.steps)} steps for {t} target tokens")

    def __repr__(self) -> str:
        said = f"{self.source!r:.80}, {self.translation!r:.80}, {self.checkpoint.name!r}"
        return f"{type(self).__name__}({said}, {len(self.src)} source and {len(self.tgt)} target tokens)"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> MimeBundle:
        """The explorer where a notebook shows this: a widget with the extra `notebook`, and a picture beside it."""
        # The notebook is above this module in the order of imports: by name, and only when shown.
        bundle: MimeBundle = import_module("translator.notebook").shown(self)
        return bundle

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention that there are maps of."""
        return tuple(kind for kind in ("encoder", "decoder", "cross") if self.weights(kind).size)

    @property
    def reads(self) -> tuple[Token, ...]:
        """What row t of `decoder` and `cross` reads: the start token, then every produced token but the last."""
        return (self.start, *self.tgt[:-1])

    @property
    def log_probs(self) -> np.ndarray:
        """Log-probability of each produced token, [T], in nats."""
        return np.array([step.log_prob for step in self.steps], dtype=np.float64)

    @property
    def score(self) -> float:
        """Summed log-probability of the produced tokens, in nats."""
        return float(self.log_probs.sum())

    def weights(self, kind: str) -> np.ndarray:
        """The maps of one kind of attention: "encoder" [L, H, S, S], "decoder" [L, H, T, T] or "cross" [L, H, T, S].

        Raises:
            InputError: another kind was asked for.
        """
        weights: np.ndarray = getattr(self, known_kind(kind))
        return weights

    def queries(self, kind: str) -> tuple[Token, ...]:
        """The tokens that the rows of `kind` read. Errors: see `weights`."""
        return self.src if known_kind(kind) == "encoder" else self.reads

    def keys(self, kind: str) -> tuple[Token, ...]:
        """The tokens that the columns of `kind` stand for. Errors: see `weights`."""
        return self.reads if known_kind(kind) == "decoder" else self.src

    def save(self, path: str | Path) -> None:
        """Write everything to a compressed `.npz`, whole or not at all; `Trace.load` gives it back without loss.

        Arrays: encoder, decoder, cross, log_probs, src and tgt (surfaces); `meta` is UTF-8 JSON of
        all the rest. A step's cross row is row t of `cross`, and is not written twice.
        """
        write_whole(path, self.to_bytes())

    def save_html(self, path: str | Path) -> None:
        """Write the explorer of this trace as one HTML file, which needs neither server nor network.

        Raises:
            ModuleNotFoundError: a package of the extra `figures` is missing.
        """
        write_whole(path, import_module("translator.notebook").page(self))

    def to_bytes(self, *, pause: Callable[[], object] = lambda: None) -> bytes:
        """The content of the file that `save` writes; `pause` is called before each `PIECE` of it."""
        arrays = {
            "encoder": self.encoder,
            "decoder": self.decoder,
            "cross": self.cross,
            "log_probs": self.log_probs,
            "src": np.array([t.surface for t in self.src], dtype=str),
            "tgt": np.array([t.surface for t in self.tgt], dtype=str),
            "meta": np.frombuffer(json.dumps(self._meta(), ensure_ascii=True).encode(), dtype=np.uint8),
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:  # as np.savez_compressed, piece by piece
            for name, values in arrays.items():
                plain = io.BytesIO()
                npy.write_array(plain, values, allow_pickle=False)
                with archive.open(f"{name}.npy", "w") as file:
                    for start in range(0, plain.tell(), PIECE):
                        pause()
                        file.write(plain.getbuffer()[start : start + PIECE])
        return buffer.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read what `save` wrote.

        Raises:
            InputError: the file is missing, is no trace of this format, or would unpack to more than a trace may have.
        """
        if not Path(path).is_file():  # a pipe would be waited for
            raise InputError(f"{path} is not a trace file: there is no such file")
        try:
            with zipfile.ZipFile(path) as archive:
                arrays = {name: _unpacked(archive, name) for name in ("meta", "encoder", "decoder", "cross")}
            meta = json.loads(arrays.pop("meta").tobytes())
            if meta.pop("format") != FORMAT_VERSION:
                raise InputError(f"{path} was written by another version of this package")
            return cls._from_meta(meta, arrays)
        except InputError as error:
            raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from error
        except Exception as error:  # archive, arrays and JSON each have errors of their own
            raise InputError(f"{path} is not a trace file: {error}") from error

    def _meta(self) -> dict[str, Any]:
        def plain(step: Step) -> dict[str, Any]:
            values = {f.name: getattr(step, f.name) for f in dataclasses.fields(step) if f.name != "cross"}
            return {k: _plain(v) for k, v in values.items()}

        arrays = ("encoder", "decoder", "cross", "steps")
        meta = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name not in arrays}
        return {"format": FORMAT_VERSION, **meta, "steps": [plain(step) for step in self.steps]}

    @classmethod
    def _from_meta(cls, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> Trace:
        steps = tuple(
            _made(
                Step,
                values,
                token=_token(values["token"]),
                tokens=tuple(map(_token, values["tokens"])),
                candidates=tuple(_made(Candidate, each, token=_token(each["token"])) for each in values["candidates"]),
                beams=tuple(_made(Beam, each, ids=_whole_numbers(each["ids"])) for each in values["beams"]),
                cross=arrays["cross"][:, :, t],
            )
            for t, values in enumerate(meta.pop("steps"))
        )
        return _made(
            cls,
            meta,
            **arrays,
            steps=steps,
            src=tuple(map(_token, meta["src"])),
            tgt=tuple(map(_token, meta["tgt"])),
            start=_token(meta["start"]),
            checkpoint=_made(CheckpointId, meta["checkpoint"]),
            settings=from_dict(DecodeConfig, meta["settings"]),
        )


def _unpacked(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array of an `.npz`, once its size is known to be one that a trace may have: little can unpack to very much.

    Raises:
        InputError: it has more bytes than that.
        ValueError: it is no array of plain numbers, or not of the size that it says.
        KeyError: there is no such array.
    """
    entry, limit = archive.getinfo(f"{name}.npy"), MAX_META if name == "meta" else MAX_MAP
    if entry.file_size > limit:
        raise InputError(f"{name} unpacks to {entry.file_size:,} bytes; a trace may have {limit:,}")
    with archive.open(entry) as file:
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(file)]
        shape, by_columns, dtype = read_header(file)
        if dtype.kind not in "fu" or math.prod(shape) * dtype.itemsize > limit:
            raise ValueError(f"{name} is {dtype} {shape}")
        found = np.frombuffer(file.read(limit), dtype=dtype)
    return found.reshape(shape, order="F" if by_columns else "C")


def known_kind(kind: str) -> str:
    """`kind`, if it is one of attention: "encoder", "decoder" or "cross".

    Raises:
        InputError: it is not.
    """
    if kind not in ("encoder", "decoder", "cross"):
        raise InputError(f"attention kind is {kind!r}; it must be encoder, decoder or cross")
    return kind


def _plain(value: Any) -> Any:
    """Dataclasses and tuples as dicts and lists, for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def _token(values: dict[str, Any]) -> Token:
    span = values["span"]
    return _made(Token, values, span=None if span is None else _whole_numbers(span, 2))


def _whole_numbers(values: Any, count: int | None = None) -> tuple[int, ...]:
    """A list of whole numbers, `count` of them.

    Raises:
        TypeError: it is anything else.
    """
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise TypeError(f"{values!r:.40} is no list of whole numbers")
    if count is not None and len(values) != count:
        raise TypeError(f"{values!r:.40} are not {count} numbers")
    return tuple(values)


def _made(kind: type[R], values: dict[str, Any], **read: Any) -> R:
    """`kind` from what a file holds, with what was `read` of it already.

    Raises:
        TypeError: a field is missing or unknown, or a text, a number or a truth value is something else.
    """
    plain = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        want, name = plain.get(str(field.type)), field.name
        if want and name in values and type(values[name]) not in want:
            raise TypeError(f"{kind.__name__}.{name} is {values[name]!r:.40}")
    return kind(**{**values, **read})
