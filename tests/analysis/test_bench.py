"""The gold sets, links read off maps, and error rates against nltk's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from nltk.translate.api import Alignment
from nltk.translate.metrics import alignment_error_rate

from translator import CancelledError, InputError, Trace, Translator
from translator.analysis.alignment import pharaoh
from translator.analysis.bench import Aligner, align, align_bench, links_of, word_maps
from translator.analysis.gold import FOLDER, GoldSet, pharaoh_gold, read_gold, shipped_gold, words_of
from translator.config import TextConfig
from translator.text import normalise_text

SETS = ("de-en", "en-zh")


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_shipped_sets_are_whole(name: str) -> None:
    """Words are those of our own segmentation, texts are as normalising leaves them, most words are linked."""
    data = json.loads((FOLDER / f"{name}.json").read_bytes())
    found = read_gold(FOLDER / f"{name}.json")
    assert "-".join(found.languages) == found.name == name
    assert len(found.pairs) == len({pair.src for pair in found.pairs}) == 100
    for stored, pair in zip(data["pairs"], found.pairs, strict=True):
        assert (tuple(stored["src_words"]), tuple(stored["tgt_words"])) == (pair.src_words, pair.tgt_words)
        for text, language in zip((pair.src, pair.tgt), found.languages, strict=True):
            assert normalise_text(text, TextConfig(language)) == text
        possible = pair.gold.possible - pair.gold.sure
        assert pharaoh(pair.gold.sure, possible).split() == sorted(
            stored["links"].split(), key=lambda link: [int(n) for n in link.replace("p", "-").split("-")]
        )
        assert (len(pair.src_words) - 1, len(pair.tgt_words) - 1) in pair.gold.sure  # the final marks
        assert len({s for s, _ in pair.gold.possible}) >= 0.6 * len(pair.src_words)
        assert len({t for _, t in pair.gold.possible}) >= 0.6 * len(pair.tgt_words)


def test_a_file_that_does_not_fit_is_named(tmp_path) -> None:
    path = tmp_path / "x.json"
    row = {"src": "Guten Morgen", "tgt": "Good morning", "links": "0-0 2-1"}
    path.write_text(json.dumps({"format": 1, "src_language": "de", "tgt_language": "en", "pairs": [row]}))
    with pytest.raises(InputError, match="pair 1: the link 2-1 points outside"):
        read_gold(path)
    path.write_text("[]")
    with pytest.raises(InputError, match="is not a set of alignments"):
        read_gold(path)
    with pytest.raises(InputError, match="2 lines for 1"):
        pharaoh_gold("x", ("de", "en"), [("Guten Morgen", "Good morning")], "0-0\n1-1")


def test_word_maps_add_pieces_and_average_rows(tiny: Translator, trace: Trace) -> None:
    given = tiny.force("Frau Müller rennt.", "Mrs Miller runs.")
    counts = (4, 4)
    found = word_maps(given.cross, given, counts, "output")
    assert found.shape == (2, 2, 4, 4)
    for t, s in np.ndindex(4, 4):
        rows = [i for i, token in enumerate(given.tgt) if token.word == t]
        columns = [i for i, token in enumerate(given.src) if token.word == s]
        assert rows and columns
        want = given.cross[:, :, rows][..., columns].sum(-1).mean(-1)
        np.testing.assert_allclose(found[:, :, t, s], want, atol=1e-6)
    shifted = word_maps(given.cross, given, counts, "input")
    rows = [i + 1 for i, token in enumerate(given.tgt) if token.word == 1]
    columns = [i for i, token in enumerate(given.src) if token.word == 1]
    np.testing.assert_allclose(shifted[:, :, 1, 1], given.cross[:, :, rows][..., columns].sum(-1).mean(-1), atol=1e-6)
    with pytest.raises(InputError, match="more than 2 words"):
        word_maps(given.cross, given, (2, 4), "output")


def test_the_ways_to_read_links() -> None:
    words = np.array([[0.6, 0.3, 0.1], [0.55, 0.45, 0.0], [0.0, 0.0, 0.0]])
    assert links_of(words) == {(0, 0), (0, 1)}
    assert links_of(words, "reverse") == {(0, 0), (1, 1), (2, 0)}
    assert links_of(words, "both") == {(0, 0)}
    assert links_of(words, "threshold", 0.3) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    with pytest.raises(InputError, match="way is 'x'"):
        links_of(words, "x")  # type: ignore[arg-type]
    for threshold in (-0.1, 2, float("nan"), "0.3"):
        with pytest.raises(InputError, match="threshold is"):
            links_of(words, "threshold", threshold)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["map", "layer", "head", "reading", "way", "threshold"])
@pytest.mark.parametrize("value", ["x", -1, float("nan"), True])
def test_an_aligner_that_cannot_be_is_named(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name} is "):
        Aligner(**{name: value})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def few() -> GoldSet:
    gold = shipped_gold(("de", "en"))
    assert gold is not None
    return replace(gold, pairs=gold.pairs[:6])


@pytest.mark.slow
def test_rates_are_nltks(tiny: Translator, few: GoldSet) -> None:
    """nltk judges a sentence at a time and knows sure links only: a set of sure links, as one sentence."""
    sure = replace(few, pairs=tuple(replace(p, gold=replace(p.gold, possible=p.gold.sure)) for p in few.pairs))
    found = align_bench(tiny, sure)
    for reading, layer, head in ((0, 0, 1), (1, 1, 0)):
        aligner = Aligner(layer=layer, head=head, reading=("output", "input")[reading])
        truth, links, at = [], [], (0, 0)
        for pair in sure.pairs:
            counts = (len(pair.src_words), len(pair.tgt_words))
            trace = tiny.force(pair.src, pair.tgt)
            links += [(s + at[0], t + at[1]) for s, t in align(tiny, trace, aligner, counts)]
            truth += [(s + at[0], t + at[1]) for s, t in pair.gold.sure]
            at = (at[0] + counts[0], at[1] + counts[1])
        want = alignment_error_rate(Alignment(truth), Alignment(links))
        assert found.heads[reading, layer, head] == pytest.approx(want)
    assert found.best_rate == found.heads.min()
    assert found.rate == min(table.min() for table in (found.heads, found.norm_heads, found.layers, found.norm_layers))
    assert found.ways["argmax"] == found.best_rate


@pytest.mark.slow
def test_a_head_that_copies_the_gold_links_has_no_error(tiny: Translator, few: GoldSet, monkeypatch) -> None:
    """The maps of one head are set to the gold links; the bench must name that head."""
    force = Translator.force

    def planted(self: Translator, src: str, tgt: str) -> Trace:
        trace = force(self, src, tgt)
        gold = next(pair.gold for pair in few.pairs if pair.src == src)
        cross = trace.cross.copy()
        cross[1, 0] = 0
        for t, token in enumerate(trace.tgt):
            near = {s for s, word in gold.possible if word == token.word} & {s.word for s in trace.src}
            column = next((i for i, s in enumerate(trace.src) if near and s.word == min(near)), len(trace.src) - 1)
            cross[1, 0, t, column] = 1
        return replace(trace, cross=cross)

    monkeypatch.setattr(Translator, "force", planted)
    found = align_bench(tiny, few)
    assert (found.best_head.layer, found.best_head.head, found.best_head.reading) == (1, 0, "output")
    assert found.best_head.name == "L2H1"
    assert found.best_rate < 0.2


def test_refusals(tiny: Translator, few: GoldSet, trace: Trace) -> None:
    with pytest.raises(InputError, match="tiny is de-en"):
        align_bench(tiny, replace(few, languages=("en", "zh")))
    with pytest.raises(InputError, match="no pair"):
        align_bench(tiny, replace(few, pairs=()))
    with pytest.raises(CancelledError):
        align_bench(tiny, few, stop=lambda: True)
    with pytest.raises(InputError, match="there is no L3H1"):
        align(tiny, trace, Aligner(layer=2, head=0), (8, 20))


def test_words_are_the_segmentation_of_the_text_part() -> None:
    assert words_of("Don't worry.", "en") == ("Don't", "worry", ".")
