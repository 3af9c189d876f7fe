"""German words take another's place only where gender, number, case and person stay as they were."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from translator.training.data import Pair
from translator.training.dictionary import Dictionary, Meaning
from translator.training.german import GermanDictionary, make_dictionary
from translator.training.rare import Made, Neighbours, RarePlan, Slot, candidates, replaced

ENTRIES = {
    "der Baum": "the tree", "der Apfel": "the apple", "die Regierung": "the government", "die Katze": "the cat",
    "das Haus": "the house", "das Auto": "the car", "das Fest": "the party", "die Hand": "the hand",
    "der Zweig": "the branch", "der Mensch": "the human", "Bundesregierung": "council", "Freiheit": "freedom",
    "Quark": "curd", "Kran": "crane", "die See": "the sea", "der See": "the lake", "Verhandlung": "talks",
    "Berlin": "Berlin", "Häuser": "house", "Katzenhaus": "cattery", "der Spieler": "the player",
    "das Spiel": "the game", "die Lehrerin": "the teacher", "suchen": "to search", "streichen": "to stroke",
    "angeben": "to boast", "geben": "to give", "übersetzen": "to translate", "setzen": "to set",
    "probieren": "to try", "bestellen": "to order",
    "haben": "to have", "klein": "small", "günstig": "cheap", "kleiner": "smaller", "schnell": "quickly", "ganz": "all",
    "laut": "by", "Suche": "search", "die Ferien": "the holidays", "halb": "half", "mein": "my",
}  # fmt: skip
SEEN = [
    Pair("Er hat einen Kran und einen Kran.", "He has cranes, trees, hands, houses, cars, parties, parties.", "x"),
    Pair("Die kleine Katze, der kleine Hund, ein kleiner Apfel.", "They searched, tried, ordered, translates.", "x"),
    Pair("Ein schnelles, schneller, schnelle, ganze, ganzer.", "They searched, tried, ordered; translates; sets.", "x"),
    Pair("Kleinere und kleineren, halbe, halber, meine, meiner: kleinere.", "Small.", "x"),
    Pair(
        "Sie sind da.",
        "trees cars houses hands cats cats teachers teachers searches searches sets talk talk games games",
        "x",
    ),
]


@pytest.fixture(scope="module")
def dictionary() -> GermanDictionary:
    return GermanDictionary([*(Pair(src, tgt, "words") for src, tgt in ENTRIES.items()), *SEEN])


@pytest.mark.parametrize(
    ("noun", "gender"),
    [("baum", "m"), ("haus", "n"), ("regierung", "f"), ("bundesregierung", "f"), ("katzenhaus", "n"),
     ("freiheit", "f"), ("kran", "m"), ("see", ""), ("quark", ""), ("ferien", "")],
)  # fmt: skip
def test_gender_is_of_the_article_the_suffix_the_head_or_the_word_before(
    noun: str, gender: str, dictionary: GermanDictionary
) -> None:
    assert dictionary.gender(noun) == gender


@pytest.mark.parametrize(
    ("word", "readings"),
    [
        ("baum", {("tree", "Baum", "noun m")}),
        ("bäume", {("trees", "Bäume", "plural but dative")}),
        ("baumes", {("tree", "Baumes", "genitive")}),
        ("häuser", {("houses", "Häuser", "plural but dative")}),
        ("häusern", {("houses", "Häusern", "dative plural")}),
        ("hände", {("hands", "Hände", "plural but dative")}),
        ("autos", {("cars", "Autos", "plural")}),
        ("katzen", {("cats", "Katzen", "plural")}),
        ("lehrerinnen", {("teachers", "Lehrerinnen", "plural")}),
        ("spieler", {("player", "Spieler", "noun m")}),
        ("mensch", {("human", "Mensch", "")}),  # "den Menschen"
        ("quark", {("curd", "Quark", "")}),
        ("see", {("sea", "See", ""), ("lake", "See", "")}),
        ("verhandlung", {("talks", "Verhandlung", "")}),
        ("berlin", {("Berlin", "Berlin", "name")}),
        ("suchen", {("search", "suchen", "infinitive")}),
        ("suche", {("search", "Suche", ""), ("search", "suche", "-e")}),
        ("suchst", {("search", "suchst", "-st")}),
        ("sucht", {("searches", "sucht", "-t")}),
        ("suchte", {("searched", "suchte", "-te")}),
        ("suchten", {("searched", "suchten", "-ten")}),
        ("gesucht", {("searched", "gesucht", "participle")}),
        ("probiert", {("tried", "probiert", "participle")}),  # "tries" stands nowhere
        ("bestellt", {("ordered", "bestellt", "participle")}),
        ("angeben", {("boast", "angeben", "infinitive, parted")}),
        ("übersetzen", {("translate", "übersetzen", "")}),
        ("übersetzt", set()),
        ("streichte", set()),  # "stroked" stands nowhere
        ("haben", set()),
        ("klein", {("small", "klein", "adjective")}),
        ("kleiner", {("small", "kleiner", "adjective, er"), ("smaller", "kleiner", "")}),
        ("kleinem", {("small", "kleinem", "adjective, em")}),
        ("günstige", {("cheap", "günstige", "adjective, e")}),
        ("schnell", {("quickly", "schnell", "adverb")}),
        ("schnelle", set()),
        ("ganz", {("all", "ganz", "")}),
        ("ganzen", set()),
        ("laut", {("by", "laut", "")}),
        ("halb", {("half", "halb", "")}),
        ("halbe", set()),
        ("mein", {("my", "mein", "")}),
    ],
)
def test_a_form_has_the_english_form_and_its_kind(
    word: str, readings: set[tuple[str, str, str]], dictionary: GermanDictionary
) -> None:
    found = dictionary.meanings(word)
    assert {(each.text, each.written, each.tag) for each in found} == readings
    for each in found:
        assert dictionary.kind(word, each) == (("", each.written[0].isupper(), each.tag) if each.tag else None)


GENDERS = {"der": ("Baum", "Zweig", "Apfel"), "die": ("Katze", "Hand"), "das": ("Haus", "Auto", "Fest")}


def made_of(rare: list[str], frames: list[tuple[str, str]]) -> tuple[list[Made], list[Pair]]:
    """What is made of each frame with every noun, in the form of its gender, that is not rare."""
    table = {src.split()[1]: tgt.split()[1] for src, tgt in ENTRIES.items() if " " in src}
    pairs = [Pair(src, tgt, "words") for src, tgt in ENTRIES.items()]
    for article, nouns in GENDERS.items():
        for noun in nouns:
            if noun.lower() not in rare:
                for n in range(60):
                    for src, tgt in frames:
                        rows = src.format(d=article, D=article.capitalize(), n=noun), tgt.format(n=table[noun])
                        pairs.append(Pair(f"{rows[0]} {n}", f"{rows[1]} {n}", "x"))
    near = Neighbours([*(pair.src for pair in pairs), *(f"{a} {w} ist" for a in GENDERS for w in rare)])
    return list(candidates(rare, pairs, make_dictionary(pairs, ("de", "en"), {}), near, RarePlan(tried=10**4))), pairs


def test_the_article_stays_right() -> None:
    made, pairs = made_of(["zweig", "hand", "fest"], [("Hier {d} {n} ist neu.", "Here the {n} is new.")])
    wanted = {"zweig": ("der Zweig", "branch"), "hand": ("die Hand", "hand"), "fest": ("das Fest", "party")}
    by_word: dict[str, set[str]] = defaultdict(set)
    for each in made:
        german, english = wanted[each.word]
        assert f"Hier {german} ist neu." in each.pair.src and f"Here the {english} is new." in each.pair.tgt
        by_word[each.word].add(pairs[each.slot.pair].src.split()[2])
    assert by_word == {"zweig": {"Baum", "Apfel"}, "hand": {"Katze"}, "fest": {"Haus", "Auto"}}


def test_a_and_an_stay_right_in_english() -> None:
    made, pairs = made_of(["apfel", "zweig"], [("Hier {d} {n} ist neu.", "A {n} is new here.")])
    assert {each.word for each in made} == {"zweig"}
    assert not any(re.search(r"\b[Aa] [aeiou]", each.pair.tgt) for each in made)
    assert all("Apfel" not in pairs[each.slot.pair].src for each in made)


def test_what_is_of_no_kind_takes_no_place_of_its_like() -> None:
    """No pair shows the gender of Quark, nor that of Zeug; the same sentences with articles would do."""
    pairs = [Pair(f"Hier ist heute Zeug {n}", f"Here is stuff today {n}", "x") for n in range(60)]
    words = [("Zeug", "stuff"), ("Quark", "curd")]
    near = Neighbours([*(pair.src for pair in pairs), "Hier ist heute Quark"])
    for article, least in (("", 0), ("das ", 10)):
        entries = [Pair(f"{article}{src}", tgt, "words") for src, tgt in words]
        dictionary = make_dictionary([*entries, *pairs], ("de", "en"), {})
        made = list(candidates(["quark"], pairs, dictionary, near, RarePlan()))
        assert min(len(made), 10) == least


def test_a_word_with_ss_takes_no_place_beside_itself() -> None:
    pair = Pair("Das Haus ist in der Straße hier.", "The house is in this road.", "x")
    slot, street = Slot(0, (4, 8), (4, 9), "das", "ist"), Meaning("street", "Straße", "noun f")
    assert replaced(pair, slot, "straße", street, ("de", "en")) is None
    assert replaced(pair, slot, "gasse", replace(street, text="alley", written="Gasse"), ("de", "en")) is not None


def test_other_languages_keep_their_dictionary() -> None:
    assert type(make_dictionary([], ("en", "de"), {})) is Dictionary
