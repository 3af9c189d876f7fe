import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.figures.label import label, labels, plain

PAYLOADS = ["<s>", "</s>", "<b>x</b>", '<a href="x">', "<img src=x>", "&lt;", "%{x}", "$x$", "a'b", "`x`", "&amp;lt;"]


@pytest.mark.parametrize("text", PAYLOADS)
def test_markup_comes_out_as_what_was_written(text):
    escaped = label(text, None)
    assert html.unescape(escaped) == text
    assert not set(escaped) & set("<>\"'`$%")


@pytest.mark.slow
@given(st.text())
def test_no_text_at_all_is_ever_markup(text):
    escaped = label(text)
    assert not set(escaped) & set("<>\"'`$%")
    assert html.unescape(escaped) == plain(text)


@pytest.mark.slow
@given(st.text())
def test_whatever_is_typed_shows_something_and_can_be_written(text):
    shown = plain(text)
    inside = shown.removeprefix("\u2068").removesuffix("\u2069")
    assert inside.strip() and len(inside) <= 13
    assert inside.encode("utf-8") and not any(unicodedata.category(c) in ("Cc", "Cs") for c in inside)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("books", "books"),
        ("今天天气", "今天天气"),
        ("", "·"),
        (" ", "␣"),
        ("  a ", "␣␣a␣"),
        ("\n", "␣"),
        ("\u200b", "·"),
        ("\ufeff\u3164", "··"),
        ("a\u202eb", "a·b"),
        ("a\x00b", "a·b"),
        ("\ud800", "\ufffd"),
        ("two\twords", "two words"),
        ("\u0301", "\u25cc\u0301"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("שלום", "\u2068שלום\u2069"),
    ],
)
def test_what_cannot_be_seen_is_marked_and_right_to_left_is_kept_apart(text, shown):
    assert plain(text) == shown


@pytest.mark.slow
def test_a_character_shows_the_same_beside_a_latin_and_a_cyrillic_letter():
    for character in map(chr, range(0x10000)):  # text that holds a Cyrillic letter is always looked at one by one
        for latin, cyrillic in ((f"{character}x", f"{character}ж"), (f"x{character}", f"ж{character}")):
            assert plain(latin).replace("x", "ж") == plain(cyrillic).replace("x", "ж")


def test_long_tokens_are_cut_at_twelve_characters_and_never_inside_one():
    assert plain("abcdefghijkl") == "abcdefghijkl"
    assert plain("abcdefghijklm") == "abcdefghijk…"
    assert plain("abcdefghijklm", None) == "abcdefghijklm"
    assert plain("abcdefghije\u0301xyz") == "abcdefghij…"
    assert plain("abcdefghi👩\u200d🚀xyz") == "abcdefghi…"
    assert label("<" * 20) == "&lt;" * 11 + "…"
    assert labels(["<s>", "a"]) == ["&lt;s&gt;", "a"]
