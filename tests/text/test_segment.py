"""Words: they cover the text, in order, whatever it is."""

from __future__ import annotations

import gc
import os
import re
import stat
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.text import segment, words
from translator.text.segment import whole_words


def _read(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in words(text, language)]


@pytest.mark.slow
@given(st.data(), st.sampled_from(["en", "de", "zh", "ja"]))
def test_words_cover_every_visible_character_in_order(odd_texts, data, language):
    text = data.draw(odd_texts)
    spans = words(text, language)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert not any(char.isspace() for char in text[start:end])
        position = end
    assert text[position:].strip() == ""


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Don't be well-known, she said.", ["Don't", "be", "well-known", ",", "she", "said", "."]),
        ("It costs $3.50!?", ["It", "costs", "$", "3", ".", "50", "!", "?"]),
        ("cafe\u0301s 👨\u200d👩\u200d👧🇩🇪👩🏽", ["cafe\u0301s", "👨\u200d👩\u200d👧", "🇩🇪", "👩🏽"]),
        ("'tis - so", ["'", "tis", "-", "so"]),
        ("", []),
    ],
)
def test_alphabetic_words(text, want):
    assert _read(text, "en") == want


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "language", "want"),
    [
        ("Um 6:05 kostet das 1.249,50 Euro.", "de", ["Um", "6:05", "kostet", "das", "1.249,50", "Euro", "."]),
        ("Am 31.12.2025, 20. Mal: 3 :4", "de", ["Am", "31.12.2025", ",", "20", ".", "Mal", ":", "3", ":", "4"]),
        ("v2.0 (3/4/2025) ,5", "en", ["v2.0", "(", "3/4/2025", ")", ",", "5"]),
        ("价格3.5元。", "zh", ["价格", "3.5", "元", "。"]),
    ],
)
def test_a_number_a_time_and_a_date_are_whole_words(text, language, want):
    assert [text[start:end] for start, end in whole_words(text, language)] == want


@pytest.mark.slow
@given(st.data(), st.sampled_from(["en", "zh"]))
def test_whole_words_join_the_parts_of_numbers_and_nothing_else(odd_texts, data, language):
    text = data.draw(odd_texts | st.text("0123 .,:/x一", max_size=20))
    parts, wholes = words(text, language), whole_words(text, language)
    assert [text[a:b] for a, b in wholes if (a, b) not in parts and not re.search(r"\d[.,:/]\d", text[a:b])] == []
    assert "".join(text[a:b] for a, b in wholes) == "".join(text[a:b] for a, b in parts)


@pytest.mark.slow
@given(st.data())
def test_alphabetic_words_are_those_of_nltks_tokenizer(odd_texts, data):
    from nltk.tokenize import RegexpTokenizer

    text = data.draw(odd_texts)
    assert words(text, "de") == list(RegexpTokenizer(segment._WORD).span_tokenize(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("我们今天学习翻译模型。", ["我们", "今天", "学习", "翻译", "模型", "。"]),
        ("他用iPhone12看书", ["他", "用", "iPhone12", "看书"]),
        ("𠀀𠀁 中", ["𠀀", "𠀁", "中"]),
    ],
)
def test_chinese_words(text, want):
    assert _read(text, "zh") == want


@pytest.mark.slow
@pytest.mark.parametrize("run", ["的了是在我有他这上们来到时大地为子中你说", "龘" * 20])
def test_a_long_run_takes_time_in_proportion(run):
    words("中", "zh")
    took = []
    for count in (2_000, 16_000):
        text = run * (count // 20)
        gc.disable()  # else the garbage of all the tests before this one is what is timed
        try:
            start = time.thread_time()
            assert words(text, "zh")[-1][1] == count
            took.append(time.thread_time() - start)
        finally:
            gc.enable()
    assert took[1] < 24 * took[0] + 0.1  # quadratic time would take 64 times as long


def test_many_threads_read_alike():
    text, found = "我们今天学习翻译模型。", []
    threads = [threading.Thread(target=lambda: found.append(_read(text, "zh"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [_read(text, "zh")] * 8


def test_the_cache_folder_is_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = segment._private_folder()
    assert folder.parent == tmp_path / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "translator-jieba").mkdir()
    (tmp_path / "translator-jieba").chmod(0o777)
    folder = segment._private_folder()
    assert folder.parent != tmp_path and stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_link_is_not_followed_and_a_missing_home_is_survived(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "translator-jieba").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert segment._private_folder().parent != tmp_path
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert segment._private_folder().is_dir()


@pytest.mark.slow
def test_a_fresh_process_is_silent_and_writes_no_shared_cache(tmp_path):
    """jieba would tell of its dictionary on stderr and leave a file that others can guess the name of."""
    code = "from translator.text import words; print(len(words('我们今天学习', 'zh')))"
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "c"), "TMPDIR": str(tmp_path), "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, "-W", "error:::jieba", "-c", code], env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("3\n", "")
    assert not (tmp_path / "jieba.cache").exists()
