"""Rows 1-9: decoding with every map, beside `transformers`, CTranslate2, a plain loop, and the memory's speed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from benchmarks.models import MARIAN, SHIPPED, Contestants, Size, make
from benchmarks.report import Row, compare
from benchmarks.timing import Times, Watch, alternate
from translator.config import DecodeConfig, Weights
from translator.decode import Hypothesis, IdStep, encode, finish, recorded, search, search_batch
from translator.decode.search import Steps
from translator.engine import EagerEngine, Engine, best
from translator.model import Linear, Transformer

SOURCE, TARGET = 20, 30
Run = Callable[[], object]


def source(engine: Engine, tokens: int = SOURCE, seed: int = 0) -> list[int]:
    """Random ids, EOS last."""
    drawn = torch.randint(3, engine.config.src_vocab - 1, (tokens - 1,), generator=torch.Generator().manual_seed(seed))
    return [*drawn.tolist(), engine.config.eos_id]


def kept(searching: Steps) -> tuple[list[IdStep], Hypothesis]:
    """All steps of a search, and what it found."""
    steps: list[IdStep] = []
    while True:
        try:
            steps.append(next(searching))
        except StopIteration as end:
            return steps, end.value


def trace(engine: Engine, ids: list[int], length: int = TARGET, *, maps: bool = True, **settings: Any) -> Run:
    """Ours, as the pipeline does it: the maps that the search saw (or no maps)."""
    config = DecodeConfig(**{"penalty_kind": "power", "length_penalty": 1.0, **settings})

    def run() -> object:
        encoded = encode(engine, ids)
        searching = search(engine, ids, config, max_length=length, encoded=encoded)
        if not maps:
            return finish(searching)
        return recorded(encoded, *kept(searching))

    return run


def generate(two: Contestants, ids: list[int], length: int = TARGET, *, maps: bool = True, beams: int = 1) -> Run:
    """`transformers`, eager attention."""
    entering = torch.tensor([ids], device=two.theirs.device)

    @torch.inference_mode()
    def run() -> object:
        return two.theirs.generate(
            entering, max_new_tokens=length, num_beams=beams, do_sample=False,
            output_attentions=maps, return_dict_in_generate=True,
        )  # fmt: skip

    return run


def ct2(two: Contestants, ids: list[int], compute_type: str, threads: int, *, maps: bool = True) -> Run:
    """CTranslate2; its one map is an average."""
    model = two.ctranslate2(compute_type, threads)
    pieces = [["</s>" if i == two.ours.config.eos_id else f"▁w{i - 2}" for i in ids]]

    def run() -> object:
        return model.translate_batch(
            pieces, beam_size=1, return_attention=maps, max_decoding_length=TARGET, min_decoding_length=TARGET
        )

    return run


@torch.inference_mode()
def without_cache(engine: Engine, ids: list[int], length: int = TARGET) -> object:
    """Greedy search as the source documents write it: the whole prefix anew for every token."""
    memory = encode(engine, ids).memory
    produced = [engine.config.start_id]
    for _ in range(length):
        decoded = engine.model.decode(torch.tensor([produced]), memory, None)
        produced.append(int(decoded.logits[0, -1].argmax()))
    return produced


NUMBERS = 32 * 2**20
"""Float32 numbers whose sum is limited by the memory: 128 MiB, more than any cache holds."""


def memory_speed() -> float:
    """Bytes a second that a sum reads from memory, the best of several: the wall of cached decoding."""
    times = alternate({"read": torch.randn(NUMBERS).sum}, runs=9)["read"]
    return 4 * NUMBERS / min(times.seconds)


def fraction_of_bandwidth(size: Size, decodes: Times, firsts: Times, reads: Times) -> tuple[float, float, float]:
    """Bytes of float16 weights a second that steps after the first read, over what a sum reads: median, least, most.

    The first step's time also holds what is made once a sentence: encoder, cross keys and values.
    """

    def fraction(whole: float, first: float, read: float) -> float:
        return size.bytes_read / 2 * (TARGET - 1) / (whole - first) / (4 * NUMBERS / read)

    turns = [fraction(*turn) for turn in zip(decodes.seconds, firsts.seconds, reads.seconds, strict=True)]
    return fraction(decodes.median, firsts.median, reads.median), min(turns), max(turns)


class Table:
    """Collects rows that were measured together."""

    def __init__(self, threads: int, others: float) -> None:
        self.rows: list[Row] = []
        self.threads, self.others = threads, others

    def ratio(self, number: str, what: str, peer: str, pair: tuple[Times, Times], target: float, **detail: Any) -> None:
        """Peer's time over ours, at least `target`."""
        ratio, low, high = compare(*pair)
        self.add(number, what, peer, ratio, f"≥ {target} ×", ratio >= target, low, high, detail=detail)

    def add(
        self, number: str, what: str, peer: str, value: float, target: str, met: bool, low: float, high: float,
        *, unit: str = "× faster", detail: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Any other figure."""
        row = Row(
            number, what, peer, value, target, met, self.threads, low, high, self.others, unit, dict(detail or {})
        )
        self.rows.append(row)


@torch.inference_mode()
def rows(threads: int, runs: int) -> list[Row]:
    """Rows 1 to 9 at `threads` threads."""
    with TemporaryDirectory() as folder, threadpool_limits(threads):
        return [
            *_marian(make(MARIAN, Path(folder) / "marian"), threads, runs),
            *_shipped(make(SHIPPED, Path(folder) / "shipped"), threads, runs),
        ]


def variant(engine: Engine, precision: Weights, *, float16: bool = True) -> Engine:
    """A copy with int8 weights, or with weights that float16 cannot hold."""
    copied = copy.deepcopy(engine.model)
    if not float16:
        for layer in copied.modules():
            if isinstance(layer, Linear):
                layer.weight[0, 0] += 1e-6  # no half has so fine a step there
    made = best(copied, precision)
    made.compile(wait=True)
    return made


def plain(engine: Engine) -> Engine:
    """A copy of the model, run by PyTorch's own products."""
    copied = Transformer(engine.config).eval().requires_grad_(False)
    copied.load_state_dict(engine.model.state_dict())
    return EagerEngine(copied)


def _marian(two: Contestants, threads: int, runs: int) -> list[Row]:
    ids = source(two.ours)
    own: dict[str, Run] = {
        "ours": trace(two.ours, ids),
        "ours, no float16": trace(variant(two.ours, "fp32", float16=False), ids),
        "ours int8": trace(variant(two.ours, "int8"), ids),
    }
    others: dict[str, Run] = {
        "transformers": generate(two, ids),
        "without maps": trace(two.ours, ids, maps=False),
        "beam": trace(two.ours, ids, method="beam", beam=4),
        "transformers beam": generate(two, ids, beams=4),
        "first token": trace(two.ours, ids, 1, maps=False),
        "memory": torch.randn(NUMBERS).sum,
    }
    with Watch() as watch:
        times = alternate({**own, **others}, runs=runs)
        peers = {"ct2": ct2(two, ids, "float32", threads), "ct2 int8": ct2(two, ids, "int8", threads)}
        beside = alternate({**own, **peers}, runs=runs)  # apart: see `_batch`
    table, name, ours = Table(threads, watch.others), two.size.name, times["ours"]
    detail = {key: round(value.median, 4) for key, value in (beside | times).items()}
    table.ratio(
        "1", f"greedy with all maps, {name}", "transformers, eager", (ours, times["transformers"]), 1.6, **detail
    )
    table.ratio(
        "2", f"greedy with all maps, {name}", "CTranslate2 float32, one map", (beside["ours"], beside["ct2"]), 1.7
    )
    full = times["ours, no float16"]
    what = f"the same, weights that float16 cannot hold, {name}"
    table.ratio("1b", what, "transformers, eager", (full, times["transformers"]), 1.6)
    pair = (beside["ours, no float16"], beside["ct2"])
    table.ratio("2b", what, "CTranslate2 float32, one map", pair, 1.7)
    cost, low, high = compare(times["without maps"], ours)
    table.add(
        "5", "cost of the maps", "ourselves without maps", cost, "≤ 1.10 ×", cost <= 1.1, low, high, unit="× the time"
    )
    table.ratio(
        "6", f"beam 4 with all maps, {name}", "transformers beam 4", (times["beam"], times["transformers beam"]), 1.6
    )
    share, low, high = fraction_of_bandwidth(two.size, times["without maps"], times["first token"], times["memory"])
    peer = f"{4 * NUMBERS / times['memory'].median / 1e9:.1f} GB/s measured in the same turns"
    table.add("7", "share of memory speed", peer, share, "≥ 0.8", share >= 0.8, low, high, unit="of it")
    table.ratio(
        "8", f"greedy with all maps, fp32, {name}", "CTranslate2 int8", (beside["ours"], beside["ct2 int8"]), 1.1
    )
    pair = (beside["ours int8"], beside["ct2 int8"])
    table.ratio("8b", f"greedy with all maps, int8, {name}", "CTranslate2 int8", pair, 1.8)
    return table.rows


def _shipped(two: Contestants, threads: int, runs: int) -> list[Row]:
    ids = source(two.ours)
    lengths = {"5": 5, "120": 120}
    documents = plain(two.ours)
    contestants: dict[str, Run] = {
        "ours": trace(two.ours, ids),
        "transformers": generate(two, ids),
        "without cache": lambda: without_cache(documents, ids),
        "without cache, our products": lambda: without_cache(two.ours, ids),
        "encode": lambda: encode(two.ours, ids),
        **{name: trace(two.ours, ids, length, maps=False) for name, length in lengths.items()},
    }
    with Watch() as watch:
        times = alternate(contestants, runs=runs)
    table, name = Table(threads, watch.others), two.size.name
    detail = {key: round(value.median, 4) for key, value in times.items()}
    table.ratio(
        "3",
        f"greedy with all maps, {name}",
        "transformers, eager",
        (times["ours"], times["transformers"]),
        2.5,
        **detail,
    )
    what = f"greedy with all maps, {name}"
    table.ratio("4", what, "a loop without cache", (times["ours"], times["without cache"]), 4.0)
    peer = "that loop, over our products"
    table.ratio("4a", what, peer, (times["ours"], times["without cache, our products"]), 4.0)
    fixed = times["encode"].median
    early = (times["5"].median - fixed) / 5
    flat = (times["120"].median - times["5"].median) / 115 / early
    table.add(
        "4b",
        "a token's cost, 5th to 120th",
        "the first five",
        flat,
        "≤ 1.3 ×",
        flat <= 1.3,
        flat,
        flat,
        unit="× the time",
    )
    return [*table.rows, *_batch(two, threads, runs)]


def everyday(engine: Engine, count: int) -> tuple[list[list[int]], list[int]]:
    """Random sentences of everyday lengths, and these lengths."""
    lengths = torch.randint(5, 16, (count,), generator=torch.Generator().manual_seed(1)).tolist()
    return [source(engine, length, seed) for seed, length in enumerate(lengths)], lengths


def batches(two: Contestants, sources: Sequence[list[int]], lengths: Sequence[int]) -> dict[str, Run]:
    """Every sentence decoded to its source's length, by us and by `transformers` in batches of 64, shortest first."""
    config = DecodeConfig()

    def ours() -> object:
        return search_batch(two.ours, sources, config, max_lengths=lengths)

    def transformers() -> None:
        order = sorted(range(len(sources)), key=lambda n: lengths[n])
        for first in range(0, len(sources), 64):
            chosen = [sources[n] for n in order[first : first + 64]]
            width = max(map(len, chosen))
            pad = two.ours.config.pad_id
            rows = [[*row, *[pad] * (width - len(row))] for row in chosen]
            ids = torch.tensor(rows, device=two.theirs.device)
            two.theirs.generate(
                ids, attention_mask=(ids != pad).long(), max_new_tokens=width, num_beams=1, do_sample=False
            )

    return {"ours": ours, "transformers": transformers}


def _batch(two: Contestants, threads: int, runs: int, count: int = 2000) -> list[Row]:
    """Row 9: many sentences side by side.

    CTranslate2 has turns of its own with us: while a model of it lives, PyTorch's second thread sleeps after every
    product instead of waiting for the next, which costs us and `transformers` half as much again.
    """
    sources, lengths = everyday(two.ours, count)
    run = batches(two, sources, lengths)
    with Watch() as watch:
        times = alternate(run, runs=runs)
        model = two.ctranslate2("float32", threads)
        pieces = [["</s>" if i == two.ours.config.eos_id else f"▁w{i - 2}" for i in ids] for ids in sources]
        by_length = {n: [p for p, m in zip(pieces, lengths, strict=True) if m == n] for n in sorted(set(lengths))}

        def ct2_all() -> None:
            for n, group in by_length.items():
                model.translate_batch(
                    group, beam_size=1, max_batch_size=64, max_decoding_length=n, min_decoding_length=n
                )

        beside = alternate({"ours": run["ours"], "ct2": ct2_all}, runs=runs)
    table = Table(threads, watch.others)
    detail = {key: round(value.median, 2) for key, value in (beside | times).items()}
    pair, what = (times["ours"], times["transformers"]), f"{count} sentences in batches"
    table.ratio("9", what, "transformers, batches of 64", pair, 2.0, **detail)
    table.ratio("9b", what, "CTranslate2 float32", (beside["ours"], beside["ct2"]), 0.8)
    return table.rows
