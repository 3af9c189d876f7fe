"""Text to tokens and back: normalisation with offsets, words, subwords, vocabularies."""

from pathlib import Path

from translator.text import tokenizer as _tokenizer
from translator.text.normalise import Normalised, is_blank, normalise, normalise_text
from translator.text.segment import words
from translator.text.subword import SubwordTokenizer, pretokens
from translator.text.tokenizer import Encoding, Tokenizer
from translator.text.vocabulary import VocabularyTokenizer

__all__ = [
    "Encoding",
    "Normalised",
    "SubwordTokenizer",
    "Tokenizer",
    "VocabularyTokenizer",
    "is_blank",
    "load_tokenizer",
    "normalise",
    "normalise_text",
    "pretokens",
    "words",
]


def load_tokenizer(path: str | Path) -> SubwordTokenizer | VocabularyTokenizer:
    """Read a tokenizer of any level from the file that its `save` wrote.

    Raises:
        CheckpointError: the file is missing or damaged; the message names the first mismatch.
    """
    path = Path(path)
    config, data = _tokenizer.read(path)
    kind = SubwordTokenizer if config.level == "subword" else VocabularyTokenizer
    return kind.restore(path, config, data)
