"""Corpus files, the plan of an epoch, and batches."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from translator.config import ModelConfig
from translator.decode import replay
from translator.engine import EagerEngine
from translator.errors import InputError
from translator.model import Transformer
from translator.training.config import TrainConfig
from translator.training.data import Epochs, Pair, batches, collate, copies, find_split, grouped, read_pairs


def test_plain_and_gzip_files_read_the_same(tmp_path: Path) -> None:
    text = "Guten Tag\tGood day\ta\nJa\u2028doch\tYes\tb\n"
    (tmp_path / "train.tsv").write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / "dev.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    found = read_pairs(find_split(tmp_path, "train"))
    assert found == [Pair("Guten Tag", "Good day", "a"), Pair("Ja\u2028doch", "Yes", "b")]
    assert read_pairs(find_split(tmp_path, "dev")) == found


@pytest.mark.parametrize(
    ("line", "flaw"),
    [("a\tb", "2 columns"), ("a\tb\tc\td", "4 columns"), ("a\t\tc", "column 2 is empty"), ("", "1 columns")],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, flaw: str) -> None:
    path = tmp_path / "train.tsv"
    path.write_text(f"a\tb\tc\na\tb\tc\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"train.tsv line 3: {flaw}"):
        read_pairs(path)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no train.tsv.gz"):
        find_split(tmp_path, "train")
    whole = gzip.compress(b"a\tb\tc\n" * 1000)
    for name, content in (("cut.tsv.gz", whole[:-9]), ("latin.tsv", b"\xe4\tb\tc\n"), ("plain.tsv.gz", b"a\tb\tc\n")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} cannot be read"):
            read_pairs(tmp_path / name)
    (tmp_path / "empty.tsv").touch()
    with pytest.raises(InputError, match="holds no sentence pairs"):
        read_pairs(tmp_path / "empty.tsv")


def test_references_are_grouped_by_source() -> None:
    pairs = [Pair(src, tgt, "x") for src, tgt in (("a", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("c", "5"))]
    assert grouped(pairs) == (["a", "b", "c"], [["1", "2"], ["3"], ["4", "5"]])


def test_a_corpus_takes_part_as_often_as_it_weighs() -> None:
    corpora = ["once"] * 1000 + ["half"] * 1000 + ["more"] * 1000 + ["out"] * 1000
    weights = {"half": 0.5, "more": 2.25, "out": 0}
    index = copies(corpora, weights, np.random.default_rng(0))
    count = np.bincount(index, minlength=4000).reshape(4, 1000)
    assert (count[0] == 1).all() and (count[3] == 0).all()
    assert set(count[1]) == {0, 1} and 450 < count[1].sum() < 550
    assert set(count[2]) == {2, 3} and 2200 < count[2].sum() < 2300
    again = copies(corpora, weights, np.random.default_rng(1))
    assert not np.array_equal(index, again)  # a fresh sample each epoch


def test_batches_keep_their_budget_and_hold_every_index_exactly_once() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 60, (700, 2))
    order = np.repeat(np.arange(700), rng.integers(0, 3, 700))
    plan = batches(order, lengths, 400, np.random.default_rng(1))
    assert sorted(np.concatenate(plan)) == sorted(order)
    for rows in plan:
        assert lengths[rows].max() * len(rows) <= 400
    padded = sum(lengths[rows, 1].max() * len(rows) for rows in plan)
    assert lengths[order, 1].sum() / padded > 0.9  # neighbours in length: little padding
    assert [len(rows) for rows in plan] != sorted((len(rows) for rows in plan), reverse=True)  # shuffled


def test_a_sentence_larger_than_the_budget_goes_alone() -> None:
    plan = batches(np.arange(3), np.array([[90, 3], [4, 4], [4, 4]]), 10, np.random.default_rng(0))
    assert sorted(map(len, plan)) == [1, 2]


def epochs(**changes: object) -> Epochs:
    config = TrainConfig("n", "de", "en", batch_tokens=60, max_tokens=10, corpora={"b": 0.5}, **changes)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    src, tgt = ([[i] * int(n) for i, n in enumerate(rng.integers(0, 13, 80))] for _ in range(2))
    return Epochs(["a", "b"] * 40, lambda epoch: (src, tgt), config)


def test_an_epoch_is_a_matter_of_its_number_and_of_the_seed() -> None:
    def taken(seed: int, epoch: int, index: int) -> list[list[list[int]]]:
        stream = epochs(seed=seed).from_(epoch, index)
        return [next(stream)[2] for _ in range(20)]

    assert taken(1, 0, 0) == taken(1, 0, 0)
    assert taken(1, 0, 0) != taken(2, 0, 0)
    assert taken(1, 0, 0)[5:] == taken(1, 0, 5)[:15]  # and one can begin anywhere
    plans = [len(epochs().plan(epoch)[0]) for epoch in range(2)]
    stream = epochs().from_(0, 0)
    seen = [next(stream)[:2] for _ in range(sum(plans))]
    assert seen == [(epoch, i) for epoch, n in enumerate(plans) for i in range(n)]


def test_blank_and_overlong_pairs_are_left_out() -> None:
    one = epochs()
    plan, src, tgt = one.plan(0)
    for j in np.concatenate(plan):
        assert 1 <= len(src[j]) <= 9 and 1 <= len(tgt[j]) <= 9  # EOS makes 10
    with pytest.raises(InputError, match="raise max_tokens"):
        Epochs(["a"], lambda epoch: ([[5] * 20], [[5] * 20]), one.config).plan(0)


def shape(**changes: object) -> ModelConfig:
    sizes = {"d_model": 16, "d_ff": 16, "encoder_heads": 2, "decoder_heads": 2, "max_positions": 16}
    return ModelConfig(20, 20, **{**sizes, "encoder_layers": 2, "decoder_layers": 1, **changes})  # type: ignore[arg-type]


def test_a_batch_by_hand() -> None:
    batch = collate([[7, 8], [9]], [[4], [5, 6]], shape())
    assert batch.src.tolist() == [[7, 8, 2], [9, 2, 0]]
    assert batch.src_keep.tolist() == [[True] * 3, [True, True, False]]
    assert batch.tgt_in.tolist() == [[1, 4, 0], [1, 5, 6]]
    assert batch.rows.tolist() == [0, 1, 3, 4, 5]
    assert batch.targets.tolist() == [4, 2, 5, 6, 2]


def test_a_model_that_attends_to_padding_trains_on_what_it_will_decode() -> None:
    torch.manual_seed(0)
    model = Transformer(shape(padded_length=9)).eval()
    src, tgt = [[7, 8, 9], [11]], [[4, 5], [6]]
    batch = collate(src, tgt, model.config)
    assert batch.src.shape == (2, 9) and batch.src_keep.all()
    log_probs = model(batch.src, batch.tgt_in, batch.src_keep).log_softmax(-1)
    for row in range(2):
        produced = [*tgt[row], 2]
        want = replay(EagerEngine(model), [*src[row], 2], produced).log_probs
        found = log_probs[row, range(len(produced)), produced].detach().numpy()
        np.testing.assert_allclose(found, want, atol=1e-5)


def test_a_doubled_batch_holds_every_sentence_twice() -> None:
    shape = ModelConfig(src_vocab=20, tgt_vocab=20, d_model=16, d_ff=32, encoder_heads=2, decoder_heads=2)
    torch.manual_seed(0)
    model = Transformer(shape).eval()
    batch = collate([[5, 6, 7], [8]], [[9], [10, 11, 12]], shape)
    twice = batch.doubled()
    once, both = (model(each.src, each.tgt_in, each.src_keep, each.rows) for each in (batch, twice))
    torch.testing.assert_close(both, torch.cat([once, once]))
    assert twice.targets.tolist() == batch.targets.tolist() * 2
