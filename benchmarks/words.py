"""Which common words training seldom meets: `python -m benchmarks.words LIST FILE...`.

LIST has one word a line, the commonest first; any list of frequencies will do. A FILE holds sentences: text, or tables
of pairs (`.tsv`, gzipped or not), of which `--column` says what is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from translator.errors import InputError
from translator.text.lines import read_lines
from translator.training.rare import meetings, read_words


def sentences_of(path: Path, column: int) -> Iterable[str]:
    """The texts of a file, of tables those in `column`.

    Raises:
        InputError: the file cannot be read, or a line has no such column.
    """
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t") if ".tsv" in path.suffixes else [line]
        if column >= len(cells):
            raise InputError(f"{path} line {number} has {len(cells)} columns; choose another with --column")
        yield cells[column]


def main(arguments: list[str] | None = None) -> None:
    """Print how many words occur in enough sentences, and the commonest that do not."""
    parser = argparse.ArgumentParser(prog="benchmarks.words", description=__doc__)
    parser.add_argument("list", type=Path, metavar="LIST", help="words, the commonest first")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="what a model learns from")
    parser.add_argument("--column", type=int, default=0, help="what of a table is read, from 0 (the source)")
    parser.add_argument("--count", type=int, default=10_000, help="words that are asked about")
    parser.add_argument("--least", type=int, default=10, help="sentences that are enough")
    parser.add_argument("--show", type=int, default=60, help="words that are printed")
    args = parser.parse_args(arguments)
    try:
        words = read_words(args.list, args.count)
        met = meetings(words, (text for path in args.files for text in sentences_of(path, args.column)))
    except InputError as error:
        parser.error(str(error))
    rare = [word for word in words if met[word] < args.least]
    never = sum(met[word] == 0 for word in rare)
    print(f"{len(words) - len(rare):,} of {len(words):,} words occur in at least {args.least} sentences")
    print(f"{len(rare):,} do not, {never:,} of them in none; the commonest of them, with their sentences:")
    print(", ".join(f"{word} {met[word]}" for word in rare[: args.show]))


if __name__ == "__main__":
    main()
