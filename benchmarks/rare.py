"""How many rare words arrive: `python -m benchmarks.rare LIST FILE... --data DIR --model MODEL`.

LIST has one word a line, the commonest first; rare are those that few sentences have of DIR, which training reads. Of
the sources in FILEs (tables of pairs) with such a word, those count whose reference has one of the word's translations
by the dictionary (see `translator.training.dictionary`): the word arrives if the model's translation has one too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import translator
from translator.analysis.glossary import shipped_glossary
from translator.errors import InputError
from translator.text.segment import words
from translator.training.data import Pair, find_split, grouped, read_pairs
from translator.training.dictionary import Dictionary
from translator.training.german import make_dictionary
from translator.training.rare import CORPUS, rare_words, read_words, words_of


@dataclass(frozen=True)
class Case:
    """A source with a rare word; a translation should hold one of `meanings`."""

    source: str
    word: str
    meanings: frozenset[str]

    def arrives(self, translation: str, language: str) -> bool:
        """Whether one of the meanings stands in `translation`: in Chinese anywhere, else as a word in any case."""
        if language == "zh":
            return any(each in translation for each in self.meanings)
        standing = {translation[start:end].lower() for start, end in words(translation, language)}
        return any(each.lower() in standing for each in self.meanings)


def cases(rare: Sequence[str], pairs: Sequence[Pair], dictionary: Dictionary) -> list[Case]:
    """Every rare word in a source of `pairs` that arrives in one of its references."""
    wanted, language = {word.casefold(): word for word in rare}, dictionary.languages[1]
    found = []
    for source, references in zip(*grouped(pairs), strict=True):
        for word in sorted(wanted[each] for each in wanted.keys() & words_of(source)):
            case = Case(source, word, frozenset(each.text for each in dictionary.meanings(word)))
            if any(case.arrives(reference, language) for reference in references):
                found.append(case)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Print for each checkpoint how many rare words arrive, and of those that have pairs of the corpus "rare"."""
    parser = argparse.ArgumentParser(prog="benchmarks.rare", description=__doc__)
    parser.add_argument("list", type=Path, metavar="LIST", help="words, the commonest first")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="pairs that nobody trains on")
    parser.add_argument("--data", type=Path, required=True, help="what training reads")
    parser.add_argument("--model", nargs="+", required=True, help="names or folders of checkpoints")
    parser.add_argument("--count", type=int, default=10_000, help="words that are asked about")
    parser.add_argument("--least", type=int, default=10, help="sentences that are enough")
    args = parser.parse_args(arguments)
    try:
        asked, train = read_words(args.list, args.count), read_pairs(find_split(args.data, "train"))
        pairs = [pair for path in args.files for pair in read_pairs(path)]
        own = [pair for pair in train if pair.corpus != CORPUS]
        rare = list(rare_words(asked, own, args.data, args.least))
    except InputError as error:
        parser.error(str(error))
    helped = set[str]().union(*(words_of(pair.src) for pair in train if pair.corpus == CORPUS))
    for name in args.model:
        model = translator.load(name)
        dictionary = make_dictionary(own, model.languages, shipped_glossary(model.languages))
        found = cases(rare, pairs, dictionary)
        texts = model.translate_batch([case.source for case in found], method="beam")
        arrived = [case.arrives(text, model.languages[1]) for case, text in zip(found, texts, strict=True)]
        new = [ok for case, ok in zip(found, arrived, strict=True) if case.word.casefold() in helped]
        print(f"{name}: {sum(arrived)} of {len(found)} arrive; of those with new pairs {sum(new)} of {len(new)}")


if __name__ == "__main__":
    main()
