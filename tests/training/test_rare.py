"""Pairs with rare words in the place of common ones: both sides change together, and nothing else does."""

from __future__ import annotations

import gzip
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import translator
from translator.__main__ import main
from translator.errors import InputError
from translator.training.data import Pair, read_pairs
from translator.training.dictionary import Dictionary
from translator.training.rare import CORPUS, Made, Neighbours, RarePlan, Slot, candidates, find_slots, losses, surest
from translator.training.self_training import Teacher

NOUNS = {"house": "Haus", "tree": "Baum", "river": "Fluss", "garden": "Garten", "yacht": "Jacht", "apple": "Apfel"}
VERBS = {"see": "sehen", "paint": "malen", "scan": "abtasten"}
NAMES = {"Anna": "Anna", "Berlin": "Berlin", "Perth": "Perth"}
ENTRIES = [
    *(Pair(word, text, "dictionary") for word, text in (NOUNS | NAMES).items()),
    *(Pair(f"to {word}", text, "dictionary") for word, text in VERBS.items()),
]
PLAN = RarePlan(tried=500)


def sentences() -> list[Pair]:
    """One of each noun, verb and name that are not rare, often enough to be common."""
    draw = random.Random(3)
    frames = [
        ("We want to {v} the {n} in {p}.", "Wir wollen das {n} in {p} {v}."),
        ("The {n} of {p} is old, they {v} it.", "Das {n} von {p} ist alt, sie {v} es."),
    ]
    found = []
    for number in range(400):
        src, tgt = draw.choice(frames)
        noun, verb = draw.choice([*NOUNS][:4]), draw.choice([*VERBS][:2])
        name = draw.choice([*NAMES][:2])
        words = {"n": noun, "v": verb, "p": name}, {"n": NOUNS[noun], "v": VERBS[verb], "p": NAMES[name]}
        found.append(Pair(src.format(**words[0]) + "!" * (number % 3), tgt.format(**words[1]), "talk"))
    return found


EVERY = "We want to scan the yacht in Perth. The yacht of Perth is old, they scan it. The apple is old in the apple of."


def made_of(
    rare: list[str], pairs: list[Pair], *, text: str = EVERY, entries: list[Pair] = ENTRIES, plan: RarePlan = PLAN
) -> list[Made]:
    """The pairs made for `rare` words, met in `text` alone, by a language without jieba."""
    dictionary = Dictionary(entries, ("en", "de"), {})
    near = Neighbours([*(pair.src for pair in pairs), *re.split(r"(?<=\.) ", text)])
    return list(candidates(rare, pairs, dictionary, near, plan))


@pytest.mark.slow
def test_both_sides_are_replaced_and_nothing_else() -> None:
    pairs = sentences()
    made = made_of(["yacht", "scan", "perth"], pairs)
    kinds = {"yacht": ("Jacht", NOUNS), "scan": ("abtasten", VERBS), "perth": ("Perth", NAMES)}
    assert {each.word for each in made} == set(kinds) and len(made) > 1000
    for each in made:
        before, (text, others) = pairs[each.slot.pair], kinds[each.word]
        written = "Perth" if each.word == "perth" else each.word
        wanted = set()
        for word, own in others.items():
            if re.search(rf"\b{word}\b", before.src):
                wanted.add((re.sub(rf"\b{word}\b", written, before.src), re.sub(rf"\b{own}\b", text, before.tgt)))
        assert (each.pair.src, each.pair.tgt) in wanted and each.pair.corpus == CORPUS
        assert each.pair.tgt[slice(*each.tgt)] == text
    assert len({(each.word, each.slot.pair) for each in made}) == len(made)  # each sentence once for a word


@pytest.mark.parametrize(
    "pair",
    [
        Pair("We see the house and the house in Berlin.", "Wir sehen das Haus in Berlin.", "x"),
        Pair("We see the house here in Berlin.", "Wir sehen das Haus beim Haus in Berlin.", "x"),
        Pair("We see the house by the yacht in Berlin.", "Wir sehen das Haus in Berlin.", "x"),
        Pair("We see the house here in Berlin.", "Wir sehen das Haus und die Jacht in Berlin.", "x"),
        Pair("We see the house and the home in Berlin.", "Wir sehen das Haus in Berlin.", "x"),
        Pair("We see the house-boat here in Berlin.", "Wir sehen das Haus in Berlin.", "x"),
        Pair("We see the HOUSE here in Berlin.", "Wir sehen das Haus in Berlin.", "x"),
        Pair("We see the house here in Berlin.", "Wir sehen das Hausboot in Berlin.", "x"),
        Pair("The house!", "Das Haus!", "x"),
    ],
)
def test_a_word_stands_in_one_place_of_each_side(pair: Pair) -> None:
    entries = [*ENTRIES, Pair("home", "Haus", "dictionary")]
    good = Pair("We see the house here in Berlin.", "Wir sehen das Haus in Berlin.", "x")
    near = "the yacht here. the yacht and. the yacht by. the yacht boat."
    made = made_of(["yacht"], [*sentences(), pair, good], text=near, entries=entries)
    assert [each.slot.pair for each in made if each.slot.pair >= 400] == [401]


@pytest.mark.slow
def test_the_kind_and_the_neighbours_must_agree() -> None:
    pairs = sentences()
    assert all(each.slot.left == "the" for each in made_of(["yacht"], pairs))
    assert {each.slot.right for each in made_of(["yacht"], pairs, text="the yacht of.")} == {"of"}
    assert not made_of(["yacht"], pairs, text="my yacht of.")  # no such word stands left of any noun
    assert not made_of(["yachts"], pairs, text="the yachts in. the yachts of.")  # plural: no common word is
    plural = [Pair(re.sub(r"(house|tree|river|garden)", r"\1s", pair.src), pair.tgt, pair.corpus) for pair in pairs]
    made = made_of(["yachts"], plural, text="the yachts in. the yachts of.")
    assert made and all("yachts" in each.pair.src and "Jacht" in each.pair.tgt for each in made)
    assert not made_of(["yacht"], plural)
    assert not made_of(["scan"], pairs, text="the scan of.")  # a verb
    assert made_of(["scan"], pairs, text="the scan of.", entries=[*ENTRIES, Pair("scan", "Scan", "dictionary")])


def test_words_with_the_same_translation_tell_neighbours() -> None:
    entries = [*ENTRIES, Pair("ketch", "Jacht", "dictionary")]
    made = made_of(["ketch"], sentences(), text="The yacht of.", entries=entries)
    assert made and {(each.slot.left, each.slot.right) for each in made} == {("the", "of")}


def test_an_article_keeps_its_form() -> None:
    pairs = [Pair(f"There is a house {n} in Berlin.", f"Es gibt ein Haus {n} in Berlin.", "x") for n in range(60)]
    near = "a yacht in. a apple in. a yacht. a apple."
    made = made_of(["yacht", "apple"], pairs, text=near)
    assert {each.word for each in made} == {"yacht"}


def test_a_sentence_begins_with_a_capital() -> None:
    pairs = [Pair(f"House {n} is in this street.", f"Haus {n} ist in dieser Straße.", "x") for n in range(60)]
    made = made_of(["yacht"], pairs, text="Yacht is.")
    assert made and all(re.fullmatch(r"Yacht \d+ is in this street\.", each.pair.src) for each in made)


@pytest.mark.slow
def test_chinese_words_are_jieba_s() -> None:
    """The tags of its dictionary are the kinds; a verb's entry has "to", an adjective's 的."""
    rows = {
        "book": "书",
        "magazine": "杂志",
        "to read": "读",
        "to recite": "朗诵",
        "red": "红色的",
        "crimson": "深红的",
    }
    entries = [Pair(word, text, "cedict") for word, text in rows.items()]
    dictionary = Dictionary(entries, ("en", "zh"), {"昨天": "yesterday"})
    kinds = {word: {dictionary.kind(word, each)[2] for each in dictionary.meanings(word)} for word in
             ("book", "magazine", "read", "recite", "red", "crimson", "yesterday")}  # fmt: skip
    assert kinds["book"] == kinds["magazine"] == {"n"} and kinds["read"] == kinds["recite"] == {"v"}
    assert kinds["red"] == kinds["crimson"] == {"a"} and dictionary.meanings("red")[0].text == "红色"
    assert dictionary.meanings("yesterday")[0].text == "昨天" and kinds["yesterday"] == {"t"}
    noun = Dictionary([Pair("choice", "选择", "cedict"), Pair("to pick", "选择", "cedict")], ("en", "zh"), {})
    assert [noun.kind(word, noun.meanings(word)[0])[2] for word in ("choice", "pick")] == ["vn", "v"]
    pairs = [Pair(f"He has to read {n}. The book is good.", f"他必须读{n}。书很好。", "x") for n in range(60)]
    near = Neighbours([*(pair.src for pair in pairs), "to recite the", "the magazine is"])
    made = list(candidates(["recite", "magazine"], pairs, dictionary, near, PLAN))
    assert {each.word for each in made} == {"recite", "magazine"}
    for each in made:
        n = re.findall(r"\d+", each.pair.src)[0]
        swapped = {
            "recite": (f"He has to recite {n}. The book is good.", f"他必须朗诵{n}。书很好。"),
            "magazine": (f"He has to read {n}. The magazine is good.", f"他必须读{n}。杂志很好。"),
        }
        assert (each.pair.src, each.pair.tgt) == swapped[each.word]


def test_what_is_lost_is_the_mean_over_the_other_tokens(tiny_checkpoint: Path) -> None:
    """As `force` tells it, one sentence at a time."""
    model = translator.load(tiny_checkpoint, device="cpu")
    before = Pair("Ich renne in den Park.", "I run into the park.", "x")
    after = Pair("Ich renne in das Haus.", "I run into the house.", CORPUS)
    slot = Slot(0, (17, 21), (15, 19), "den", "")
    made = Made("haus", slot, after, (15, 20))

    def rest(pair: Pair, start: int, end: int) -> float:
        trace = model.force(pair.src, pair.tgt)
        kept = [s.log_prob for s, t in zip(trace.steps, trace.tgt, strict=True)
                if t.special or t.span is None or t.span[1] <= start or t.span[0] >= end]  # fmt: skip
        assert len(kept) < len(trace.steps)
        return sum(kept) / len(kept)

    bundle = model.bundle
    found = losses(Teacher(bundle.model, bundle.src, bundle.tgt), [made, made], [before])
    assert found == pytest.approx([rest(before, 15, 19) - rest(after, 15, 20)] * 2, abs=1e-4)


def test_the_surest_are_kept() -> None:
    slot = Slot(0, (0, 1), (0, 1), "", "")
    made = [Made(word, replace(slot, pair=n), Pair(str(n), "x", CORPUS), (0, 1)) for n, word in enumerate("aaaabb")]
    lost = [0.2, -0.1, 0.31, 0.1, 0.4, 0.3]
    assert surest(made, lost, RarePlan(most=2)) == [made[1], made[3], made[5]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """What training reads for German to English, the toy checkpoint's direction; and a list of words."""
    folder = tmp_path / "data"
    folder.mkdir()
    turned = [Pair(pair.tgt, pair.src, pair.corpus) for pair in [*ENTRIES[:9], *sentences()]]
    more = [Pair("Wir wollen das Jacht in Berlin sehen.", "We want to see the yacht in Berlin.", "talk")] * 3
    more += [Pair("Das Apfel von Berlin ist alt.", "The apple of Berlin is old.", "talk")] * 8
    lines = (f"{pair.src}\t{pair.tgt}\t{pair.corpus}\n" for pair in [*turned, *more])
    (folder / "train.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "dev.tsv").write_text("eins\tone\tx\n", encoding="utf-8")
    (folder / "monolingual.txt.gz").write_bytes(gzip.compress(b"Der Apfel.\n"))
    (tmp_path / "words.txt").write_text("das\nhaus\njacht\napfel\nquark\nmore\n", encoding="utf-8")
    return folder


def command(data: Path, out: Path, model: Path, *more: str) -> list[str]:
    words = str(data.parent / "words.txt")
    given = ["rare", words, "--data", str(data), "--out", str(out), "--model", str(model), "--device", "cpu"]
    return [*given, "--count", "5", "--bound", "100", *more]


@pytest.mark.slow
def test_the_command_adds_a_corpus(
    data: Path, tiny_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(data, tmp_path / "a", tiny_checkpoint)) == 0
    told = capsys.readouterr().out.splitlines()
    # Apfel stands in one entry, eight pairs and a sentence alone: ten; Jacht in four, Quark in none
    assert told[:5] == ["rare words: 2", "of them in the dictionary: 1",
                        "of these refused, since no kind can be told: 0", "with new pairs: 1",
                        "in at least 10 sentences then: 1"]  # fmt: skip
    before, after = read_pairs(data / "train.tsv"), read_pairs(tmp_path / "a" / "train.tsv.gz")
    assert after[: len(before)] == before and len(after) == len(before) + 10
    assert all(pair.corpus == CORPUS and "Jacht" in pair.src and "yacht" in pair.tgt for pair in after[-10:])
    assert (tmp_path / "a" / "dev.tsv").read_bytes() == (data / "dev.tsv").read_bytes()
    assert (tmp_path / "a" / "monolingual.txt.gz").exists() and not (tmp_path / "a" / "train.tsv").exists()
    tried = ("--tried", "10")
    for name, more in (("b", ()), ("c", tried), ("d", (*tried, "--seed", "2"))):
        assert main(command(data, tmp_path / name, tiny_checkpoint, *more)) == 0
    files = {name: (tmp_path / name / "train.tsv.gz").read_bytes() for name in "abcd"}
    assert files["a"] == files["b"] and files["c"] != files["d"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--count", "7"), "holds 6 words, not 7"),
        (("--bound", "-1"), "bound is -1"),
        (("--most", "0"), "most is 0"),
        (("--data", "nowhere"), "nowhere has no train.tsv.gz"),
        (("--out", "{data}"), "holds the data that is read"),
        (("--least", "1"), "takes any of 1 rare words"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    more: tuple[str, str], words: str, data: Path, tiny_checkpoint: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    given = [each.format(data=data) for each in more]
    assert main(command(data, tmp_path / "out", tiny_checkpoint, *given)) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_plan_is_checked_where_it_is_made() -> None:
    with pytest.raises(InputError, match="tried is 0"):
        RarePlan(tried=0)
    assert find_slots([], Dictionary([], ("en", "de"), {}), {}) == {}
