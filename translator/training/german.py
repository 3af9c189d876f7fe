"""German words for `translator.training.rare`: each form with what it must share with another to take its place.

A noun's article and adjectives show its gender, number and case, a verb's ending its person and tense. What cannot be
told from the pairs has no kind and is left alone: nouns of unknown gender, nouns that add -n in the singular ("den
Menschen"), irregular forms, verbs like "übersetzen" that may be parted or not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import regex

from translator.training.data import Pair
from translator.training.dictionary import WORD, Dictionary, Kind, Meaning

_ARTICLES = {"der": "m", "die": "f", "das": "n"}
_TELLING = {"eine": "f", "einer": "f", "das": "n", "einen": "m"}
"""What stands before nouns of one gender only, in the singular."""
_SUFFIXES = {
    "f": ("ung", "heit", "keit", "schaft", "ion", "tät", "enz", "anz", "erei", "ik", "ie"),
    "n": ("chen", "lein", "ment"),
    "m": ("ismus", "ling", "eur", "or"),
}
_WEAK = ("e", "ent", "ant", "ist", "at", "oge", "mensch", "herr", "bär", "held", "nachbar", "bauer", "prinz", "graf",
         "narr", "christ", "fürst", "soph", "graph", "ph", "nom", "iat", "et", "it", "ot")  # fmt: skip
"""Masculine nouns with these ends may add -n in the singular."""
_AUXILIARIES = {"haben", "sein", "werden", "können", "müssen", "sollen", "wollen", "dürfen", "mögen", "lassen"}
_PARTED = ("ab", "an", "auf", "aus", "bei", "dar", "ein", "fest", "fort", "frei", "heim", "her", "hin", "los", "mit",
           "nach", "nieder", "statt", "teil", "vor", "weg", "weiter", "zu", "zurecht", "zurück", "zusammen",
           "herab", "heran", "heraus", "herein", "herum", "hervor", "hinaus", "hinein", "hinzu", "vorbei",
           "voraus")  # fmt: skip
_EITHER = ("durch", "hinter", "über", "um", "unter", "voll", "wider", "wieder")
_KEPT = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer")
"""Beginnings of verbs whose participle has no "ge"."""
_ADJECTIVES = ("ig", "lich", "isch", "bar", "sam", "los", "haft", "voll", "iv", "ell", "ös", "abel", "arm", "reich")
_INFLECTED = ("e", "en", "er", "es", "em")
_FUNCTION = {"all", "ander", "best", "beid", "dein", "dies", "ein", "einig", "erst", "euer", "folgend", "ganz",
             "gleich", "ihr", "irgendein", "jed", "jemand", "niemand", "nächst", "selb",
             "jen", "kein", "letzt", "manch", "mein", "sein", "solch", "unser", "viel", "welch", "wenig"}  # fmt: skip
_NO_ADJECTIVES = {
    "all",
    "any",
    "both",
    "each",
    "enough",
    "every",
    "forever",
    "half",
    "many",
    "more",
    "most",
    "much",
    "no",
    "some",
    "such",
}
_IRREGULAR = {"child": "children", "foot": "feet", "tooth": "teeth", "mouse": "mice", "person": "people",
              "wife": "wives", "life": "lives", "knife": "knives", "leaf": "leaves", "wolf": "wolves",
              "half": "halves", "shelf": "shelves", "thief": "thieves", "sheep": "sheep", "fish": "fish"}  # fmt: skip
_ATTESTED = 2
"""Occurrences of an English form that is made by rule: "goed" has none."""
_CONSONANT_Y = regex.compile(r"[^aeiou]y")
_PLAIN = regex.compile(rf"(?:(?P<first>der|die|das) )?(?P<word>{WORD.pattern})")
_ENGLISH = regex.compile(rf"(?:(?P<first>the|to) )?(?P<word>{WORD.pattern})")


class GermanDictionary(Dictionary):
    """Translations of German words into English ones, their inflected forms included.

    Args:
        pairs: those of one word a side are entries, also nouns as "das Haus", "the house" and verbs as "to go". The
            sentences show genders and which forms there are.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        super().__init__((), ("de", "en"), {})
        every = list(pairs)
        self.seen: set[str] = set()
        self.english: Counter[str] = Counter()
        self._told: dict[str, Counter[str]] = defaultdict(Counter)
        for pair in every:
            row = WORD.findall(pair.src)
            self.seen.update(row)
            self.english.update(WORD.findall(pair.tgt))
            for before, word in pairwise(row):
                if word[0].isupper() and before.lower() in _TELLING:
                    self._told[word.lower()][_TELLING[before.lower()]] += 1
        self._articles: dict[str, set[str]] = defaultdict(set)
        self.nouns: dict[str, dict[str, None]] = defaultdict(dict)
        self.names: dict[str, dict[str, None]] = defaultdict(dict)
        self.verbs: dict[str, dict[str, None]] = defaultdict(dict)
        self.others: dict[str, dict[str, None]] = defaultdict(dict)
        for pair in every:
            src, tgt = _PLAIN.fullmatch(pair.src), _ENGLISH.fullmatch(pair.tgt)
            if src and tgt:
                self._add(src["first"], src["word"], tgt["first"], tgt["word"])
        self._known: dict[str, tuple[Meaning, ...]] = {}

    def _add(self, article: str | None, word: str, first: str | None, text: str) -> None:
        if self.english[text.lower()] > self.english[text]:
            text = text.lower()
        key = word.lower()
        if article and word[0].isupper():
            self._articles[key].add("" if article == "die" and text.endswith("s") else _ARTICLES[article])
            self.nouns[key][text] = None
        elif word[0].isupper() and first != "to":
            (self.names if text[0].isupper() else self.nouns)[key][text] = None
        elif word.islower() and first == "to" and word.endswith("n") and key not in _AUXILIARIES:
            self.verbs[key][text] = None
        elif word.islower() and first is None:
            self.others[key][text] = None

    def gender(self, noun: str) -> str:
        """ "m", "f" or "n": of its article, its suffix or the last part of a compound; "" where they do not tell."""
        if noun in self._articles:
            return next(iter(self._articles[noun])) if len(self._articles[noun]) == 1 else ""
        if told := self._by_words_before(noun):
            return told
        for gender, ends in _SUFFIXES.items():
            if noun.endswith(ends) and len(noun) > 5:
                return gender
        heads = (noun[start:] for start in range(3, len(noun) - 3))
        head = next((head for head in heads if head in self._articles or self._by_words_before(head)), "")
        return self.gender(head) if head else ""

    def _by_words_before(self, noun: str) -> str:
        told = self._told[noun].most_common(1) if noun in self._told else []
        enough = told and told[0][1] >= max(2, 0.8 * self._told[noun].total())
        return told[0][0] if enough else ""

    def meanings(self, word: str) -> tuple[Meaning, ...]:
        """The translations of `word` (in small letters) in every form that it may be; the tag "" is no kind."""
        if word not in self._known:
            found = [*self._noun(word), *self._verb(word), *self._adjective(word)]
            self._known[word] = tuple(dict.fromkeys(found))
        return self._known[word]

    def kind(self, word: str, meaning: Meaning) -> Kind | None:
        """What kind of word `word` is where it means `meaning`; None where that cannot be told."""
        return ("", meaning.written[0].isupper(), meaning.tag) if meaning.tag else None

    def _noun(self, word: str) -> Iterator[Meaning]:
        written = word.capitalize()
        yield from (Meaning(text, written, "name") for text in self.names.get(word, ()))
        forms = [(stem, text, tag) for stem, tag in self._noun_stems(word) for text in self.nouns[stem]]
        of_stems = {text for _, text, _ in forms}
        own = [text for text in self.nouns.get(word, ()) if text not in of_stems]  # some say "Häuser", "house"
        gender = self.gender(word)
        weak = gender == "m" and word.endswith(_WEAK)
        for text in own:
            unfit = text in _NO_ADJECTIVES or (
                text.endswith("s") and self.english[text[:-1]] >= _ATTESTED
            )  # "the talks"
            yield Meaning(text, written, f"noun {gender}" if gender and not weak and not unfit else "")
        for stem, text, tag in forms if not own else ():
            if tag == "genitive":
                yield Meaning(text, written, "" if self.gender(stem) == "m" and stem.endswith(_WEAK) else tag)
            elif many := self._attested(_plurals(text)):
                yield Meaning(many, written, tag)

    def _noun_stems(self, word: str) -> Iterator[tuple[str, str]]:
        """Each singular of which `word` may be a form, with the kind of that form."""
        if word.endswith("innen"):
            yield from self._of_gender(word[:-3], "f", "plural")
        for stem in (word.removesuffix("n"), word.removesuffix("en")):
            if len(stem) < len(word) and (len(stem) == len(word) - 2 or stem.endswith(("e", "el", "er"))):
                yield from self._of_gender(stem, "f", "plural")
        if word.endswith("s"):
            if word[-2:-1] in tuple("aiouy"):
                yield from self._of_gender(word[:-1], "mfn", "plural")
            else:
                yield from self._of_gender(word[:-1], "mn", "genitive")
                yield from self._of_gender(word[:-2] if word.endswith("es") else "", "mn", "genitive")
        for ending, genders, tag in (("e", "mn", "plural but dative"), ("er", "mn", "plural but dative"),
                                     ("ern", "mn", "dative plural")):  # fmt: skip
            if word.endswith(ending):
                stem = word.removesuffix(ending)
                yield from self._of_gender(stem, genders, tag)
                yield from self._of_gender(_without_umlaut(stem), genders + "f", tag)

    def _of_gender(self, stem: str, genders: str, tag: str) -> Iterator[tuple[str, str]]:
        if len(stem) > 2 and stem in self.nouns and (gender := self.gender(stem)) and gender in genders:
            yield stem, tag

    def _verb(self, word: str) -> Iterator[Meaning]:
        if word in self.verbs:
            tag = {"parted": "infinitive, parted", "kept": "infinitive"}.get(self._parts(word), "")
            yield from (Meaning(text, word, tag) for text in self.verbs[word])
        for infinitive, tag in self._infinitives(word):
            if self._parts(infinitive) != "kept":
                continue
            for text in self.verbs[infinitive]:
                if tag in ("-e", "-st"):
                    yield Meaning(text, word, tag)
                elif form := self._attested(_thirds(text) if tag == "-t" else _pasts(text)):
                    yield Meaning(form, word, tag)

    def _parts(self, infinitive: str) -> str:
        for starts, name in ((_EITHER, "either"), (_PARTED, "parted")):
            rests = (infinitive.removeprefix(start) for start in starts if infinitive.startswith(start))
            if any(rest in self.verbs or rest in _AUXILIARIES for rest in rests):
                return name
        return "kept"

    def _infinitives(self, word: str) -> Iterator[tuple[str, str]]:
        """Each infinitive of which `word` may be a regular form, with the ending."""
        rows = [(word.removesuffix(ending), tag) for ending, tag in
                (("e", "-e"), ("st", "-st"), ("est", "-st"), ("t", "-t"), ("et", "-t"), ("te", "-te"), ("ete", "-te"),
                 ("ten", "-ten"), ("eten", "-ten")) if word.endswith(ending)]  # fmt: skip
        for ending in ("et", "t"):
            stem = word.removesuffix(ending)
            if word.endswith(ending) and word.startswith("ge"):
                rows.append((stem.removeprefix("ge"), "participle"))
            if word.endswith(ending) and (stem.endswith("ier") or stem.startswith(_KEPT)):
                rows.append((stem, "participle"))
        for stem, tag in rows:
            for infinitive in (f"{stem}en", f"{stem}n" if stem.endswith(("el", "er")) else ""):
                if infinitive in self.verbs:
                    yield infinitive, tag

    def _adjective(self, word: str) -> Iterator[Meaning]:
        for text in self.others.get(word, ()) if word not in self.verbs else ():
            compared = (word.endswith("er") and text.endswith("er")) or text in _NO_ADJECTIVES
            tag = "" if compared or not self._bends(word) else "adverb" if text.endswith("ly") else "adjective"
            yield Meaning(text, word, tag)
        for ending in _INFLECTED:
            stem = word.removesuffix(ending)
            if word.endswith(ending) and stem in self.others and stem not in self.verbs and self._bends(stem):
                for text in self.others[stem]:
                    if not text.endswith("ly") and text not in _NO_ADJECTIVES:
                        yield Meaning(text, word, f"adjective, {ending}")

    def _bends(self, word: str) -> bool:
        """Whether `word` is an adjective: by its suffix, or since the text has forms of it."""
        if word in _FUNCTION or len(word) < 3:
            return False
        return word.endswith(_ADJECTIVES) or sum(word + ending in self.seen for ending in _INFLECTED) >= 2

    def _attested(self, forms: Iterable[str]) -> str:
        return next((form for form in forms if self.english[form] >= _ATTESTED), "")


def make_dictionary(pairs: Iterable[Pair], languages: tuple[str, str], glossary: Mapping[str, str]) -> Dictionary:
    """The dictionary for these languages; from German to English it knows forms and genders, and has no glossary."""
    return GermanDictionary(pairs) if languages == ("de", "en") else Dictionary(pairs, languages, glossary)


def _without_umlaut(stem: str) -> str:
    """`stem` with its last umlaut undone; "" where it has none."""
    at = max(stem.rfind(letter) for letter in "äöü")
    return stem[:at] + {"ä": "a", "ö": "o", "ü": "u"}[stem[at]] + stem[at + 1 :] if at >= 0 else ""


def _with_s(text: str) -> str:
    if _CONSONANT_Y.fullmatch(text[-2:]):
        return f"{text[:-1]}ies"
    return text + ("es" if text.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _thirds(text: str) -> tuple[str, ...]:
    return (_with_s(text),)


def _plurals(text: str) -> tuple[str, ...]:
    if text in _IRREGULAR:
        return (_IRREGULAR[text],)
    return (f"{text[:-3]}men",) if text.endswith("man") else (_with_s(text), f"{text}s")


def _pasts(text: str) -> tuple[str, ...]:
    if text.endswith("e"):
        return (f"{text}d",)
    if _CONSONANT_Y.fullmatch(text[-2:]):
        return (f"{text[:-1]}ied",)
    return f"{text}ed", f"{text}{text[-1]}ed"
