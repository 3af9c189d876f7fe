"""Which ideas arrive: what counts as said, what is counted, and the sentences that the project keeps for it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import translator
from translator.__main__ import main
from translator.errors import InputError
from translator.training.adequacy import Idea, Sentence, adequacy_path, counts, judge, read_adequacy

PAIRS = (("de", "en"), ("en", "zh"))


@pytest.mark.parametrize(
    ("ways", "translation", "language", "said"),
    [
        (("cat",), "A cat sleeps.", "en", True),
        (("cat",), "A category.", "en", False),  # a word, not a piece of one
        (("cat*",), "A category.", "en", True),
        (("cat", "kitten"), "The Kitten!", "en", True),
        (("next door",), "She lives next  door.", "en", True),
        (("snow*...delay*",), "The snow delayed the train.", "en", True),
        (("snow*...delay*",), "The delay was for the snow.", "en", False),  # in this order
        (("6:30",), "Wake me at 6:30.", "en", True),
        (("a.m*",), "at six abm", "en", False),  # a point is a point
        (("猫",), "我有三只小猫。", "zh", True),
        (("看...电影",), "我们在家看一部电影。", "zh", True),
        (("看...电影",), "电影我们没看。", "zh", False),
    ],
)
def test_what_counts_as_said(ways: tuple[str, ...], translation: str, language: str, said: bool) -> None:
    assert Idea("content", ways).arrives(translation, language) is said


def test_an_english_negation_may_be_a_part_of_its_verb() -> None:
    idea = Idea("negation", ("not", "never"))
    for said in ("I wasn't there.", "He cannot swim.", "I do not know.", "We never knew."):
        assert idea.arrives(said, "en"), said
    for lost in ("I was there.", "A knot.", "I want it."):
        assert not idea.arrives(lost, "en"), lost
    assert not Idea("content", ("not",)).arrives("I wasn't there.", "en")


def test_what_arrives_is_counted_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt"
    lines = ("# of kinds", "Anna hat nicht zwei Hunde.\t@Anna\t-not\t#two|2\tdog*", "Es regnet.\train*", "")
    path.write_text("\n".join(lines), encoding="utf-8")
    sentences = read_adequacy(path)
    assert [idea.kind for idea in sentences[0].ideas] == ["name", "negation", "number", "content"]
    found = judge(sentences, ["Anna has 2 cats.", "It's raining."], "en")
    assert (found.whole, found.sentences, found.ideas) == (1, 2, (3, 5))
    assert found.arrived == {"content": 1, "negation": 0, "name": 1, "number": 1}
    assert found.asked == {"content": 2, "negation": 1, "name": 1, "number": 1}
    assert found.lost == {0: ("not", "dog*")}
    assert ("of these: negation", "0 of 1") in counts(found)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Nothing asked.", "line 1 has no ideas"),
        ("\tdog", "line 1 has no ideas"),
        ("A dog.\tdog|", "line 1: an alternative"),
    ],
)
def test_a_line_that_asks_nothing_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "de-en.txt"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_adequacy(path)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_kept_sentences_are_a_hundred_of_middle_length(pair: tuple[str, str]) -> None:
    sentences = read_adequacy(adequacy_path(*pair))
    assert len({sentence.source for sentence in sentences}) == 100
    lengths = [len(sentence.source.split()) for sentence in sentences]
    assert min(lengths) >= 7 and max(lengths) <= 20
    assert all(len(sentence.ideas) > 1 for sentence in sentences)
    kinds = {idea.kind for sentence in sentences for idea in sentence.ideas}
    assert kinds == {"content", "negation", "name", "number"}


@pytest.mark.parametrize("pair", PAIRS)
def test_the_kept_sentences_are_not_what_newcomers_are_shown(pair: tuple[str, str]) -> None:
    path = adequacy_path(*pair).parents[1] / "newcomers" / f"{'-'.join(pair)}.txt"
    shown = set(path.read_text(encoding="utf-8").splitlines())
    assert not shown & {sentence.source for sentence in read_adequacy(adequacy_path(*pair))}


def test_nothing_of_an_empty_translation_arrives() -> None:
    sentence = Sentence("Es regnet.", (Idea("content", ("rain*",)),))
    assert judge([sentence], [""], "en").whole == 0


@pytest.mark.slow
def test_the_command_tells_what_was_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ideas.txt"
    path.write_text("Guten Morgen.\tmorning\tunicorn\n", encoding="utf-8")
    asked = ["adequacy", "--model", "de-en", "--device", "cpu", "--sentences", str(path), "--lost"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "sentences with every idea: 0 of 1" in said and "ideas: 1 of 2" in said and "lost: unicorn" in said
    assert main([*asked[:-3], "--sentences", str(tmp_path / "none.txt")]) == 2
    assert "name a file" in capsys.readouterr().err


@pytest.mark.slow
def test_a_card_holds_what_was_stored_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Stored twice it stands there once; the rest of the card stays, and the checkpoint loads."""
    folder = tmp_path / "de-en"
    shutil.copytree(Path(__file__).parents[2] / "checkpoints" / "de-en", folder)
    before = (folder / "README.md").read_text(encoding="utf-8").partition("<!-- adequacy -->")[0].rstrip()
    for _ in range(2):
        assert main(["adequacy", "--model", str(folder), "--device", "cpu", "--store"]) == 0
    said = dict(line.rsplit(": ", 1) for line in capsys.readouterr().out.splitlines()[:6])
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith(before) and card.count("## Adequacy") == 1
    assert f"| sentences with every idea | {said['sentences with every idea']} |" in card
    translator.load(folder, device="cpu")  # its manifest fits
    more = ["adequacy", "--model", str(folder), "--device", "cpu", "--store", "--beam", "2"]
    assert main(more) == 2 and "--store takes no other" in capsys.readouterr().err


@pytest.mark.parametrize("pair", PAIRS)
def test_the_shipped_cards_tell_of_it(pair: tuple[str, str]) -> None:
    card = (Path(__file__).parents[2] / "checkpoints" / "-".join(pair) / "README.md").read_text(encoding="utf-8")
    section = card.partition("<!-- adequacy -->")[2].partition("<!-- /adequacy -->")[0]
    kinds = [f"of these: {kind}" for kind in ("content", "negation", "name", "number")]
    for row in ("sentences with every idea", "ideas", *kinds):
        assert re.search(rf"\| {row} \| \d+ of \d+ \|", section), row
