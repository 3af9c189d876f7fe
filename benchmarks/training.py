"""Training speed beside `torch.nn.Transformer` in a plain loop and JoeyNMT: same sizes, sentences and optimiser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import joey, peers
from benchmarks.report import Row, compare
from benchmarks.timing import Times, Watch, settle
from translator.config import ModelConfig
from translator.model import Transformer
from translator.model.positions import sinusoids
from translator.training.config import TrainConfig
from translator.training.data import Epochs
from translator.training.loop import Meter, Trainer

VOCAB, LAYERS, WIDTH, INNER, HEADS, DROPOUT = 8000, 3, 256, 1024, 8, 0.3
BUDGET, STEPS = 2000, 6
PLAIN_ROWS = BUDGET // 11
"""Sentences in a batch of the loops that shuffle and do no more, as many as about fill `BUDGET`."""


def sentences(count: int = 8000, seed: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    """Random ids in sentences as long as everyday ones: 4 to 40 pieces, 9 in the middle, both sides alike."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(np.exp(rng.normal(2.2, 0.45, count)), 4, 40).astype(int)
    other = np.clip(lengths + rng.integers(-2, 3, count), 3, 42)
    return tuple([[rng.integers(4, VOCAB, n).tolist() for n in side] for side in (lengths, other)])  # type: ignore[return-value]


def shuffled(count: int) -> list[int]:
    """The order in which the loops that only shuffle take the sentences."""
    return np.random.default_rng(1).permutation(count).tolist()


class PlainTransformer(nn.Module):
    """Embeddings, `torch.nn.Transformer`, an output tied to the embedding: what a tutorial writes."""

    positions: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.register_buffer("positions", sinusoids(256, WIDTH, layout="interleaved"))
        self.body = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, INNER, DROPOUT, batch_first=True, norm_first=True)
        self.output = nn.Linear(WIDTH, VOCAB, bias=False)
        self.output.weight = self.embedding.weight

    def embed(self, ids: Tensor) -> Tensor:
        return self.embedding(ids) * WIDTH**0.5 + self.positions[: ids.shape[1]]

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1], device=tgt.device)
        padding = src == 0
        hidden = self.body(
            self.embed(src), self.embed(tgt), tgt_mask=causal, tgt_is_causal=True,
            src_key_padding_mask=padding, tgt_key_padding_mask=tgt == 0, memory_key_padding_mask=padding,
        )  # fmt: skip
        return self.output(hidden)


def plain_steps(src: list[list[int]], tgt: list[list[int]], device: torch.device | str = "cpu") -> Iterator[int]:
    """A plain loop over shuffled sentences; yields the real target tokens of each step."""
    torch.manual_seed(0)
    model = PlainTransformer().train().to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    loss_of = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    order = shuffled(len(src))
    for first in range(0, len(order), PLAIN_ROWS):
        chosen = order[first : first + PLAIN_ROWS]
        reads = nn.utils.rnn.pad_sequence([torch.tensor([*src[i], 2]) for i in chosen], batch_first=True)
        whole = nn.utils.rnn.pad_sequence([torch.tensor([1, *tgt[i], 2]) for i in chosen], batch_first=True)
        tokens = int((whole[:, 1:] != 0).sum())
        reads, whole = reads.to(device), whole.to(device)
        logits = model(reads, whole[:, :-1])
        loss_of(logits.flatten(0, 1), whole[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        yield tokens


def our_steps(
    src: list[list[int]],
    tgt: list[list[int]],
    folder: Path,
    precision: str,
    device: torch.device | str = "cpu",
    *,
    fused: bool = False,
) -> Iterator[int]:
    """Our loop over the same sentences; yields the real target tokens of each step.

    `fused` lets PyTorch's compiler fuse the model's kernels, which `train` does not: on a CPU it does not pay.
    """
    config = TrainConfig(
        name="bench", src="de", tgt="en", batch_tokens=BUDGET, schedule="noam", label_smoothing=0.1,
        precision=precision,  # type: ignore[arg-type]
    )  # fmt: skip
    shape = ModelConfig(
        VOCAB, VOCAB, d_model=WIDTH, d_ff=INNER, encoder_layers=LAYERS, decoder_layers=LAYERS,
        encoder_heads=HEADS, decoder_heads=HEADS, dropout=DROPOUT, embeddings="shared",
    )  # fmt: skip
    epochs = Epochs(["bench"] * len(src), lambda _: (src, tgt), config)
    trainer = Trainer(config, Transformer(shape).to(device), epochs, folder)
    if fused:
        trainer.trained.compile(dynamic=True)
    stream = trainer.epochs.from_(0, 0)
    while True:
        before = trainer.progress.tokens
        trainer._step(stream, Meter())
        yield trainer.progress.tokens - before


def joey_steps(src: list[list[int]], tgt: list[list[int]], device: torch.device | str = "cpu") -> Iterator[int]:
    """JoeyNMT over the batches of the plain loop; yields the real target tokens of each step."""
    torch.manual_seed(0)
    model = joey.build(VOCAB, WIDTH, INNER, LAYERS, HEADS, DROPOUT)
    return joey.steps(model, src, tgt, shuffled(len(src)), PLAIN_ROWS, device)


def rows(threads: int, runs: int, *, number: str = "10", device: torch.device | str = "cpu") -> list[Row]:
    """Seconds a real target token, ours in float32 and in bfloat16 against the peers' in float32."""
    src, tgt = sentences()
    many = src * 4, tgt * 4
    with TemporaryDirectory() as folder, Watch() as watch:
        contestants = {
            "fp32": our_steps(src, tgt, Path(folder) / "fp32", "fp32", device),
            "bf16": our_steps(src, tgt, Path(folder) / "bf16", "bf16", device),
            "torch.nn.Transformer, plain loop": plain_steps(*many, device),
        }
        if torch.device(device).type == "cuda":
            contestants["bf16, fused"] = our_steps(src, tgt, Path(folder) / "fused", "bf16", device, fused=True)
        if peers.installed("joeynmt"):
            contestants["JoeyNMT"] = joey_steps(*many, device)
        taken: dict[str, list[float]] = {name: [] for name in contestants}
        for run in range(runs + 1):
            for name, steps in contestants.items():
                settle(device)
                started = time.perf_counter()
                tokens = sum(next(steps) for _ in range(STEPS))
                settle(device)
                if run:
                    taken[name].append((time.perf_counter() - started) / tokens)
    times = {name: Times(tuple(seconds)) for name, seconds in taken.items()}
    ours = [name for name in times if name.startswith(("fp32", "bf16"))]
    theirs = [name for name in times if name not in ours]
    out = []
    for peer in theirs:
        for name in ours:
            ratio, low, high = compare(times[name], times[peer])
            speed = {"tokens_per_second": 1 / times[name].median, "peer_tokens_per_second": 1 / times[peer].median}
            what = f"training, {name}, 3 + 3 layers, d 256, dropout 0.3"
            row = Row(
                number, what, f"{peer}, fp32", ratio, "≥ 1.5 ×", ratio >= 1.5, threads, low, high, watch.others,
                detail=speed,
            )  # fmt: skip
            out.append(row)
    return out
