"""Random texts, and small tokenizers that are trained in a moment."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from translator.config import TextConfig
from translator.text import SubwordTokenizer, VocabularyTokenizer

settings.register_profile("quick", max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("soak", settings.get_profile("quick"), max_examples=10_000)
settings.load_profile("soak" if os.environ.get("TRANSLATOR_SOAK") == "1" else "quick")

SENTENCES = {
    "en": [
        "The cat sat on the mat.",
        "Don't sit on the well-known mat, cat!",
        "In 2023 the cats sat there.",
        "Thé é x2",
    ],
    "de": ["Die Katze saß auf der Matte.", "Im Jahr 2023 saßen die Katzen dort.", "Geht's der Katze gut?"],
    "zh": [
        "猫坐在垫子上。",
        "我们今天学习翻译模型。",
        "2023年，猫坐在那里。",
        "他用iPhone看书吗？",
        "今天天气很好，我们去学习。",
    ],
}


@pytest.fixture(scope="session")
def subwords() -> dict[str, SubwordTokenizer]:
    """A subword tokenizer for each language: the first word of Chinese has no space glued to it."""
    return {
        language: SubwordTokenizer.train(
            texts * 5, TextConfig(language, prefix_space=language != "zh"), 400, min_character=6
        )
        for language, texts in SENTENCES.items()
    }


@pytest.fixture(scope="session")
def vocabularies() -> dict[tuple[str, str], VocabularyTokenizer]:
    """Word and character tokenizers, by (language, level)."""
    return {
        (language, level): VocabularyTokenizer.train(texts, TextConfig(language, level=level), 200, min_frequency=1)
        for language, texts in SENTENCES.items()
        for level in ("word", "char")
    }


ODD = (
    "▁ \t\n\r\x00\x1c\x85\u00a0\u2028\u3000<>s/0xE4１Ａａ中文乾隆臺灣薴著「」『』，。,.?!;:…“”‘’'\"-—"
    "e\u0301\u0327\u0323\u0338=각가\u0f71\u0f73\u0bc6\u0bbe\u09c7\u09beか\u3099\u212b\u2126\uf900\u1e9b"
    "\u200b\u200d\u202e\u2066\ufeff\u00ad😀👩🏽\ufe0f🇩🇪\ud83d\ude00\udfffİΣẞßÄ"
)
WHOLE = ["<s>", "</s>", "<pad>", "<unk>", "<0xE4>", "don't", "well-known", "2023年", "...", "  ", "The", "今天"]
WHOLE += ["👨\u200d👩\u200d👧"]


@pytest.fixture(scope="session")
def odd_texts() -> st.SearchStrategy[str]:
    """Texts of any Unicode at all, thick with what breaks tokenizers."""
    any_character = st.integers(0, 0x10FFFF).map(chr)
    part = st.one_of(st.sampled_from(ODD), any_character, st.sampled_from(WHOLE), st.characters(max_codepoint=0x24F))
    return st.lists(part, max_size=30).map("".join)
