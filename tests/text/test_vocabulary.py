"""Words and characters as tokens: what is unknown keeps its surface, characters come back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import VocabularyTokenizer, load_tokenizer, normalise_text
from translator.text.segment import whole_words

KINDS = st.tuples(st.sampled_from(["en", "de", "zh"]), st.sampled_from(["word", "char"]))


@pytest.mark.slow
@given(st.data(), KINDS)
def test_every_unit_is_one_token_with_its_surface_and_place(vocabularies, odd_texts, data, kind):
    tokenizer, text = vocabularies[kind], data.draw(odd_texts)
    encoding = tokenizer.encode(text)
    assert encoding.ids == tokenizer.ids(text)
    assert encoding.normalised == normalise_text(text, tokenizer.config)
    units = tokenizer.pretokens(text)
    assert [token.surface for token in encoding.tokens] == ["▁" if unit == " " else unit for unit in units]
    assert all(token.unknown == (token.id == tokenizer.unk_id) and not token.special for token in encoding.tokens)
    spans = [token.span for token in encoding.tokens]
    assert spans == sorted(spans) and all(0 <= start < end <= len(text) for start, end in spans)
    found = whole_words(encoding.normalised, kind[0])
    assert sorted({token.word for token in encoding.tokens}) == list(range(len(found)))
    if encoding.normalised == text:
        assert [text[start:end] for start, end in spans] == units


@pytest.mark.slow
@given(st.data(), KINDS)
def test_any_ids_have_a_text_and_places_in_it(vocabularies, data, kind):
    tokenizer = vocabularies[kind]
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1) | st.integers(0, 3), max_size=20))
    text, tokens = tokenizer.decode(ids), tokenizer.tokens(ids)
    assert [token.id for token in tokens] == ids
    for token in tokens:
        assert token.special == (token.id < 3) == (token.span is None) == (token.word == -1)
        assert token.unknown == (token.id == 3)
        if token.span is not None:
            assert text[token.span[0] : token.span[1]] == token.surface or token.surface == "▁"


def test_known_characters_come_back(vocabularies):
    for language, text in (("en", "The cat sat on  the mat."), ("zh", "猫坐在 iPhone上。")):
        tokenizer = vocabularies[language, "char"]
        assert tokenizer.decode(tokenizer.ids(text)) == normalise_text(text, tokenizer.config)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", 'He said: "The cat (a cat), sat!" Don\'t?'),
        ("de", "Geht's der Katze gut? Im Jahr 2023."),
        ("zh", "他用Apple iPhone看书吗？"),
    ],
)
def test_words_are_joined_as_they_are_written(language, text):
    tokenizer = VocabularyTokenizer.train([text], TextConfig(language, level="word"), 99, min_frequency=1)
    assert tokenizer.decode(tokenizer.ids(text)) == text


def test_the_unknown(vocabularies):
    word = vocabularies["en", "word"]
    token = word.encode("The zebra").tokens[1]
    assert (token.id, token.surface, token.unknown, token.special) == (3, "zebra", True, False)
    assert word.decode(word.ids("The zebra sat")) == "The <unk> sat"
    assert vocabularies["en", "char"].decode([3]) == "\ufffd"
    assert word.token(3).unknown and word.token(1).special


def test_typed_specials_stay_text():
    tokenizer = VocabularyTokenizer.train(["a </s> b"], TextConfig("en", level="word", normalise="none"), 99)
    assert not any(token.special for token in tokenizer.encode("<s> </s> <pad>").tokens)
    assert tokenizer.ids_of_pretokens([["<s>", "</s>"]]) == [[3, 3]]


def test_the_most_frequent_words_are_kept():
    tokenizer = VocabularyTokenizer.train(["b b b a a c c d"], TextConfig("en", level="word"), 6)
    assert tokenizer._pieces == ("<pad>", "<s>", "</s>", "<unk>", "b", "a")


def test_what_cannot_be_is_refused(vocabularies):
    tokenizer = vocabularies["en", "word"]
    with pytest.raises(InputError, match="dropout"):
        tokenizer.ids_batch(["a"], dropout=0.1)
    with pytest.raises(InputError, match="size is 4"):
        VocabularyTokenizer.train(["a"], TextConfig("en", level="word"), 4)
    with pytest.raises(InputError, match="level"):
        VocabularyTokenizer.train(["a"], TextConfig("en"), 99)
    with pytest.raises(InputError, match="9999"):
        tokenizer.decode([9999])


def test_a_saved_vocabulary_is_the_same(vocabularies, tmp_path):
    for (language, level), tokenizer in vocabularies.items():
        path = tokenizer.save(tmp_path, f"{language}-{level}")
        for loaded in (VocabularyTokenizer.load(path), load_tokenizer(path)):
            assert isinstance(loaded, VocabularyTokenizer)
            assert (loaded.config, loaded._pieces) == (tokenizer.config, tokenizer._pieces)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: d.update(merges=[]), "merges"),
        (lambda d: d["config"].update(level="subword"), "merges"),
        (lambda d: d["pieces"].append("two"), "one character"),
        (lambda d: d["pieces"].append("T"), "twice"),
    ],
)
def test_a_damaged_file_is_refused(vocabularies, tmp_path, damage, message):
    path = vocabularies["en", "char"].save(tmp_path, "en")
    data = json.loads(path.read_text(encoding="utf-8"))
    damage(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(CheckpointError, match=message):
        VocabularyTokenizer.load(path)
