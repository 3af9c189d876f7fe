"""`python -m benchmarks.eight_bits --data DIR`: what `precision="int8"` changes in the checkpoints that are shipped.

DIR holds `de-en` and `en-zh`. BLEU of greedy search over each test file, and over its first 60 sentences the largest
difference of any cell of any map, the translation forced: by compiled steps, which read bytes, and by one replay.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

import translator
from benchmarks.decoding import kept
from translator.config import DecodeConfig
from translator.decode import Replay, encode, recorded, replay, search
from translator.engine import Engine
from translator.training.data import find_split, grouped, read_pairs
from translator.training.evaluate import evaluate_file
from translator.ui.models import DIRECTIONS

SENTENCES = 60
MAPS = ("encoder", "decoder", "cross")


def largest(one: Replay, other: Replay) -> float:
    """The largest difference of any cell of any map."""
    return max(float(np.abs(getattr(one, name) - getattr(other, name)).max()) for name in MAPS)


def by_steps(engine: Engine, src: Sequence[int], tgt: Sequence[int]) -> Replay:
    """The maps of a forced target as the steps saw them."""
    encoded = encode(engine, src)
    config = DecodeConfig(method="greedy")
    return recorded(encoded, *kept(search(engine, src, config, max_length=len(tgt), prefix=tgt, encoded=encoded)))


def main() -> None:
    """Measure and print, one line a checkpoint."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eight_bits", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of both pairs' data")
    data = parser.parse_args().data
    torch.set_num_threads(1)
    for name in DIRECTIONS:
        whole, small = (translator.load(name, device="cpu", precision=precision) for precision in ("fp32", "int8"))
        small.compile(wait=True)
        test = find_split(data / name, "test")
        scores = [evaluate_file(each, test, method="greedy").score.bleu for each in (whole, small)]
        steps, passes = [], []
        for text in grouped(read_pairs(test))[0][:SENTENCES]:
            trace = whole.translate(text, method="greedy")
            src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))
            want = replay(whole.engine, src, tgt)
            steps.append(largest(by_steps(small.engine, src, tgt), want))
            passes.append(largest(replay(small.engine, src, tgt), want))
        maps = ", ".join(
            f"{what} at most {max(found):.4f}, median {statistics.median(found):.4f}"
            for what, found in (("steps", steps), ("replay", passes))
        )
        print(f"{name}: BLEU {scores[0]:.2f} → {scores[1]:.2f}; maps: {maps}")


if __name__ == "__main__":
    main()
