"""The lab's views on belief, on a checkpoint with an index, a judged corpus and a measured meter."""

from __future__ import annotations

import gc
import json
import re
import shutil
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import translator
from translator.analysis import arena, measured, search
from translator.analysis.alti import alti
from translator.analysis.attribution import GRADIENTS
from translator.analysis.index import store_index, stored_index
from translator.analysis.indexing import make_index
from translator.analysis.omissions import Judge, Meter, Omissions, omissions, stored_meter
from translator.registry.lab import ORDERS
from translator.ui import frontend, lab_belief
from translator.ui.lab import minus
from translator.ui.lab_tab import server_functions
from translator.ui.models import Models
from translator.ui.payload import unpack
from translator.ui.translate_tab import server_functions as explorer_functions

TEXT = "Das Haus ist alt."
SENTENCES = ("Das Haus ist groß, aber alt.", "Ich renne in den Park.", "Guten Morgen, Frau Müller!", TEXT)


@pytest.fixture(scope="module")
def folder(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("belief") / "tiny"
    shutil.copytree(tiny_checkpoint, place)
    made = translator.load(place, device="cpu")
    store_index(made, make_index(made, SENTENCES, data="four"))
    methods, count = arena.arena_table(made, SENTENCES, depth=1)
    measured.store_arena(made, measured.ArenaTable(made.bundle.info.sha256, "four", count, 1, methods))
    judge = Judge((1.0, 0.0, 0.0, 0.0), 0.0, 0.5, 0.75, 0.021, {"log-probability": 0.9, "the score": 0.9})
    measured.store_meter(made, Meter(made.bundle.info.sha256, "dev", 2000, judge, judge))
    return place


@pytest.fixture(scope="module")
def ask(folder: Path) -> Any:
    functions = {f.__name__: f for f in server_functions(Models({"de-en": folder}, device="cpu"))}

    def asked(view: str, **options: Any) -> dict:
        return functions["lab_ask"]({"text": TEXT, "direction": "de-en", "view": view, "options": options})

    return asked


def said_in_every_language(answer: dict) -> None:
    for table in frontend.locales().values():
        for english, values in answer["lines"]:
            assert set(re.findall(r"\{(\w+)\}", english)) == set(values)
            assert sorted(re.findall(r"\{\w+\}", table[english])) == sorted(re.findall(r"\{\w+\}", english))
        for name in (*answer.get("captions", ()), *answer.get("table", {"head": ()})["head"]):
            assert name in table, name


@pytest.mark.slow
@pytest.mark.parametrize("view", ["omissions", "alti", "arena", "arena soon", "elsewhere", "plane"])
def test_every_view_is_said_in_every_language(ask: Any, view: str) -> None:
    answer = ask(view)
    assert "error" not in answer, answer
    said_in_every_language(answer)
    assert len(answer.get("figures", ())) == len(answer.get("captions", ()))


@pytest.mark.slow
def test_marks_come_with_their_hit_rate(ask: Any, folder: Path) -> None:
    answer = ask("omissions", target="The house is big.")
    made = translator.load(folder, device="cpu")
    found = omissions(made, made.force(TEXT, "The house is big."))
    lines = dict(answer["lines"])
    assert lines["Translation: {text}"] == {"text": "The house is big."}
    if found.left_out:
        assert lines["Left out? {words}"]["words"] == ", ".join(found.left_out)
    assert any("the model itself leaves out" in line for line in lines)
    rates = {"found": "75", "wrong": "2.1"}
    assert lines["Of words left out on purpose {found} in 100 were marked, of others {wrong} in 100."] == rates
    drawn = json.loads(answer["figures"][0])["light"]["data"][0]
    assert drawn["customdata"] == [word.text for word in found.source]


@pytest.mark.slow
def test_without_a_mark_it_does_not_say_that_nothing_is_missing(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not marked may be left out all the same: the hit rate is of words taken out on purpose."""

    def unmarked(*given: Any, **settings: Any) -> Omissions:
        found = omissions(*given, **settings)
        source, target = (tuple(replace(word, marked=False) for word in side) for side in (found.source, found.target))
        return replace(found, source=source, target=target)

    monkeypatch.setattr(lab_belief.omissions, "omissions", unmarked)
    lines = dict(ask("omissions")["lines"])
    assert {"No word is marked as left out.", "No word is marked as invented."} <= lines.keys()
    assert not any("seems" in line for line in lines)


@pytest.mark.slow
def test_alti_and_the_arena_show_their_functions_numbers(ask: Any, folder: Path) -> None:
    made = translator.load(folder, device="cpu")
    trace = made.translate(TEXT, method="greedy")
    rows = ask("alti")["table"]["rows"]
    assert [row[1] for row in rows] == [f"{share:.0%}" for share in alti(made, trace).total.source_share]
    judged = arena.arena(made, trace)
    rows = ask("arena")["table"]["rows"]
    assert [row[0] for row in rows] == [measured.NAMES[each] for each in (*judged.ranking, "random")]
    assert all(re.fullmatch(r"[+−]\d\.\d\d", row[3]) for row in rows)
    soon = ask("arena soon")
    gradients = {measured.NAMES[each] for each in GRADIENTS}
    assert soon["table"]["rows"] == [row for row in rows if row[0] not in gradients]
    assert soon["lines"][-1] == ["Gradient methods are still being computed.", {}]
    for table in frontend.locales().values():
        assert set(measured.NAMES.values()) <= set(table)


@pytest.mark.slow
def test_what_was_judged_goes_with_its_trace_and_holds_no_model(folder: Path) -> None:
    made = translator.load(folder, device="cpu")
    trace = made.translate(TEXT, method="greedy")
    lab_belief.believed_soon(made, trace, {}, lambda: False)
    model, judged = weakref.ref(made), weakref.ref(lab_belief._begun[trace])
    del made
    gc.collect()
    assert model() is None, "a model that is let go frees its memory"
    del trace
    gc.collect()
    assert judged() is None


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_hits_are_those_of_the_search(ask: Any, folder: Path, order: str) -> None:
    answer = ask("elsewhere", kind="encoder", layer=2, head=1, order=order, query=2, key=1)
    said_in_every_language(answer)
    made = translator.load(folder, device="cpu")
    index = stored_index(made)
    assert index is not None
    corpus, trace = search.Corpus(made, index), made.translate(TEXT, method="greedy")
    sentences = [row[-2] for row in answer["table"]["rows"]]
    if order == "neighbours":
        want: Any = corpus.neighbours(trace, "encoder", 2, 1)
    elif order == "like this cell":
        want = corpus.like_cell(trace, "encoder", 1, 0, 1, 0)
        at = answer["table"]["head"].index("similarity × weight")
        told = [minus(hit.score, ".2f") if hit.score > -1 else "–" for hit in want]
        assert [row[at] for row in answer["table"]["rows"]] == told and told[0] != "–"
    else:
        want = corpus.head_rows("encoder", 1, 0, order=order)  # type: ignore[arg-type]
    assert sentences == [each.source for each in want]
    assert answer["chosen"] == {"layer": 2, "head": 1, "query": 2, "key": 1}


@pytest.mark.slow
def test_the_cell_that_nobody_chose_is_the_heads_strongest_between_words(ask: Any, folder: Path) -> None:
    chosen = ask("elsewhere", kind="encoder", layer=1, head=2)["chosen"]
    weights = translator.load(folder, device="cpu").translate(TEXT, method="greedy").encoder[0, 1][:-1, :-1]
    assert (chosen["query"] - 1, chosen["key"] - 1) == np.unravel_index(weights.argmax(), weights.shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "options", "named"),
    [
        ("elsewhere", {"order": "best"}, "order is 'best'"),
        ("elsewhere", {"query": 99}, "query is 99"),
        ("elsewhere", {"kind": "cross", "layer": 9, "head": 1}, "layer is 9"),
        ("omissions", {"target": "word " * 190}, "at most 160"),
    ],
)
def test_what_cannot_be_is_said(ask: Any, view: str, options: dict, named: str) -> None:
    assert named in ask(view, **options)["error"]


@pytest.mark.slow
def test_without_an_index_the_remedy_is_said(tiny_checkpoint: Path) -> None:
    functions = {f.__name__: f for f in server_functions(Models({"de-en": tiny_checkpoint}, device="cpu"))}
    request = {"text": TEXT, "direction": "de-en", "view": "plane", "options": {}}
    assert "has no index" in functions["lab_ask"](request)["error"]


@pytest.mark.slow
def test_marks_are_the_meters_with_the_tokens_of_each_word(folder: Path) -> None:
    made = translator.load(folder, device="cpu")
    meter = stored_meter(made)
    assert meter is not None
    left_out = next(each for each in explorer_functions(Models({"de-en": folder})) if each.__name__ == "left_out")
    answer = left_out({"text": TEXT, "direction": "de-en", "settings": {"method": "greedy"}})
    trace = made.translate(TEXT, method="greedy")
    found = omissions(made, trace)
    for side, words, tokens, text in (
        ("src", found.source, trace.src, trace.source),
        ("tgt", found.target, trace.tgt, trace.translation),
    ):
        assert [each["s"] for each in answer[side]] == [word.text for word in words if word.marked]
        for each in answer[side]:
            starts = [tokens[i].span[0] for i in each["ids"] if tokens[i].span]
            assert text[min(starts) :].startswith(each["s"])
    assert answer["src"] or answer["tgt"]
    assert answer["rates"]["src"] == {"found": meter.source.found, "wrong": meter.source.wrong}


@pytest.mark.slow
def test_the_page_gets_alti_as_the_function_gives_it(folder: Path) -> None:
    made = translator.load(folder, device="cpu")
    asked = next(each for each in explorer_functions(Models({"de-en": folder})) if each.__name__ == "alti")
    answer = asked({"text": TEXT, "direction": "de-en", "settings": {"method": "greedy"}})
    found = alti(made, made.translate(TEXT, method="greedy"))
    want = {"encoder": found.memory, "cross": found.total.source, "decoder": found.total.target}
    for kind, values in want.items():
        np.testing.assert_allclose(unpack(answer[kind], "f32"), values.ravel(), atol=1e-5)
    np.testing.assert_allclose(found.memory.sum(axis=1), 1, atol=1e-9)
    assert "error" in asked({"text": "", "direction": "de-en"})
