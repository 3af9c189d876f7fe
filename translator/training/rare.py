"""Rare words: pairs in which one of them and its translation stand in the place of a common word of the same kind.

Source: Fadaee et al. 2017, "Data Augmentation for Low-Resource Neural Machine Translation". Instead of its language
models, neighbours that the word (or one like it) has elsewhere choose the places, and the translation model judges.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from translator.analysis.glossary import shipped_glossary
from translator.errors import InputError
from translator.rules import keep_real, keep_whole
from translator.text.lines import read_lines
from translator.text.segment import words
from translator.training.data import MONOLINGUAL, Pair, find_monolingual, find_split, read_pairs
from translator.training.dictionary import WORD, Dictionary, Kind, Meaning
from translator.training.german import make_dictionary
from translator.training.hold_out import write_lines
from translator.training.self_training import Teacher, log_probs

CORPUS = "rare"
"""What `corpora` calls these pairs."""
LENGTHS = (4, 20)
"""Words, at least and at most, of a sentence in which a word is replaced."""
COMMON = 50
"""Sentences that a word stands in whose place another takes."""
SEEN = 20_000
"""Places that are looked at for one word at most."""

_AN = re.compile(r"\ban?\s+$", re.IGNORECASE)

Span = tuple[int, int]


@dataclass(frozen=True)
class RarePlan:
    """Which words are rare, and what is made for them.

    A word of the first `count` of a list is rare that fewer than `least` training sentences have. It gets up to `most`
    pairs, the surest of `tried`, where the rest of the target loses at most `bound` nats a token by the replacement.
    """

    count: int = 10_000
    least: int = 10
    most: int = 10
    tried: int = 30
    bound: float = 0.3
    seed: int = 1

    def __post_init__(self) -> None:
        for name, high in (("count", 10**7), ("least", 10**6), ("most", 10**4), ("tried", 10**4)):
            keep_whole(self, name, 1, high)
        keep_real(self, "bound", 0.0, 100.0)
        keep_whole(self, "seed", 0, 2**63 - 1)


@dataclass(frozen=True)
class Slot:
    """A place in pair `pair` where both sides have each other's word; `left` and `right` stand beside the source's."""

    pair: int
    src: Span
    tgt: Span
    left: str
    right: str


@dataclass(frozen=True)
class Made:
    """A pair with `word` and its translation; `tgt` is where that stands, `slot` where it took another's place."""

    word: str
    slot: Slot
    pair: Pair
    tgt: Span


def words_of(sentence: str) -> set[str]:
    """The words of a sentence without regard to case; a typographic apostrophe is one as well."""
    return set(WORD.findall(sentence.replace("’", "'").casefold()))


def meetings(wanted: Sequence[str], sentences: Iterable[str]) -> dict[str, int]:
    """In how many of `sentences` each of the words `wanted` occurs."""
    folded = {word.casefold() for word in wanted}
    found: Counter[str] = Counter()
    for sentence in sentences:
        found.update(folded & words_of(sentence))
    return {word: found[word.casefold()] for word in wanted}


def read_words(path: Path, count: int) -> list[str]:
    """The first `count` words of a list, each once.

    Raises:
        InputError: the file cannot be read, or has fewer.
    """
    found = list(dict.fromkeys(word for line in read_lines(path) if (word := line.strip())))
    if len(found) < count:
        raise InputError(f"{path} holds {len(found):,} words, not {count:,}; ask for fewer with --count")
    return found[:count]


def rare_words(asked: Sequence[str], pairs: Sequence[Pair], data: Path, least: int) -> dict[str, int]:
    """The words that fewer than `least` sentences have, of `pairs` and those of one language in `data`; in how many.

    Raises:
        InputError: a file cannot be read.
    """
    met = meetings(asked, [*(pair.src for pair in pairs), *_alone(data)])
    return {word: count for word, count in met.items() if count < least}


def _alone(data: Path) -> list[str]:
    """The sentences of the source language alone in a data folder, if it has them."""
    there = any((data / f"{MONOLINGUAL}.txt{ending}").is_file() for ending in ("", ".gz"))
    return list(read_lines(find_monolingual(data))) if there else []


class Neighbours:
    """Which words stand left and right of each word in sentences, in small letters; "" at either end."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.left: dict[str, set[str]] = defaultdict(set)
        self.right: dict[str, set[str]] = defaultdict(set)
        self.counts: Counter[str] = Counter()
        for sentence in sentences:
            row = WORD.findall(sentence.lower())
            self.counts.update(set(row))
            for before, after in zip(["", *row], [*row, ""], strict=True):
                self.right[before].add(after)
                self.left[after].add(before)

    def of(self, those: Iterable[str]) -> tuple[set[str], set[str]]:
        """The neighbours, left and right, of `those` words together."""
        every = list(those)
        return set().union(*(self.left[w] for w in every)), set().union(*(self.right[w] for w in every))


def find_slots(pairs: Sequence[Pair], dictionary: Dictionary, counts: Mapping[str, int]) -> dict[Kind, list[Slot]]:
    """Every place of a common word, by kind: it stands once, and one of its translations once, which is no other's."""
    found: dict[Kind, list[Slot]] = defaultdict(list)
    for number, pair in enumerate(pairs):
        places = [match.span() for match in WORD.finditer(pair.src)]
        if not LENGTHS[0] <= len(places) <= LENGTHS[1]:
            continue
        row = [pair.src[start:end].lower() for start, end in places]
        spans = words(pair.tgt, dictionary.languages[1])
        texts = [pair.tgt[start:end] for start, end in spans]
        standing, alone = set(texts), set(words(pair.src, dictionary.languages[0]))  # "e-mail" is one word here
        here = [[each for each in dictionary.meanings(word) if each.text in standing] for word in row]
        owners = Counter(each.text for those in here for each in those)  # a word that stands twice counts twice
        for i, (word, those) in enumerate(zip(row, here, strict=True)):
            at_start = i == 0 or pair.src[: places[i][0]].rstrip()[-1:] in tuple('.!?"')
            own = pair.src[slice(*places[i])]
            those = [each for each in those if own == _cased(each.written, at_start)]
            if len(those) != 1 or counts[word] < COMMON:
                continue
            meaning = those[0]
            kind = dictionary.kind(word, meaning)
            if kind and places[i] in alone and texts.count(meaning.text) == 1 and owners[meaning.text] == 1:
                left, right = ["", *row][i], [*row, ""][i + 1]
                slot = Slot(number, places[i], spans[texts.index(meaning.text)], left, right)
                found[kind].append(slot)
    return dict(found)


def _sound_alike(old: str, new: str) -> bool:
    """Whether "a" or "an", whichever stands before one of the words, may stand before the other."""
    return (old[0].lower() in "aeiou") == (new[0].lower() in "aeiou")


def _cased(written: str, at_start: bool) -> str:
    return written[:1].upper() + written[1:] if at_start else written


def replaced(pair: Pair, slot: Slot, word: str, meaning: Meaning, languages: tuple[str, str]) -> Made | None:
    """`pair` with `word` and its translation in the place `slot`, nothing else changed; None where they do not fit.

    They do not where one of them stands in the pair already, where "a" would have to become "an", or where the words
    beside the translation would be cut otherwise.
    """
    (first, last), (start, end) = slot.src, slot.tgt
    old, new = pair.src[first:last], meaning.written
    if word.casefold() in words_of(pair.src) or (meaning.text in pair.tgt and meaning.text != pair.tgt[start:end]):
        return None
    if slot.left in ("a", "an") and not _sound_alike(old, new):
        return None
    if languages[1] == "en" and _AN.search(pair.tgt[:start]) and not _sound_alike(pair.tgt[start:end], meaning.text):
        return None
    if old[0].isupper():
        new = _cased(new, at_start=True)
    tgt = pair.tgt[:start] + meaning.text + pair.tgt[end:]
    longer = len(meaning.text) - (end - start)
    kept = [span for span in words(pair.tgt, languages[1]) if span != slot.tgt]
    moved = {(a + longer, b + longer) if a >= end else (a, b) for a, b in kept}
    if not moved <= set(words(tgt, languages[1])):
        return None
    src = pair.src[:first] + new + pair.src[last:]
    return Made(word, slot, Pair(src, tgt, CORPUS), (start, end + longer))


def candidates(
    rare: Sequence[str], pairs: Sequence[Pair], dictionary: Dictionary, near: Neighbours, plan: RarePlan
) -> Iterator[Made]:
    """Up to `plan.tried` pairs for each rare word, in places whose neighbours it, or a word like it, has elsewhere.

    Like it are words with one of its translations.
    """
    slots = find_slots(pairs, dictionary, near.counts)
    alike: dict[str, set[str]] = defaultdict(set)
    for word in near.counts:
        for meaning in dictionary.meanings(word):
            alike[meaning.text].add(word)
    for number, word in enumerate(tqdm(rare, unit="word", desc="placing", disable=None)):
        rng = np.random.default_rng([plan.seed, number])
        those = ((meaning, dictionary.kind(word, meaning)) for meaning in dictionary.meanings(word))
        kinds = {meaning: kind for meaning, kind in those if kind in slots}
        found: dict[int, Made] = {}
        for meaning, kind in kinds.items():
            like = {word, *(each for each in alike[meaning.text] if dictionary.kind(each, meaning) == kind)}
            left, right = near.of(like)
            enough = len(found) + -(-plan.tried // len(kinds))
            for slot in _from(slots[kind], int(rng.integers(len(slots[kind]))), SEEN // len(kinds)):
                if slot.left in left and slot.right in right and slot.pair not in found:
                    made = replaced(pairs[slot.pair], slot, word, meaning, dictionary.languages)
                    if made is not None:
                        found[slot.pair] = made
                if len(found) == enough:
                    break
        yield from found.values()


def _from(slots: Sequence[Slot], first: int, count: int) -> Iterator[Slot]:
    """`count` of `slots` from the one at `first` on, then from the start; each once."""
    yield from slots[first : first + count]
    yield from slots[: max(0, min(first, first + count - len(slots)))]


def _refused(dictionary: Dictionary, word: str) -> bool:
    """Whether `word` has translations, but none of a kind that can be told."""
    those = dictionary.meanings(word)
    return bool(those) and not any(dictionary.kind(word, each) for each in those)


def losses(teacher: Teacher, made: Sequence[Made], pairs: Sequence[Pair]) -> list[float]:
    """Nats a token by which the rest of each target becomes less probable than it was in its own pair."""
    asked = sorted({(each.slot.pair, each.slot.tgt) for each in made})
    before = dict(zip(asked, _rests(teacher, [(pairs[number], span) for number, span in asked]), strict=True))
    after = _rests(teacher, [(each.pair, each.tgt) for each in made])
    return [before[each.slot.pair, each.slot.tgt] - rest for each, rest in zip(made, after, strict=True)]


def _rests(teacher: Teacher, asked: Sequence[tuple[Pair, Span]]) -> list[float]:
    """The mean log-probability of the target's tokens outside a span, its end included."""
    order = sorted(range(len(asked)), key=lambda n: len(asked[n][0].tgt))
    src = teacher.src.ids_batch([asked[n][0].src for n in order])
    tgt = [teacher.tgt.encode(asked[n][0].tgt).tokens for n in order]
    scores = log_probs(teacher.model.eval(), src, [[token.id for token in row] for row in tgt])
    found = [0.0] * len(asked)
    for n, row, score in zip(order, tgt, scores, strict=True):
        start, end = asked[n][1]
        outside = [token.span is None or token.span[1] <= start or token.span[0] >= end for token in row]
        found[n] = float(score[[*outside, True]].mean())
    return found


def surest(made: Sequence[Made], lost: Sequence[float], plan: RarePlan) -> list[Made]:
    """Of each word's pairs those that lose least: `plan.most` at most, none that loses more than `plan.bound`."""
    groups: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for number, (each, loss) in enumerate(zip(made, lost, strict=True)):
        if loss <= plan.bound:
            groups[each.word].append((loss, number))
    return [made[number] for group in groups.values() for _, number in sorted(group)[: plan.most]]


def write_rare(teacher: Teacher, plan: RarePlan, list_: Path, data: Path, out: Path) -> dict[str, int]:
    """Write `data` into `out` with pairs for its rare words added to train; returns what was counted.

    Raises:
        InputError: a file is missing or malformed, `out` is `data`, or there is no pair to add.
    """
    if out.resolve() == data.resolve():
        raise InputError(f"{out} holds the data that is read; name another folder with --out")
    asked, pairs = read_words(list_, plan.count), read_pairs(find_split(data, "train"))
    languages = teacher.src.config.language, teacher.tgt.config.language
    met = rare_words(asked, pairs, data, plan.least)
    rare = list(met)
    dictionary = make_dictionary(pairs, languages, shipped_glossary(languages))
    near = Neighbours([*(pair.src for pair in pairs), *_alone(data)])
    made = list(candidates(rare, pairs, dictionary, near, plan))
    kept = surest(made, losses(teacher, made, pairs), plan) if made else []
    if not kept:
        raise InputError(
            f"no pair of {data} takes any of {len(rare):,} rare words; raise --bound or ask for more words"
        )
    out.mkdir(parents=True, exist_ok=True)
    for path in sorted(data.iterdir()):
        if path.is_file() and path.name.split(".")[0] != "train":
            shutil.copyfile(path, out / path.name)
    write_lines(out / "train.tsv.gz", ("\t".join((p.src, p.tgt, p.corpus)) for p in [*pairs, *(m.pair for m in kept)]))
    added = Counter(each.word for each in kept)
    return {
        "rare words": len(rare),
        "of them in the dictionary": sum(bool(dictionary.meanings(word)) for word in rare),
        "of these refused, since no kind can be told": sum(_refused(dictionary, word) for word in rare),
        "with new pairs": len(added),
        f"in at least {plan.least} sentences then": sum(met[word] + added[word] >= plan.least for word in rare),
        "pairs tried": len(made),
        "new pairs": len(kept),
    }
