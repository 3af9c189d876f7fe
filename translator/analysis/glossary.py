"""What each word of a language means in another, one word for one: learnt from sentence pairs, kept as a table.

`python -m translator.analysis.glossary train.tsv.gz en zh` learns it (see `lexicon`) and writes the shipped table.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from translator.analysis.cases import lowered
from translator.analysis.lexicon import learn_lexicon
from translator.errors import InputError
from translator.files import write_whole
from translator.resources import resources
from translator.text.lines import read_lines

FOLDER = resources("assets") / "glossaries"
OFTEN = 5
"""Pairs that a word must stand in: of rarer ones little is known."""
SURE = 0.2
"""The least geometric mean of the probabilities in both directions."""


def make_glossary(pairs: Iterable[tuple[str, str]], languages: tuple[str, str]) -> dict[str, str]:
    """For each word of the target language its surest source word, both in small letters; the commonest word first.

    Args:
        pairs: (source, target) sentences.
    Raises:
        InputError: there is no pair with words on both sides.
    """
    split = [(lowered(src, languages[0]), lowered(tgt, languages[1])) for src, tgt in pairs]
    lexicon = learn_lexicon(split)
    counts = Counter(word for _, tgt in split for word in set(tgt))
    best: dict[str, tuple[float, str]] = {}
    for (src, tgt), forward in lexicon.forward.items():
        sure = (forward * lexicon.backward.get((src, tgt), 0.0)) ** 0.5
        lettered = any(map(str.isalpha, src)) and any(map(str.isalpha, tgt))
        if sure >= SURE and lettered and src != tgt and counts[tgt] >= OFTEN and (sure, src) > best.get(tgt, (0.0, "")):
            best[tgt] = sure, src
    return {word: best[word][1] for word in sorted(best, key=lambda word: (-counts[word], word))}


@cache
def shipped_glossary(languages: tuple[str, str]) -> dict[str, str]:
    """Target word to source word, as it is shipped for a language pair; empty where there is none."""
    path = FOLDER / f"{'-'.join(languages)}.tsv"
    if not path.is_file():
        return {}
    table: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, meaning = line.split("\t")
        table[word] = meaning
    return table


def main(arguments: list[str]) -> int:
    """Learn the table of a corpus and write it where `shipped_glossary` finds it."""
    corpus, src, tgt = arguments
    rows = (line.split("\t") for line in read_lines(Path(corpus)))
    try:
        found = make_glossary(((row[0], row[1]) for row in rows if len(row) > 1), (src, tgt))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{src}-{tgt}.tsv"
    write_whole(path, "".join(f"{word}\t{meaning}\n" for word, meaning in found.items()).encode())
    print(f"{len(found)} words: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
