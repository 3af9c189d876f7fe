"""How sentences vary from epoch to epoch: careless typing, other names and numbers, sentences joined."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from translator.config import TextConfig
from translator.text import SubwordTokenizer
from translator.training.config import TrainConfig
from translator.training.data import Epochs, Pair, copies
from translator.training.encoder import Encoder
from translator.training.join import joined, may_join
from translator.training.vary import careless, recopied


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def every_way(text: str, language: str) -> set[str]:
    draw = rng()
    return {careless(text, language, draw) for _ in range(300)}


def test_careless_english_is_what_fingers_do() -> None:
    found = every_way("I'm sure, he doesn't know.", "en")
    assert {"i'm sure, he doesn't know.", "I'M SURE, HE DOESN'T KNOW.", "I'm sure, he doesn't know"} <= found
    assert "im sure he doesnt know" in found


def test_careless_german_may_lack_its_letters() -> None:
    found = every_way("Übrigens heißt die Straße so.", "de")
    assert "Uebrigens heisst die Strasse so." in found
    assert not any("ue" in text.lower() for text in every_way("Über uns", "en"))


def test_a_text_never_becomes_empty() -> None:
    assert all(every_way("?", "en")) and all(every_way("...", "de"))


@pytest.mark.parametrize(
    ("src", "tgt", "sides"),
    [
        ("We met Kowalski in 1987.", "我们1987年见到了Kowalski。", ("en", "zh")),
        ("Wir trafen Kowalski 1987.", "We met Kowalski in 1987.", ("de", "en")),
        ("Yesterday Tom came at 7:30.", "昨天汤姆7:30来了。", ("en", "zh")),
    ],
)
def test_what_both_sides_share_is_replaced_on_both(src: str, tgt: str, sides: tuple[str, str]) -> None:
    new = recopied(Pair(src, tgt, "c"), sides, rng())
    assert new.src != src and new.tgt != tgt and new.corpus == "c"
    for known in ("Kowalski", "1987", "Tom", "汤姆", "7:30"):
        assert known not in new.src and known not in new.tgt
    names = [word.strip(".") for word in new.src.split() if word.strip(".") not in src]
    assert names and all(name in new.tgt for name in names)  # what is new is to be copied


def test_a_number_keeps_its_form() -> None:
    new = recopied(Pair("It costs 12,500 here.", "这里要12,500。", "c"), ("en", "zh"), rng()).src.split()[2]
    assert len(new) == 6 and new[2] == "," and new[0] != "0" and new.replace(",", "").isdigit()


@pytest.mark.parametrize(
    ("src", "tgt", "sides"),
    [
        ("He came in 1987.", "他来了。", ("en", "zh")),  # the target has it not
        ("Tom saw Tom.", "汤姆看见了汤姆。", ("en", "zh")),  # which is which?
        ("Winter is cold.", "Winter的人。", ("en", "zh")),  # a capital that begins the sentence tells nothing
        ("Er fand Hand gut.", "He found Handsome good.", ("de", "en")),  # a piece of another word
    ],
)
def test_what_is_not_surely_the_same_stays(src: str, tgt: str, sides: tuple[str, str]) -> None:
    assert recopied(Pair(src, tgt, "c"), sides, rng()) == Pair(src, tgt, "c")


def test_only_sentences_of_one_corpus_are_joined() -> None:
    corpora = ["a", "b"] * 200
    places = np.arange(400)
    found = joined(corpora, places, 0.5, rng())
    assert {len(group) for group in found} == {2, 3}
    assert all(len({corpora[place] for place in group}) == 1 for group in found)
    taken = Counter(place for group in found for place in group)
    assert max(taken.values()) == 1 and 150 < len(taken) < 250
    assert not joined(corpora, places, 0.0, rng()) and not joined(corpora, places[:0], 1.0, rng())


def test_only_what_ends_may_be_followed() -> None:
    assert may_join("He left.", "他走了。") and may_join("Why not?", "为什么不？")
    assert not may_join("the wind", "风") and not may_join("He left", "他走了。") and not may_join("No.", "不")


def test_what_is_joined_is_met_beside_its_parts() -> None:
    src, tgt = [[10 + i] for i in range(40)], [[100 + i, 7] for i in range(40)]
    config = TrainConfig("n", "de", "en", join=1.0, batch_tokens=60, max_tokens=20)
    joins = [i % 2 == 0 for i in range(40)]
    plan, sources, targets = Epochs(["a"] * 40, lambda epoch: (src, tgt), config, joins=joins).plan(0)
    met = [(tuple(sources[j]), tuple(targets[j])) for batch in plan for j in batch]
    assert sorted(pair for pair in met if len(pair[0]) == 1) == sorted(
        (tuple(a), tuple(b)) for a, b in zip(src, tgt, strict=True)
    )
    together = [pair for pair in met if len(pair[0]) > 1]
    assert len(together) >= 6
    for source, target in together:
        assert all((id_ - 10) % 2 == 0 for id_ in source)
        assert list(target) == [token for id_ in source for token in (id_ + 90, 7)]  # side by side, in one order
    assert sum(len(source) for source, _ in together) in (19, 20)  # an odd one stays alone


def test_a_factor_multiplies_the_weight_of_a_corpus() -> None:
    taken = np.bincount(copies(["a", "a", "b"], {"b": 2.0}, rng(), [1.0, 3.0, 1.5]), minlength=3)
    assert taken.tolist() == [1, 3, 3]


def encoder(tmp_path: Path, **settings: float) -> tuple[Encoder, SubwordTokenizer]:
    pairs = [Pair(f"Then Karl saw {n} Dogs.", f"Dann sah Karl {n} Hunde.", "c") for n in range(100, 160)]
    text = [text for pair in pairs for text in (pair.src, pair.tgt)] + ["abcdefghijklmnopqrstuvwxyz."]
    tokenizer = SubwordTokenizer.train(text, TextConfig("en"), 400)
    return Encoder(pairs, tokenizer, tokenizer, TrainConfig("n", "en", "de", **settings)), tokenizer  # type: ignore[arg-type]


def test_an_epoch_has_its_own_noise_and_can_be_made_again(tmp_path: Path) -> None:
    encode, tokenizer = encoder(tmp_path, noise=0.5)
    plain = [pair.src for pair in encode.pairs]
    first, second = ([tokenizer.decode(ids) for ids in encode(epoch)[0]] for epoch in (0, 1))
    changed = sum(a != b for a, b in zip(first, plain, strict=True))
    assert 15 < changed < 45 and first != second
    assert [tokenizer.decode(ids) for ids in encoder(tmp_path, noise=0.5)[0](0)[0]] == first
    assert [tokenizer.decode(ids) for ids in encode(0)[1]] == [pair.tgt for pair in encode.pairs]  # the target never


def test_other_names_and_numbers_stand_on_both_sides(tmp_path: Path) -> None:
    encode, tokenizer = encoder(tmp_path, recopied=1.0)
    src, tgt = ([tokenizer.decode(ids) for ids in side] for side in encode(3))
    for source, target in zip(src, tgt, strict=True):
        name, number = source.split()[1], source.split()[3]
        assert name != "Karl" and target == f"Dann sah {name} {number} Hunde."


def test_without_either_the_same_ids_come_back(tmp_path: Path) -> None:
    encode, _ = encoder(tmp_path)
    assert encode(0)[0] is encode(1)[0] and encode(0)[1] is encode(1)[1]
