"""Whether names and numbers come through: `python -m benchmarks.copying`, 500 generated sentences a direction.

Each holds one span that the translation must hold as it stands: digits, or a name that nobody has met, which has no
other form in any language. Nothing is trained on these sentences.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

import translator
from translator.training.vary import made_up_name

SENTENCES = {
    "de": {
        "number": (
            "Das Zimmer kostet {} Euro.", "Wir treffen uns um {} Uhr.", "Er hat {} Bücher gelesen.",
            "Im Jahr {} wurde das Haus gebaut.", "Der Zug fährt von Gleis {} ab.", "Sie wohnt in der Straße Nummer {}.",
        ),
        "name": (
            "Ich heiße {}.", "Wo ist {}?", "{} kommt morgen mit dem Zug.", "Gestern habe ich {} im Park gesehen.",
            "Mein Freund {} arbeitet in einer Schule.", "Wir fahren nächste Woche nach {}.",
        ),
    },
    "en": {
        "number": (
            "The room costs {} dollars.", "We will meet at {} o'clock.", "He has read {} books.",
            "The house was built in {}.", "The train leaves from platform {}.", "She lives in house number {}.",
        ),
        "name": (
            "My name is {}.", "Where is {}?", "{} will come by train tomorrow.", "Yesterday I saw {} in the park.",
            "My friend {} works in a school.", "We will go to {} next week.",
        ),
    },
}  # fmt: skip
"""Everyday sentences by source language and kind of span."""
MOST = {"o'clock": 12, "Uhr": 12}
"""Where a number has a bound that everybody knows."""


@dataclass(frozen=True)
class Case:
    """A sentence, and the span of a `kind` ("number" or "name") that its translation must hold."""

    source: str
    span: str
    kind: str

    def survives(self, translation: str) -> bool:
        """Whether the span stands in `translation` by itself, digits with or without commas between thousands."""
        text = re.sub(r"(?<=\d),(?=\d{3})", "", translation)
        edge = "0-9" if self.kind == "number" else "A-Za-z0-9"
        return re.search(rf"(?<![{edge}]){re.escape(self.span)}(?![{edge}])", text) is not None


def cases(language: str, count: int = 500, seed: int = 31) -> list[Case]:
    """`count` sentences of `language`, numbers and names by turns."""
    rng = np.random.default_rng(seed)
    out = []
    for n in range(count):
        kind = ("number", "name")[n % 2]
        sentences = SENTENCES[language][kind]
        sentence = sentences[rng.integers(len(sentences))]
        most = next((high for word, high in MOST.items() if word in sentence), 10 ** int(rng.integers(2, 5)) - 1)
        span = str(rng.integers(2, most + 1)) if kind == "number" else made_up_name(rng)
        out.append(Case(sentence.format(span), span, kind))
    return out


def main(arguments: list[str] | None = None) -> None:
    """Print, for each checkpoint, how many spans of each kind survive, and some that do not."""
    parser = argparse.ArgumentParser(prog="benchmarks.copying", description=__doc__)
    parser.add_argument("models", nargs="*", default=["de-en", "en-zh"], help="names or folders of checkpoints")
    parser.add_argument("--count", type=int, default=500, help="sentences a direction")
    args = parser.parse_args(arguments)
    for name in args.models:
        model = translator.load(name)
        asked = cases(model.languages[0], args.count)
        texts = model.translate_batch([case.source for case in asked], method="beam")
        found = [(case, text, case.survives(text)) for case, text in zip(asked, texts, strict=True)]
        kinds, kept = Counter(case.kind for case in asked), Counter(case.kind for case, _, ok in found if ok)
        shares = ", ".join(f"{kind}s {kept[kind]} of {kinds[kind]}" for kind in sorted(kinds))
        print(f"{name}: {sum(kept.values()) / len(asked):.1%} of {len(asked)} ({shares})")
        for case, text, _ in [each for each in found if not each[2]][:12]:
            print(f"  {case.source} -> {text}")


if __name__ == "__main__":
    main()
