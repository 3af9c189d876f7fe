"""Everyday sets are drawn once and for all, and nothing near them is left to train on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from translator.__main__ import main
from translator.config import from_dict
from translator.errors import InputError
from translator.training.data import Pair, read_pairs
from translator.training.hold_out import Copies, HoldOut, plain, prepare, runs

LONG = "the {} man in the {} house gave his {} to me"
WORDS = ("old", "young", "red", "small", "white", "tall", "blue", "quiet", "new", "large")


def sentences() -> list[tuple[str, str]]:
    found = [LONG.format(a, b, c) for a in WORDS for b in WORDS for c in ("book", "hat", "key", "bread")]
    return [(f"{text} {n} times {n + 1}.", f"{text[::-1]} {n}.") for n, text in enumerate(found)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Train and extra of four hundred sentences each, of which those of two words apart are near copies."""
    folder = tmp_path / "data" / "de-en"
    folder.mkdir(parents=True)
    (tmp_path / "data" / "mono").mkdir()
    lines = [f"{src}\t{tgt}\tstories\n" for src, tgt in sentences()]
    other = [f"numbers {n} {n * n} {n + 7}\tzahlen {n} {n * n}\tnumbers\n" for n in range(300)]
    copy = "THE OLD MAN, in the old house, gave his book to me 0 times 1!\tnobody knows this\tnumbers\n"
    with gzip.open(folder / "extra.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(lines)
    (folder / "train.tsv").write_text("".join([*other, copy]), encoding="utf-8")
    (folder / "dev.tsv").write_text("eins\tone\ttatoeba\n", encoding="utf-8")
    (folder / "test.tsv").write_text("zwei\ttwo\ttatoeba\n", encoding="utf-8")
    with gzip.open(tmp_path / "data" / "mono" / "de.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{src}\tvoice\n" for src, _ in sentences())
        file.writelines(f"Ein Satz Nummer {n}.\tvoice\nNicht dieser {n}.\tother\n" for n in range(9))
    return tmp_path / "data"


def plan(**changes: object) -> HoldOut:
    return from_dict(HoldOut, {"sides": ["de", "en"], "draw": {"stories": 3}, "mono": {"voice": 1}, **changes})


@pytest.mark.slow
def test_sets_and_their_near_copies_are_taken_out(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = prepare(plan(), data, out)
    held = [*read_pairs(out / "everyday-dev.tsv.gz"), *read_pairs(out / "everyday-test.tsv.gz")]
    assert told["everyday-dev"] == 2 and told["everyday-test"] == 1 and len(set(held)) == 3
    near = Copies(held)
    train = read_pairs(out / "train.tsv.gz")
    assert told["train"] == len(train) and not any(near.has(pair) for pair in train)
    assert sum(pair.corpus == "numbers" for pair in train) >= 300  # what is unlike them stays
    alone = gzip.decompress((out / "monolingual.txt.gz").read_bytes()).decode().splitlines()
    assert len(alone) == told["monolingual"] and not any(near.holds(text, 0) for text in alone)
    assert "Ein Satz Nummer 3." in alone and "Nicht dieser 3." not in alone
    assert (out / "dev.tsv").read_text(encoding="utf-8") == "eins\tone\ttatoeba\n" and (out / "test.tsv").exists()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        prepare(plan(), data, tmp_path / name)
    prepare(plan(seed=2), data, tmp_path / "other")
    files = ("train.tsv.gz", "everyday-dev.tsv.gz", "everyday-test.tsv.gz", "monolingual.txt.gz")
    one, two, other = ([(tmp_path / name / file).read_bytes() for file in files] for name in ("one", "two", "other"))
    assert one == two and one[1] != other[1]


@pytest.mark.slow
def test_a_share_of_a_corpus_can_be_kept(data: Path, tmp_path: Path) -> None:
    prepare(plan(keep={"numbers": 0.25}), data, tmp_path / "out")
    kept = sum(pair.corpus == "numbers" for pair in read_pairs(tmp_path / "out" / "train.tsv.gz"))
    assert 40 < kept < 120


@pytest.mark.slow
def test_sentences_of_another_pair_join_the_monolingual_ones(data: Path, tmp_path: Path) -> None:
    folder = data / "fr-de"
    folder.mkdir()
    held = sentences()[5][0]
    lines = [*(f"phrase {n}\tAus dem andern Paar {n}.\tsolo\n" for n in range(40)), f"copie\t{held}\tsolo\n"]
    (folder / "train.tsv").write_text("".join([*lines, "non\tNicht von hier.\tother\n"]), encoding="utf-8")
    chosen = plan(draw={"stories": 400}, mono={"voice": 1}, other={"fr-de": {"solo": 0.5}})  # every story is held
    told = prepare(chosen, data, tmp_path / "out")
    alone = gzip.decompress((tmp_path / "out" / "monolingual.txt.gz").read_bytes()).decode().splitlines()
    joined = [text for text in alone if text.startswith("Aus dem andern")]
    assert 10 < len(joined) < 30 and len(alone) == told["monolingual"] == len(joined) + 9
    without = plan(draw={"stories": 400}, mono=None, other={"fr-de": {"solo": 1}})
    assert prepare(without, data, tmp_path / "out")["monolingual"] == 40


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("A B C D E F G H", True),  # equal but for case
        ("a, b c d e f g h!", True),
        ("a b c d e x y z", True),  # three of its six runs of three words
        ("a b c d x e f y", False),  # two
        ("h g f e d c b a", False),
    ],
)
def test_near_is_half_of_the_runs(text: str, near: bool) -> None:
    assert Copies([Pair("a b c d e f g h", "一二三四五六七八九", "c")]).holds(text, 0) is near


def test_either_side_tells_a_near_copy() -> None:
    near = Copies([Pair("a b c d", "我们昨天在车站见到了他。", "c")])
    assert near.has(Pair("quite another", "我们昨天在车站见到了她！", "c"))
    assert not near.has(Pair("quite another", "昨天下雨了，我们没有出门。", "c"))


def test_text_is_compared_without_case_and_punctuation() -> None:
    assert plain("Don't — SHOUT!") == "don t shout"
    assert runs("One two, three four") == {("one", "two", "three"), ("two", "three", "four")}
    assert runs("short") == {("short",)} and runs("...") == set()
    assert ("我", "们", "在", "车", "站", "见") in runs("我们，在车站见。")


def test_what_cannot_be_drawn_is_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stories has 400 pairs of 8 to 20 words, not 500"):
        prepare(plan(draw={"stories": 500}), data, tmp_path / "out")
    for changes, words in (({"draw": {}}, "draw"), ({"sides": ["de"]}, "sides"), ({"least": 30}, "least is 30"),
                           ({"draw": {"a": 0}}, "draw.a is 0"), ({"mono": {"a": 2}}, "mono.a is 2"),
                           ({"keep": {"a": -1}}, "keep.a is -1"), ({"other": {"en-zh": {}}}, "other is 'en-zh'"),
                           ({"other": {"de-en": {"a": 2}}}, "other.de-en.a is 2")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            plan(**changes)


@pytest.mark.slow
def test_the_command_writes_what_train_reads(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "hold.json"
    config.write_text(json.dumps({"sides": ["de", "en"], "draw": {"stories": 3}}), encoding="utf-8")
    assert main(["prepare", str(config), "--data", str(data), "--out", str(tmp_path / "out")]) == 0
    assert "everyday-dev: 2" in capsys.readouterr().out
    config.write_text(json.dumps({"sides": ["de", "en"], "drew": {}}), encoding="utf-8")
    assert main(["prepare", str(config), "--data", str(data), "--out", str(tmp_path / "out")]) == 2
    assert "drew" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["de-en", "en-zh"])
def test_the_kept_recipes_draw_enough(name: str) -> None:
    values = json.loads((Path(__file__).parents[2] / "configs" / f"data-{name}.json").read_text(encoding="utf-8"))
    found = from_dict(HoldOut, values)
    assert sum(found.draw.values()) >= 1600 and len(found.draw) > 3
    assert (found.least, found.most) == (8, 20) and "tatoeba" not in found.draw


@pytest.mark.slow
def test_target_sentences_alone_are_kept_by_share(data: Path, tmp_path: Path) -> None:
    """Of the target's monolingual file and of another pair's corpora, without near copies of held targets."""
    with gzip.open(data / "mono" / "en.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{tgt}\tvoice\n" for _, tgt in sentences())
        file.writelines(f"Sentence number {n} stands here.\tvoice\nNot this {n}.\tother\n" for n in range(9))
    (data / "en-zh").mkdir()
    lines = (f"A word {n} of {n * n}.\t\u8bcd {n}\t{'talk' if n % 2 else 'docs'}\n" for n in range(40))
    (data / "en-zh" / "train.tsv").write_text("".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    told = prepare(plan(target_mono={"voice": 1}, target_other={"en-zh": {"talk": 1}}), data, out)
    alone = gzip.decompress((out / "monolingual-target.txt.gz").read_bytes()).decode().splitlines()
    near = Copies([*read_pairs(out / "everyday-dev.tsv.gz"), *read_pairs(out / "everyday-test.tsv.gz")])
    assert len(alone) == told["monolingual-target"] and not any(near.holds(text, 1) for text in alone)
    assert sum(text.startswith("Sentence number") for text in alone) == 9
    assert sum(text.startswith("A word") for text in alone) == 20 and not any("Not this" in text for text in alone)
    with pytest.raises(InputError, match=r"target_other is .*pairs of languages with en"):
        plan(target_other={"de-fr": {"talk": 1}})


@pytest.mark.slow
def test_another_target_language_joins_train_behind_its_tag(data: Path, tmp_path: Path) -> None:
    """Sources in the pair's own direction, without near copies of held sources; the rest of train is as without."""
    (data / "fr-de").mkdir()
    held = sentences()[5][0]
    lines = [*(f"phrase {n}\tAus dem andern Paar {n}.\tsolo\n" for n in range(40)), f"copie\t{held}\tsolo\n"]
    (data / "fr-de" / "train.tsv").write_text("".join([*lines, "non\tNicht von hier.\tother\n"]), encoding="utf-8")
    chosen = {"draw": {"stories": 400}, "keep": {"numbers": 0.5}}  # every story is held
    counts = [prepare(plan(**chosen, **more), data, tmp_path / name)["train"]
              for name, more in (("alone", {}), ("both", {"beside": {"fr-de": {"solo": 1}}}))]  # fmt: skip
    alone, both = (read_pairs(tmp_path / name / "train.tsv.gz") for name in ("alone", "both"))
    assert [len(alone), len(both)] == counts and both[: len(alone)] == alone
    assert both[len(alone) :] == [Pair(f">>fr<< Aus dem andern Paar {n}.", f"phrase {n}", "fr-de") for n in range(40)]
    with pytest.raises(InputError, match=r"beside is .*pairs of languages with de"):
        plan(beside={"en-zh": {"solo": 1}})
