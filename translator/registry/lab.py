"""The lab's questions and views: what each asks for, with choices, ranges and defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from translator.registry.decoding import setting
from translator.registry.field import Field, for_form, given

KINDS = ("encoder", "decoder", "cross")
MEASURES = ("confidence", "relative_entropy", "previous", "same", "next", "special", "punctuation")
BOTH = "residual and heads"
STATES = (BOTH, "residual", "head", "q", "k", "v", "pattern", "ffn")
SOURCES = ("gradient", "integrated", "occlusion")
ORDERS = ("like this cell", "strongest", "typical", "neighbours")
PATCHES = 16
"""Patches at once."""


@dataclass(frozen=True)
class View:
    """A view of the lab: its title, two sentences on what it shows and does not, its source, its fields.

    `soon` names what answers first, with less, where the whole answer takes longer than half a second.
    """

    name: str
    title: str
    says: str
    source: str
    fields: tuple[Field, ...] = ()
    soon: str = ""


@dataclass(frozen=True)
class Question:
    """What a visitor would ask, and the views that answer it, by their names."""

    name: str
    title: str
    views: tuple[str, ...]


def _count(
    name: str, label: str, value: int | None = None, low: int = 1, high: float | None = None, says: str = ""
) -> Field:
    return Field(name, label, "number", low=low, high=high, value=value, whole=True, says=says)


def _choice(name: str, label: str, choices: tuple[str, ...], value: str | None, says: str = "") -> Field:
    return Field(name, label, "choice", choices, value=value, says=says)


def _text(name: str, label: str, value: str | None = "", says: str = "") -> Field:
    return Field(name, label, "text", value=value, says=says)


_STEP = _count("step", "Step", 2, says="of the translation")
_WORDS = (
    _text("word", "Word", None, "a token as shown, or its id; empty: the produced one"),
    _text("against", "Against", None, "a token as shown, or its id; empty: the likeliest other"),
)
_PLACE = (_count("layer", "Layer"), _count("head", "Head"))
_CELL = (_count("query", "Query row"), _count("key", "Key column"))
_BEAM, _PENALTY = setting("beam"), setting("length_penalty")
_KIND = _choice("kind", "Attention", KINDS, "cross")

VIEWS = (
    View(
        "force",
        "Force a target",
        "Scores your own translation with the model: the log-probability of each token and its rank among all "
        "tokens, 1 being the best. A good rank does not mean a good translation: the model judges only by its "
        "training data.",
        "Stahlberg & Byrne 2019",
        (_text("target", "Your translation"), _choice("kind", "Attention", ("none", *KINDS), "none"), *_PLACE),
    ),
    View(
        "edit",
        "Edit and continue",
        "Replaces the token at one step and lets the model continue from there; if left empty, the second-best "
        "token is used. One change can alter everything after it: this shows how much depended on the token, not "
        "why.",
        "Vaswani et al. 2017",
        (_STEP, _text("choice", "Token", says="the replacement; empty: the second best")),
    ),
    View(
        "beams",
        "Beam tree",
        "Every hypothesis that the beam search kept at some step, including those pruned later, with its scores, "
        "next to greedy search. The best score found is not necessarily the best that exists.",
        "Wu et al. 2016",
        (
            _count("beam", "Beams", low=2, high=_BEAM.granted, says="empty: the checkpoint's"),
            Field(
                "penalty",
                "Length penalty",
                "number",
                low=_PENALTY.low,
                high=_PENALTY.high,
                step="any",
                says="empty: the checkpoint's",
            ),
        ),
    ),
    View(
        "norms",
        "Norms",
        "A weight is the share of a key that is read; the norm is the length of the vector that arrives. A long "
        "vector may still point in a direction that later layers ignore.",
        "Kobayashi et al. 2020",
        (_KIND, *_PLACE),
    ),
    View(
        "rollout",
        "Rollout and flow",
        "Attention multiplied through all layers: which source token can reach which target token. It uses only the"
        " weights and assumes that residual connections carry half; values and feed-forward layers are ignored.",
        "Abnar & Zuidema 2020",
        (_choice("method", "Method", ("rollout", "flow"), "rollout"),),
    ),
    View(
        "lens",
        "Logit lens",
        "What each decoder layer would predict if it were the last. Early layers were not trained for this, so "
        "nonsense there does not mean that they do nothing.",
        "nostalgebraist 2020",
    ),
    View(
        "faithfulness",
        "Faithfulness",
        "Removes one source word at a time and compares the loss with the order in which attention ranks the words."
        " The model was not trained on sentences with a missing word, so this reference is only one of several.",
        "Jain & Wallace 2019",
    ),
    View(
        "align",
        "Alignment",
        "Word links read off one head, a whole layer or its norms; paste links of your own in Pharaoh format to see "
        "the error rate, what was missed dashed. A head that aligns well need not be one that the model needs.",
        "Och & Ney 2003; Chen et al. 2020",
        (
            _choice("map", "Map", ("raw", "norm"), None),
            _count("layer", "Layer"),
            _count("head", "Head (0: whole layer)", low=0),
            _choice("reading", "Row belongs to", ("output", "input"), None),
            _choice("way", "Links by", ("argmax", "reverse", "both", "threshold"), "argmax"),
            Field("threshold", "Threshold", "range", low=0, high=1, step=0.05, value=0.3),
            _text("gold", "Your links", says="in Pharaoh format, 0-0 1-2"),
        ),
    ),
    View(
        "profile",
        "Head profile",
        "What each head mostly does, measured over a corpus where the checkpoint ships one. A role is an average: "
        "on a single sentence a head may do something else.",
        "Voita et al. 2019; Clark et al. 2019",
        (_KIND, _choice("measure", "Measure", MEASURES, "confidence")),
    ),
    View(
        "positions",
        "Positions",
        "Shifts, scales or removes (scale 0) the position encodings and translates again. The model was trained "
        "without shifts, so a change reflects its training as much as its architecture.",
        "Vaswani et al. 2017",
        (
            _choice("side", "Side", ("source", "target", "both"), "both"),
            Field("shift", "Shift", "number", low=-100_000, high=100_000, value=5),
            Field("scale", "Scale", "range", low=0, high=10, step=0.05, value=1),
        ),
    ),
    View(
        "cell",
        "One cell",
        "One attention weight computed step by step: query, key, dot product, scaling, mask, softmax, and the share"
        " of the value that is passed on. The numbers are exact; they do not say what a single dimension means.",
        "Vaswani et al. 2017",
        (_KIND, *_PLACE, _count("query", "Query row", 1), _count("key", "Key column", 1)),
    ),
    View(
        "contrast",
        "This word, not that one",
        "Splits the lead of one word over another at a step: exactly over the embedding, every head, feed-forward "
        "layer and bias, and by three estimates over source words. A share is what a part adds directly; what it "
        "passes to later layers counts as theirs.",
        "Yin & Neubig 2022; Ferrando et al. 2023",
        (_STEP, *_WORDS),
    ),
    View(
        "patch",
        "Patching board",
        "Runs the second sentence with single states copied from the first, and shows how much of the word's "
        "advantage is restored. A state that restores nothing may still carry the difference if another one carries"
        " it too.",
        "Meng et al. 2022; Wang et al. 2023",
        (
            _text("other", "Second sentence"),
            _text("noise", "Or noise on", None, "instead of a second sentence: words or tokens of the first"),
            _choice("what", "States", STATES, STATES[0], "copied from the first sentence"),
            _count("step", "Step", says="empty: where the translations part"),
            *_WORDS,
        ),
    ),
    View(
        "why",
        "Why here?",
        "Splits one cell's score exactly over everything that contributed to its query and its key, and lists the "
        "words that the head then raises. Shares are of the score before the softmax, which also depends on the "
        "other keys.",
        "Elhage et al. 2021; Kobayashi et al. 2021",
        (_KIND, *_PLACE, *_CELL),
    ),
    View(
        "layers",
        "Layer by layer",
        "The translation that the decoder makes from each layer of the encoder. It was trained on the last layer "
        "alone: nonsense means that it cannot read a layer, not that the layer holds little information.",
        "Langedijk et al. 2023",
    ),
    View(
        "elsewhere",
        "In other sentences",
        "Searches an index of sentences for rows where this head does the same, for what it does most often, or for"
        " tokens in a similar state. Similarity is between vectors: two similar rows may have different causes.",
        "Yeh et al. 2023; Clark et al. 2019",
        (
            _KIND,
            *_PLACE,
            _choice("order", "Look for", ORDERS, ORDERS[0]),
            *_CELL,
        ),
    ),
    View(
        "plane",
        "Queries and keys",
        "The queries and keys of a head in one plane, aligned in a way that changes no weight. A plane shows only a"
        " part of the distances; the line above it says how well it agrees with the head.",
        "Yeh et al. 2023",
        (_KIND, *_PLACE),
    ),
    View(
        "omissions",
        "Left out, invented",
        "Marks source words that nothing in the translation depends on and produced words that depend on no source "
        "word. Enter a translation of your own, or keep the model's. It does not check meaning: a word that is "
        "translated wrongly is not marked.",
        "Guerreiro et al. 2023; Vamvas & Sennrich 2022",
        (_text("target", "Your translation"),),
    ),
    View(
        "arena",
        "Which method to trust",
        "Compares what each method says a word depends on with what happens when words are hidden or deleted, next "
        "to a random order. Both tests give the model sentences unlike its training data, so the best method here "
        "is a hint, not a proof.",
        "Mohebbi et al. 2023; DeYoung et al. 2020",
        soon="arena soon",
    ),
    View(
        "alti",
        "ALTI+",
        "How much of each token comes from every source token and from the target so far, through all layers of "
        "encoder and decoder. It says what came from where, not what effect it had; feed-forward layers are "
        "ignored.",
        "Ferrando et al. 2022",
    ),
)
QUESTIONS = (
    Question("matter", "Does this head matter?", ("profile",)),
    Question("word", "Why this word?", ("contrast", "force", "edit", "beams", "lens", "layers")),
    Question("carries", "What carries the difference?", ("patch",)),
    Question("there", "Why does it look there?", ("why", "cell", "norms", "positions")),
    Question("else", "Where else does this head do that?", ("elsewhere", "plane")),
    Question("left", "What was left out?", ("omissions", "align")),
    Question("believe", "Can I trust the picture?", ("arena", "alti", "faithfulness", "rollout")),
)
_FIELDS = {view.name: {field.name: field for field in view.fields} for view in VIEWS}


def field(view: str, name: str) -> Field:
    """A field of a view.

    Raises:
        KeyError: there is none.
    """
    return _FIELDS[view][name]


def fields(view: str, *names: str) -> tuple[Field, ...]:
    """Fields of a view by their names.

    Raises:
        KeyError: there is none of that name.
    """
    return tuple(field(view, name) for name in names)


def for_page() -> list[dict[str, Any]]:
    """Every question with its views as the page's forms read them; what a field has not is left out."""
    named = {view.name: view for view in VIEWS}
    return [
        {"name": each.name, "title": each.title, "views": [_view(named[name]) for name in each.views]}
        for each in QUESTIONS
    ]


def for_front_end() -> dict[str, Any]:
    """Ranges, choices and defaults of every field by its view, without the words: `web/src/protocol/registry.json`."""
    return {view.name: {each.name: _values(each) for each in view.fields} for view in VIEWS}


def _values(each: Field) -> dict[str, Any]:
    kind = "whole" if each.whole else "number" if each.kind == "range" else each.kind
    return {"kind": kind, **given(choices=each.choices, low=each.low, high=each.high), "value": each.value}


def _view(view: View) -> dict[str, Any]:
    fields = [for_form(each) for each in view.fields]
    told = {"name": view.name, "title": view.title, "says": view.says, "source": view.source, "fields": fields}
    return {**told, **({"soon": view.soon} if view.soon else {})}
