"""Text to tokens and back: normalisation with offsets, words, subwords, vocabularies."""

from translator.text.normalise import Normalised, is_blank, normalise, normalise_text
from translator.text.segment import words
from translator.text.subword import SubwordTokenizer, pretokens
from translator.text.tokenizer import Encoding, Tokenizer

__all__ = [
    "Encoding",
    "Normalised",
    "SubwordTokenizer",
    "Tokenizer",
    "is_blank",
    "normalise",
    "normalise_text",
    "pretokens",
    "words",
]
