"""The joint plane of a head's queries and keys, where nearby points tend to attend to each other.

Source: Yeh et al. 2023, "AttentionViz". Adding a vector to every key, or making queries longer and keys shorter by one
factor, changes no weight; so both clouds are brought to one centre and one spread first. They draw t-SNE or UMAP; here
it is the plane of the two principal components, which moves nothing apart and is the same every time. A plane keeps
a part of the distances only: `agreement` says how far it may be believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from translator.analysis.cell import projected
from translator.analysis.faithfulness import spearman
from translator.analysis.passes import Pair, layer_of
from translator.analysis.search import Corpus
from translator.rules import whole
from translator.trace import Token, known_kind

SENTENCES = 24


@dataclass(frozen=True, eq=False)
class Joint:
    """Queries [N, 2] and keys [M, 2] of one head over some sentences of a corpus.

    `query_tokens` and `key_tokens` name them, `query_sentence` [N] and `key_sentence` [M] say where they stand.
    `kept` is the share of the spread that lies in this plane, `agreement` the mean, over queries, of Spearman's
    correlation between nearness in the picture and the head's scores of the keys of its own sentence.
    """

    queries: np.ndarray
    keys: np.ndarray
    query_tokens: tuple[Token, ...]
    key_tokens: tuple[Token, ...]
    query_sentence: np.ndarray
    key_sentence: np.ndarray
    kept: float
    agreement: float


def joint(corpus: Corpus, kind: str, layer: int, head: int, *, sentences: int = SENTENCES) -> Joint:
    """The picture of one head over the first `sentences` of the corpus, run through the model in one batch.

    Raises:
        InputError: there is no such head, or the number of sentences is not from 2 to 200.
    """
    known_kind(kind)
    layers, heads = corpus.translator.bundle.model.config.head_counts[kind]
    layer, head = layer_of(layers, layer), layer_of(heads, head, "head")
    wanted = range(min(whole("sentences", sentences, 2, 200), len(corpus.index.texts)))
    both = [corpus.tokens(number) for number in wanted]
    queries, keys = _vectors(corpus, both, kind, layer, head)
    asking, asked = ([pair[kind != "encoder"] for pair in both], [pair[kind == "decoder"] for pair in both])
    at_query, at_key = (np.repeat(np.arange(len(both)), [len(tokens) for tokens in side]) for side in (asking, asked))
    queries, keys = balanced(queries, keys)
    drawn, kept = plane(np.concatenate([queries, keys]))
    points = drawn[: len(queries)], drawn[len(queries) :]
    return Joint(
        *points,
        query_tokens=tuple(token for tokens in asking for token in tokens),
        key_tokens=tuple(token for tokens in asked for token in tokens),
        query_sentence=at_query,
        key_sentence=at_key,
        kept=kept,
        agreement=_agreement(points, queries @ keys.T, at_query[:, None] == at_key, causal=kind == "decoder"),
    )


def balanced(queries: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Queries [N, E] and keys [M, E] with one centre and one spread, their softmaxed products unchanged."""
    spreads = [np.sqrt(((cloud - cloud.mean(axis=0)) ** 2).sum(axis=1).mean()) for cloud in (queries, keys)]
    factor = np.sqrt(spreads[1] / spreads[0]) if min(spreads) > 0 else 1.0
    queries, keys = queries * factor, keys / factor
    return queries, keys - keys.mean(axis=0) + queries.mean(axis=0)


def plane(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Points [N, E] in the plane of their two principal components [N, 2], and the share of the spread it keeps."""
    centred = points - points.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    drawn = np.zeros((len(points), 2))
    drawn[:, : min(2, len(sizes))] = left[:, :2] * sizes[:2]
    total = float((sizes**2).sum())
    return drawn, float((sizes[:2] ** 2).sum()) / total if total else 1.0


def _agreement(points: tuple[np.ndarray, np.ndarray], scores: np.ndarray, same: np.ndarray, *, causal: bool) -> float:
    nearness = -np.linalg.norm(points[0][:, None] - points[1], axis=-1)
    found = []
    for row, own in enumerate(same):
        keys = np.flatnonzero(own)
        if causal:
            keys = keys[keys <= row]  # a decoder's queries and keys are the same tokens
        if len(keys) > 2:
            found.append(spearman(nearness[row, keys][None], scores[row, keys][None])[0])
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")


def _vectors(
    corpus: Corpus, both: list[tuple[tuple[Token, ...], tuple[Token, ...]]], kind: str, layer: int, head: int
) -> tuple[np.ndarray, np.ndarray]:
    """The queries [N, E] and keys [M, E] of every sentence, end to end."""
    model, device = corpus.translator.bundle.model, corpus.translator.device
    src, src_keep = _padded([pair[0] for pair in both], model.config.pad_id, device)
    reads, tgt_keep = _padded([pair[1] for pair in both], model.config.pad_id, device)
    readable = src_keep.clone()
    for id_ in model.config.masked_ids:
        readable &= src != id_
    pair = Pair(corpus.translator.engine, src, readable, reads, reads[0])
    with torch.inference_mode():
        encoded = pair.encode()
        _, queries, keys, _ = projected(pair, kind, layer, encoded, pair.decode(encoded.memory))
    asking, asked = (tgt_keep if kind != "encoder" else src_keep), (tgt_keep if kind == "decoder" else src_keep)
    return _flat(queries[:, head], asking), _flat(keys[:, head], asked)


def _padded(sentences: list[tuple[Token, ...]], pad_id: int, device: torch.device) -> tuple[Tensor, Tensor]:
    longest = max(map(len, sentences))
    ids = torch.tensor([[token.id for token in tokens] + [pad_id] * (longest - len(tokens)) for tokens in sentences])
    keep = torch.tensor([[place < len(tokens) for place in range(longest)] for tokens in sentences])
    return ids.to(device), keep.to(device)


def _flat(vectors: Tensor, keep: Tensor) -> np.ndarray:
    return vectors[keep].double().cpu().numpy()
