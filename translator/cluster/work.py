"""What may be done to a corpus in parts: each kind of work says what one part adds, and nothing here knows of Ray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from translator.cluster.records import Fields
from translator.errors import InputError

if TYPE_CHECKING:
    from translator.pipeline import Translator

Rows = Sequence[Fields | None]


@dataclass(frozen=True)
class Part:
    """What one shard came to: `values` as JSON knows them, and `lines` of output with their keys, if there are any."""

    values: dict[str, Any]
    lines: tuple[tuple[str, ...], ...] = ()


class Work(Protocol):
    """One kind of work. `size`: records of a shard by default; `columns`: those of a Parquet file."""

    size: ClassVar[int]
    columns: ClassVar[tuple[str, ...]]
    whole: ClassVar[bool]

    def check(self, row: Fields | None, number: int) -> None:
        """Refuse what the command would refuse before it begins.

        Raises:
            InputError: the record, counted from 0, is not one.
        """
        ...

    def part(self, translator: Translator, rows: Rows, first: int) -> Part:
        """What these rows add, the first of which is the `first`th of the corpus from 0.

        Raises:
            InputError: a text is refused.
        """
        ...


@dataclass(frozen=True)
class Translating:
    """`translate`: a line of output for each record, "" and a reason for each that is refused.

    With `keyed` the first column is a key that stands before the translation.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    keyed: bool = False
    size: ClassVar[int] = 512
    columns: ClassVar[tuple[str, ...]] = ("text",)
    whole: ClassVar[bool] = False

    def check(self, row: Fields | None, number: int) -> None:
        """Nothing is refused before its turn."""

    def part(self, translator: Translator, rows: Rows, first: int) -> Part:
        """The translations, and the reasons by their number in the part."""
        reasons = {n: "it is not UTF-8" for n, row in enumerate(rows) if row is None}

        def refused(index: int, error: InputError) -> None:
            reasons.setdefault(index, str(error))

        texts = ["" if row is None else "\t".join(row[1:] if self.keyed else row) for row in rows]
        found = translator.translate_batch(texts, refused=refused, **self.settings)
        keys = [(row[0] if row else "",) if self.keyed else () for row in rows]
        lines = [text.replace("\r", " ").replace("\n", " ") for text in found]
        told = [[n, reasons[n]] for n in sorted(reasons)]
        return Part({"refused": told}, tuple((*key, line) for key, line in zip(keys, lines, strict=True)))


@dataclass(frozen=True)
class Evaluating:
    """`evaluate`: sources with their references, which stay together; `bare`: without the column of the corpus."""

    path: str
    settings: dict[str, Any] = field(default_factory=dict)
    bare: bool = False
    size: ClassVar[int] = 256
    columns: ClassVar[tuple[str, ...]] = ("source", "target")
    whole: ClassVar[bool] = True

    def check(self, row: Fields | None, number: int) -> None:
        """Refuse what is not source, target and corpus, or has an empty one: errors are `InputError`."""
        from translator.training.data import pair_of

        row = utf8(row, self.path, number)
        pair_of((*row, "-") if self.bare else row, self.path, number + 1)

    def part(self, translator: Translator, rows: Rows, first: int) -> Part:
        """What `training.evaluate.joined` adds up, and the translation of every source."""
        from translator.training.data import Pair
        from translator.training.evaluate import evaluate_part

        pairs = [Pair(row[0], row[1], "") for row in rows if row is not None]
        values, texts = evaluate_part(translator, pairs, **self.settings)
        return Part(values, tuple((text.replace("\r", " ").replace("\n", " "),) for text in texts))


@dataclass(frozen=True)
class Profiling:
    """`profile`: source texts, some with their translations."""

    path: str
    size: ClassVar[int] = 64
    columns: ClassVar[tuple[str, ...]] = ("source", "target")
    whole: ClassVar[bool] = False

    def check(self, row: Fields | None, number: int) -> None:
        """Refuse a blank source: errors are `InputError`."""
        if not utf8(row, self.path, number)[0].strip():
            raise InputError(f"{self.path}, line {number + 1}: there is no source text; remove the line")

    def part(self, translator: Translator, rows: Rows, first: int) -> Part:
        """The numbers of a `Tally`."""
        from translator.analysis.tally import Tally, read_trace

        tally = Tally()
        for number, row in enumerate(rows, start=first):
            src, *rest = utf8(row, self.path, number)
            tally.add(read_trace(translator, (src, rest[0] if rest and rest[0].strip() else None), number))
        return Part(tally.numbers())


@dataclass(frozen=True)
class Aligning:
    """`align-bench`: hand-aligned pairs, with their links in Pharaoh format."""

    path: str
    languages: tuple[str, str]
    size: ClassVar[int] = 16
    columns: ClassVar[tuple[str, ...]] = ("source", "target", "links")
    whole: ClassVar[bool] = False

    def check(self, row: Fields | None, number: int) -> None:
        """Refuse links that do not fit the words of the pair: errors are `InputError`."""
        from translator.analysis.gold import gold_pair

        row = utf8(row, self.path, number)
        if len(row) != 3:
            raise InputError(f"{self.path}, pair {number + 1}: {len(row)} columns; it needs source, target and links")
        try:
            gold_pair(*row, self.languages)
        except InputError as error:
            raise InputError(f"{self.path}, pair {number + 1}: {error}") from error

    def part(self, translator: Translator, rows: Rows, first: int) -> Part:
        """The numbers of `LinkCounts`."""
        from translator.analysis.bench import LinkCounts, words_of_every_map
        from translator.analysis.gold import gold_pair

        counts = LinkCounts()
        for number, row in enumerate(rows, start=first):
            src, tgt, links = utf8(row, self.path, number)
            pair = gold_pair(src, tgt, links, self.languages)
            counts.add(words_of_every_map(translator, pair), pair.gold)
        return Part(counts.numbers())


@dataclass(frozen=True)
class Judging:
    """`arena`: source texts, on which every attribution method is judged."""

    path: str
    depth: int
    size: ClassVar[int] = 8
    columns: ClassVar[tuple[str, ...]] = ("source",)
    whole: ClassVar[bool] = False

    def check(self, row: Fields | None, number: int) -> None:
        """Refuse a blank text: errors are `InputError`."""
        if not utf8(row, self.path, number)[0].strip():
            raise InputError(f"{self.path} has a line without text; take it out")

    def part(self, translator: Translator, rows: Rows, first: int) -> Part:
        """What `arena.judged_text` says of each text with words enough."""
        from translator.analysis.arena import judged_text

        texts = [utf8(row, self.path, number)[0] for number, row in enumerate(rows, start=first)]
        found = [judged_text(translator, text, first + n, depth=self.depth) for n, text in enumerate(texts, start=1)]
        return Part({"judged": [each for each in found if each is not None]})


def utf8(row: Fields | None, path: str, number: int) -> Fields:
    """The row, of the `number`th record from 0.

    Raises:
        InputError: it is not UTF-8.
    """
    if row is None:
        raise InputError(f"{path} cannot be read: line {number + 1} is not UTF-8")
    return row
