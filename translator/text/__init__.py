"""Text to tokens and back: normalisation with offsets, words, subwords, vocabularies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from translator.config import TextConfig
from translator.errors import CheckpointError
from translator.text import tokenizer as _tokenizer
from translator.text.legacy import LegacyTokenizer
from translator.text.moses import MosesTokenizer
from translator.text.multilingual import MultilingualTokenizer
from translator.text.normalise import Normalised, is_blank, normalise, normalise_text
from translator.text.segment import words
from translator.text.sentencepiece import SentencePieceTokenizer
from translator.text.spelling import spelling
from translator.text.subword import SubwordTokenizer, pretokens
from translator.text.tokenizer import Encoding, Tokenizer
from translator.text.vocabulary import VocabularyTokenizer

__all__ = [
    "Encoding",
    "LegacyTokenizer",
    "MosesTokenizer",
    "MultilingualTokenizer",
    "Normalised",
    "SentencePieceTokenizer",
    "SubwordTokenizer",
    "Tokenizer",
    "VocabularyTokenizer",
    "is_blank",
    "load_tokenizer",
    "normalise",
    "normalise_text",
    "pretokens",
    "spelling",
    "words",
]


_KINDS: dict[str, Callable[[Path, TextConfig, dict[str, Any]], Tokenizer]] = {
    "subword": SubwordTokenizer.restore,
    "word": VocabularyTokenizer.restore,
    "char": VocabularyTokenizer.restore,
    "sentencepiece": SentencePieceTokenizer.restore,
    "multilingual": MultilingualTokenizer.restore,
    "moses": MosesTokenizer.restore,
    "treebank": LegacyTokenizer.restore,
    "bare": LegacyTokenizer.restore,
}


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Read a tokenizer of any level from the file that its `save` wrote.

    Raises:
        CheckpointError: the file is missing or damaged; the message names the first mismatch.
    """
    path = Path(path)
    config, data = _tokenizer.read(path)
    if config.level not in _KINDS:
        raise CheckpointError(
            f"{path}: level is {config.level!r}, which is stored nowhere; known are {', '.join(_KINDS)}"
        )
    return _KINDS[config.level](path, config, data)
