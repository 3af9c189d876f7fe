"""Subwords: whatever is typed comes back, every token knows its place, a damaged file is refused."""

from __future__ import annotations

import dataclasses
import gc
import json
import threading
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import SubwordTokenizer, load_tokenizer, normalise, normalise_text
from translator.text.segment import whole_words
from translator.text.tokenizer import SPECIALS

LANGUAGES = st.sampled_from(["en", "de", "zh"])
MODES = st.sampled_from([("corpus", True), ("corpus", False), ("none", True), ("none", False)])


def _configured(tokenizer: SubwordTokenizer, mode: tuple[str, bool]) -> SubwordTokenizer:
    return tokenizer.with_config(dataclasses.replace(tokenizer.config, normalise=mode[0], prefix_space=mode[1]))


@pytest.mark.slow
@given(st.data(), LANGUAGES, MODES)
def test_every_text_comes_back(subwords, odd_texts, data, language, mode):
    text = data.draw(odd_texts)
    tokenizer = _configured(subwords[language], mode)
    encoding = tokenizer.encode(text)
    assert tokenizer.decode(encoding.ids) == encoding.normalised == normalise_text(text, tokenizer.config)
    assert encoding.ids == tokenizer.ids(text)
    assert all(id >= len(SPECIALS) for id in encoding.ids)


@pytest.mark.slow
@given(st.data(), LANGUAGES, MODES, st.integers(0, 9), st.sampled_from([0.1, 0.5, 0.94]))
def test_dropout_changes_the_pieces_but_not_the_text(subwords, odd_texts, data, language, mode, seed, dropout):
    text = data.draw(odd_texts)
    tokenizer = _configured(subwords[language], mode)
    ids = tokenizer.ids_batch([text, text], dropout=dropout, seed=seed)
    assert [tokenizer.decode(row) for row in ids] == [normalise_text(text, tokenizer.config)] * 2
    assert tokenizer.ids_batch([text, text], dropout=dropout, seed=seed) == ids


@pytest.mark.slow
@given(st.data(), LANGUAGES)
def test_our_merges_equal_those_of_the_library(subwords, odd_texts, data, language):
    text = data.draw(odd_texts)
    assert subwords[language].ids_batch([text], dropout=1e-300) == [subwords[language].ids(text)]


@pytest.mark.slow
@given(st.data(), LANGUAGES, MODES)
def test_spans_point_at_what_was_typed(subwords, odd_texts, data, language, mode):
    text = data.draw(odd_texts)
    tokenizer = _configured(subwords[language], mode)
    tokens = tokenizer.encode(text).tokens
    starts = [token.span[0] for token in tokens]
    assert starts == sorted(starts)
    assert all(0 <= start <= end <= len(text) for start, end in (token.span for token in tokens))
    normalised = normalise(text, tokenizer.config)
    count = len(whole_words(normalised.text, language))
    assert all(0 <= token.word < max(count, 1) for token in tokens)
    assert [token.word for token in tokens] == sorted(token.word for token in tokens)
    if normalised.text == text:
        for token in tokens:
            start, end = token.span
            same = text[start:end] == token.surface or (token.surface == "▁" and text[start:end] in ("", " "))
            assert same or token.surface in _bytes_of(text[start:end])
            if token.space:
                assert text[start - 1 : start] == " " or text[start:end] == " "
        covered = {i for token in tokens for i in range(*token.span)}
        glued = {token.span[0] - 1 for token in tokens if token.space}
        assert covered | glued >= set(range(len(text)))


def _bytes_of(text: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@pytest.mark.slow
@given(st.data(), LANGUAGES, st.booleans())
def test_any_ids_have_a_text_and_places_in_it(subwords, data, language, prefix_space):
    tokenizer = _configured(subwords[language], ("corpus", prefix_space))
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1) | st.integers(0, 260), max_size=20))
    text = tokenizer.decode(ids)
    text.encode()
    tokens = tokenizer.tokens(ids)
    assert [token.id for token in tokens] == ids
    assert tokenizer.decode([id for id in ids if id >= 4]) == text
    for token in tokens:
        assert token.special == (token.id < 4) == (token.span is None) == (token.word == -1)
        assert token.surface == tokenizer.token(token.id).surface
        if token.span is not None:
            assert 0 <= token.span[0] <= token.span[1] <= len(text)
    spans = [token.span for token in tokens if token.span is not None]
    assert spans == sorted(spans)


@pytest.mark.slow
def test_stray_bytes_read_as_the_replacement_character(subwords):
    tokenizer = subwords["en"]
    ids = [4 + byte for byte in "ä".encode()] + [4 + 0xE4, 4 + 0xC3] + [4 + ord("a")]
    assert tokenizer.decode(ids) == "ä\ufffd\ufffda"
    assert [token.span for token in tokenizer.tokens(ids)] == [(0, 1), (0, 1), (1, 2), (2, 3), (3, 4)]


def test_tokens_of_a_sentence(subwords):
    tokens = subwords["en"].encode("The cat  sat\u00a0on a œ 22").tokens
    assert "".join(" " * token.space + token.surface for token in tokens[:4]) == "The cat sat on"
    assert [token.word for token in tokens[:4]] == [0, 1, 2, 3]
    assert [token.span for token in tokens[:4]] == [(0, 3), (4, 7), (9, 12), (13, 15)]
    assert [(t.surface, t.span) for t in tokens if t.span == (18, 19)] == [("<0xC5>", (18, 19)), ("<0x93>", (18, 19))]
    assert [(t.surface, t.word) for t in tokens[-2:]] == [("2", 6), ("2", 6)]


def test_typed_specials_and_markers_stay_text(subwords):
    tokenizer = subwords["en"]
    for text in (*SPECIALS, "<0xE4>", "▁", "▁The"):
        tokens = tokenizer.encode(text).tokens
        assert not any(token.special for token in tokens)
        assert tokenizer.decode([tokenizer.start_id, *(token.id for token in tokens), tokenizer.eos_id]) == text


def test_merges_never_spell_a_special_token():
    counts = Counter({" <s>": 50, "<s>": 50, "<0xE4>": 50, "<s>x": 50, "abc": 9})
    tokenizer = SubwordTokenizer.train_pretokens(counts, TextConfig("en"), 300)
    for pretoken in counts:
        (ids,) = tokenizer.ids_of_pretokens([[pretoken]])
        assert min(ids) >= 260 and tokenizer.with_config(TextConfig("en", prefix_space=False)).decode(ids) == pretoken
    assert len(set(tokenizer._pieces)) == len(tokenizer._pieces)


def test_merges_are_applied_best_first_and_from_the_left(subwords):
    fixed = subwords["en"]._pieces[:260]
    pieces = [*fixed, "a", "b", "c", "bc", "ab", "aa"]
    tokenizer = SubwordTokenizer(TextConfig("en", prefix_space=False), pieces, [(261, 262), (260, 261), (260, 260)])
    for dropout in (0.0, 1e-300):
        found = tokenizer.ids_batch(["abc", "aaa", "aab"], dropout=dropout)
        assert [[pieces[id] for id in row] for row in found] == [["a", "bc"], ["aa", "a"], ["a", "ab"]]


def test_pretokens_join_to_the_text(subwords):
    tokenizer = subwords["en"]
    assert tokenizer.pretokens("In 2023,  don't") == [" In", " 2", "0", "2", "3", ",", " don't"]
    assert tokenizer.ids_of_pretokens([tokenizer.pretokens("The cat")]) == [tokenizer.ids("The cat")]
    raw = _configured(tokenizer, ("none", False))
    assert raw.pretokens("\ta  b ") == ["\t", "a", " ", " b", " "]


def test_training_is_repeatable_and_keeps_to_its_size():
    texts = [f"word{i % 7} other{i % 5} thing" for i in range(200)]
    first, second = (SubwordTokenizer.train(texts, TextConfig("en"), 290) for _ in range(2))
    assert first._pieces == second._pieces and first._merges == second._merges
    assert len(first) == 290
    with pytest.raises(InputError, match="260"):
        SubwordTokenizer.train(texts, TextConfig("en"), 260)


def test_a_rare_character_is_spelt_in_bytes():
    tokenizer = SubwordTokenizer.train(["aaa bbb aaa", "aaaz"], TextConfig("en"), 300, min_character=2)
    assert [token.surface for token in tokenizer.encode("z").tokens] == ["▁", "<0x7A>"]
    assert tokenizer.encode("aaaz").tokens[-1].surface == "<0x7A>"


def test_ids_outside_the_vocabulary_are_refused(subwords):
    tokenizer = subwords["en"]
    for bad in (-1, len(tokenizer)):
        for ask in (tokenizer.token, lambda id: tokenizer.decode([id]), lambda id: tokenizer.tokens([id])):
            with pytest.raises(InputError, match=str(bad)):
                ask(bad)


def test_a_saved_tokenizer_is_the_same(subwords, tmp_path):
    for language, tokenizer in subwords.items():
        path = tokenizer.save(tmp_path / "new", language)
        assert path == tmp_path / "new" / f"{language}.json"
        for loaded in (SubwordTokenizer.load(path), load_tokenizer(path)):
            assert isinstance(loaded, SubwordTokenizer) and loaded.config == tokenizer.config
            assert (loaded._pieces, loaded._merges) == (tokenizer._pieces, tokenizer._merges)


DAMAGE = [
    (lambda d: d.update(version=2), "version is 2"),
    (lambda d: d.pop("merges"), "want .*merges"),
    (lambda d: d.update(extra=1), "extra"),
    (lambda d: d.update(config=[]), "config"),
    (lambda d: d["config"].update(language=3), "language"),
    (lambda d: d["config"].update(sloth=3), "sloth"),
    (lambda d: d["config"].update(lowercase="yes"), "lowercase"),
    (lambda d: d.update(pieces="abc"), "pieces"),
    (lambda d: d["pieces"].__setitem__(300, 5), "piece 300"),
    (lambda d: d["pieces"].__setitem__(300, ""), "piece 300"),
    (lambda d: d["pieces"].__setitem__(300, "\ud800"), "piece 300"),
    (lambda d: d["pieces"].__setitem__(300, d["pieces"][299]), "twice"),
    (lambda d: d["pieces"].__setitem__(2, "</S>"), "piece 2"),
    (lambda d: d["pieces"].__setitem__(9, "five"), "piece 9"),
    (lambda d: d.update(pieces=d["pieces"][:3]), "piece 3"),
    (lambda d: d.update(pieces=d["pieces"][:200]), "piece 200"),
    (lambda d: d.update(merges={}), "merges"),
    (lambda d: d["merges"].__setitem__(5, [1, 2]), "merge 5"),
    (lambda d: d["merges"].__setitem__(5, [265, 10**9]), "merge 5"),
    (lambda d: d["merges"].__setitem__(5, [265, True]), "merge 5"),
    (lambda d: d["merges"].__setitem__(5, [265]), "merge 5"),
    (lambda d: d["merges"].__setitem__(5, [len(d["pieces"]) - 1] * 2), "not a piece"),
    (lambda d: d["merges"].append(d["merges"][0]), "twice"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_a_damaged_file_is_refused(subwords, tmp_path, damage, message):
    path = subwords["en"].save(tmp_path, "en")
    data = json.loads(path.read_text(encoding="utf-8"))
    damage(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    for load in (SubwordTokenizer.load, load_tokenizer):
        with pytest.raises(CheckpointError, match=message) as caught:
            load(path)
        assert "en.json" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"null", b"{", b"[" * 100_000, b'{"version":1}'])
def test_what_is_no_tokenizer_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"x\.json"):
        load_tokenizer(tmp_path / "x.json")


def test_a_missing_and_an_oversize_file_are_refused(tmp_path):
    with pytest.raises(CheckpointError, match="absent"):
        load_tokenizer(tmp_path / "absent.json")
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    with pytest.raises(CheckpointError, match="67108865 bytes"):
        load_tokenizer(tmp_path / "big.json")


@pytest.mark.slow
@pytest.mark.parametrize("run", ["a", "the", "▁", "猫", "今天学习", "é", "👩", "\u0327x", "1", " a"])
def test_a_long_text_takes_time_in_proportion(subwords, run):
    for tokenizer in (subwords["en"], subwords["zh"]):
        tokenizer.encode(run)
        took = []
        for count in (2_000, 16_000):
            gc.disable()  # else the garbage of all the tests before this one is what is timed
            start = time.thread_time()
            tokenizer.encode(run * (count // len(run)))
            tokenizer.ids_batch([run * (count // len(run))], dropout=0.1)
            took.append(time.thread_time() - start)
            gc.enable()
        assert took[1] < 30 * took[0] + 0.2  # quadratic time would take 64 times as long


@pytest.mark.slow
def test_threads_share_a_tokenizer(subwords, monkeypatch):
    monkeypatch.setattr("translator.text.subword._CACHED_PRETOKENS", 3)
    tokenizer, texts, wrong = subwords["en"], [f"The cat{i} sat on the mat {i}." for i in range(50)], []
    want = [tokenizer.ids(text) for text in texts]

    def read() -> None:
        wrong.extend(text for text, ids in zip(texts * 5, want * 5, strict=True) if tokenizer.ids(text) != ids)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
