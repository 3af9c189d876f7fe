"""The source documents' own layouts, against small re-implementations of the paper with the layouts' names."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import translator
from translator.checkpoints import load_bundle
from translator.checkpoints.convert import convert
from translator.decode import finish, replay, search, search_batch
from translator.engine import EagerEngine
from translator.errors import CheckpointError

HEADS = 2


def attend(q: Tensor, k: Tensor, v: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
    """Equation 1 of Vaswani et al. 2017 for each of `HEADS` heads: mixed [T, D] and weights [H, T, S]."""
    size = q.shape[-1] // HEADS
    mixed, maps = [], []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        scores = (q[:, part] @ k[:, part].T / math.sqrt(size)).masked_fill(~keep, -1e9)
        maps.append(scores.softmax(-1))
        mixed.append(maps[-1] @ v[:, part])
    return torch.cat(mixed, -1), torch.stack(maps)


def paper_positions(length: int, width: int) -> Tensor:
    return torch.tensor(
        [
            [(math.sin if i % 2 == 0 else math.cos)(p / 10000 ** (2 * (i // 2) / width)) for i in range(width)]
            for p in range(length)
        ]
    )


class Annotated:
    """Forward passes over the weights of the Annotated Transformer's layout, one sentence, no batch."""

    def __init__(self, state: dict[str, Tensor], layers: int) -> None:
        self.state, self.layers = state, layers

    def linear(self, name: str, x: Tensor) -> Tensor:
        return x @ self.state[f"{name}.weight"].T + self.state[f"{name}.bias"]

    def norm(self, name: str, x: Tensor) -> Tensor:
        gain, offset = self.state[f"{name}.a_2"], self.state[f"{name}.b_2"]
        variance = ((x - x.mean(-1, keepdim=True)) ** 2).sum(-1, keepdim=True) / (x.shape[-1] - 1)
        return gain * (x - x.mean(-1, keepdim=True)) / (variance + 1e-6).sqrt() + offset

    def embed(self, side: str, ids: list[int]) -> Tensor:
        table = self.state[f"{side}_embed.0.lut.weight"]
        return table[ids] * math.sqrt(table.shape[1]) + paper_positions(len(ids), table.shape[1])

    def attention(self, name: str, x: Tensor, memory: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (self.linear(f"{name}.linears.{n}", y) for n, y in enumerate((x, memory, memory)))
        mixed, maps = attend(q, k, v, keep)
        return self.linear(f"{name}.linears.3", mixed), maps

    def feed_forward(self, name: str, x: Tensor) -> Tensor:
        return self.linear(f"{name}.feed_forward.w_2", self.linear(f"{name}.feed_forward.w_1", x))

    def __call__(self, src: list[int], tgt: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Logits, and the maps [L, H, .., ..] of encoder, decoder and cross."""
        keep = (torch.tensor(src) != 0)[None, :].expand(len(src), -1)
        x, maps = self.embed("src", src), ([], [], [])
        for n in range(self.layers):
            name = f"encoder.layers.{n}"
            y = self.norm(f"{name}.sublayer.0.norm", x)
            update, weights = self.attention(f"{name}.self_attn", y, y, keep)
            maps[0].append(weights)
            x = x + update
            x = x + self.feed_forward(name, self.norm(f"{name}.sublayer.1.norm", x))
        memory = self.norm("encoder.norm", x)
        causal = torch.ones(len(tgt), len(tgt)).tril().bool()
        keep = (torch.tensor(src) != 0)[None, :].expand(len(tgt), -1)
        x = self.embed("tgt", tgt)
        for n in range(self.layers):
            name = f"decoder.layers.{n}"
            y = self.norm(f"{name}.sublayer.0.norm", x)
            update, weights = self.attention(f"{name}.self_attn", y, y, causal)
            maps[1].append(weights)
            x = x + update
            update, weights = self.attention(f"{name}.src_attn", self.norm(f"{name}.sublayer.1.norm", x), memory, keep)
            maps[2].append(weights)
            x = x + update
            x = x + self.feed_forward(name, self.norm(f"{name}.sublayer.2.norm", x))
        logits = self.linear("generator.proj", self.norm("decoder.norm", x))
        return (logits, *(torch.stack(part) for part in maps))


class NanoGPT(Annotated):
    """The same for the German-English layout, every source padded with 0 to the block."""

    def __init__(self, state: dict[str, Tensor], block: int) -> None:
        super().__init__(state, 1)
        self.block = block

    def linear(self, name: str, x: Tensor) -> Tensor:
        bias = self.state.get(f"{name}.bias")
        return x @ self.state[f"{name}.weight"].T + (0 if bias is None else bias)

    def norm(self, name: str, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], self.state[f"{name}.weight"], self.state.get(f"{name}.bias"), 1e-5)

    def embed(self, side: str, ids: list[int]) -> Tensor:
        return self.state[f"{side}_embed.wte.weight"][ids] + self.state[f"{side}_embed.wtp.weight"][: len(ids)]

    def processing(self, side: str, x: Tensor) -> Tensor:
        name = f"{side}.{side}_processing_layer"
        x = self.norm(f"{name}.layernorm1", x)
        dense = self.linear(f"{name}.denselayer2", self.linear(f"{name}.denselayer1", x))
        return self.norm(f"{name}.layernorm2", dense + x)

    def __call__(self, src: list[int], tgt: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        block, tgt = self.block, tgt + [0] * (self.block - len(tgt))
        src = src + [0] * (block - len(src))
        all_of_it, causal = torch.ones(block, block).bool(), torch.ones(block, block).tril().bool()
        x, y = self.embed("encoder", src), self.embed("decoder", tgt)
        mixed, encoder = attend(*self.linear("encoder.attention_encoder.c_attn", x).chunk(3, -1), all_of_it)
        memory = self.processing("encoder", self.linear("encoder.attention_encoder.c_proj", mixed) + x)
        mixed, decoder = attend(*self.linear("decoder.masked_attention.c_attn", y).chunk(3, -1), causal)
        y = self.norm("decoder.layernorm", self.linear("decoder.masked_attention.c_proj", mixed) + y)
        q = self.linear("decoder.encoder_decoder_attn.c_attn", y)
        mixed, cross = attend(q, *self.linear("decoder.encoder_decoder_attn.c_attn_en", memory).chunk(2, -1), all_of_it)
        y = self.processing("decoder", self.linear("decoder.encoder_decoder_attn.c_proj", mixed) + y)
        return self.linear("final_layer", y), encoder[None], decoder[None], cross[None]


def random_state(shapes: dict[str, tuple[int, ...]], seed: int = 3) -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=draw) * 0.5 for name, shape in shapes.items()}


def linear_shapes(name: str, rows: int, columns: int, bias: bool = True) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (rows, columns), **({f"{name}.bias": (rows,)} if bias else {})}


ENGLISH = ["BOS", "EOS", "i", "do", "n't", "feel", "like", "walking", ".", "``", "''", "she"]
CHINESE = ["BOS", "EOS", "我", "不", "想", "散", "步", "。", "她"]
D, FF = 8, 12


def annotated_shapes() -> dict[str, tuple[int, ...]]:
    src, tgt = len(ENGLISH) + 2, len(CHINESE) + 2
    shapes: dict[str, tuple[int, ...]] = {"src_embed.0.lut.weight": (src, D), "tgt_embed.0.lut.weight": (tgt, D)}
    shapes.update(linear_shapes("generator.proj", tgt, D))
    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "src_attn"])):
        shapes.update({f"{side}.norm.a_2": (D,), f"{side}.norm.b_2": (D,)})
        for n in range(2):
            name = f"{side}.layers.{n}"
            for attention in attentions:
                for linear in range(4):
                    shapes.update(linear_shapes(f"{name}.{attention}.linears.{linear}", D, D))
            shapes.update(linear_shapes(f"{name}.feed_forward.w_1", FF, D))
            shapes.update(linear_shapes(f"{name}.feed_forward.w_2", D, FF))
            for sublayer in range(len(attentions) + 1):
                shapes.update({f"{name}.sublayer.{sublayer}.norm.{part}_2": (D,) for part in "ab"})
    return shapes


@pytest.fixture
def annotated(tmp_path: Path) -> tuple[Path, dict[str, Tensor]]:
    folder = tmp_path / "annotated"
    folder.mkdir()
    state = random_state(annotated_shapes())
    table = paper_positions(60, D)[None]
    torch.save({**state, "src_embed.1.pe": table, "tgt_embed.1.pe": table}, folder / "model.pt")
    for side, words in (("src", ENGLISH), ("tgt", CHINESE)):
        ids = {"UNK": 0, "PAD": 1, **{word: n + 2 for n, word in enumerate(words)}}
        (folder / f"{side}_vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    return folder, state


def theirs(ids: list[int], special: list[int]) -> list[int]:
    """Ids of ours as the layout had them: `special` are those of padding, start, end and the unknown word."""
    return [special[id] if id < 4 else id for id in ids]


@pytest.mark.slow
def test_annotated_logits_and_weights(annotated: Any, tmp_path: Path) -> None:
    folder, state = annotated
    bundle = load_bundle(convert(folder, tmp_path / "out", heads=HEADS))
    text = 'I don\'t feel like "swimming".'
    src = [*bundle.src.ids(text), bundle.src.eos_id]
    # BOS i do n't feel like `` (unknown) '' . EOS
    assert theirs(src, [1, 2, 3, 0]) == [2, 4, 5, 6, 7, 8, 11, 0, 12, 10, 3]
    tgt = [4, 3, 6, 2]
    assert bundle.tgt.ids("我?想") == [4, 3, 6]
    logits, *maps = Annotated(state, 2)(theirs(src, [1, 2, 3, 0]), theirs([1, *tgt[:-1]], [1, 2, 3, 0]))
    found = replay(EagerEngine(bundle.model), src, tgt, candidates=100)
    for ours, expected in zip((found.encoder, found.decoder, found.cross), maps, strict=True):
        torch.testing.assert_close(torch.from_numpy(ours), expected, atol=1e-5, rtol=0)
    assert found.cross[..., src.index(3)].max() == 0  # the unknown word is masked
    log_probs = logits.log_softmax(-1)[range(4), theirs(tgt, [1, 2, 3, 0])]
    torch.testing.assert_close(torch.from_numpy(found.log_probs), log_probs, atol=1e-4, rtol=0)


@pytest.mark.slow
def test_annotated_greedy_tokens(annotated: Any, tmp_path: Path) -> None:
    folder, state = annotated
    bundle = load_bundle(convert(folder, tmp_path / "out", heads=HEADS))
    reference, sources = Annotated(state, 2), []
    expected = []
    for text in ("She feels.", "I do n't like walking.", "unknown", 'She, "I"'):
        src = [*bundle.src.ids(text), 2]
        ys = [2]
        while len(ys) < 9 and ys[-1] != 3:
            ys.append(int(reference(theirs(src, [1, 2, 3, 0]), ys)[0][-1].argmax()))
        sources.append(src)
        expected.append(ys[1:])
    found = [finish(search(EagerEngine(bundle.model), src, bundle.decode, max_length=8)).ids for src in sources]
    assert [theirs(list(ids), [1, 2, 3, 0]) for ids in found] == expected
    assert search_batch(EagerEngine(bundle.model), sources, bundle.decode, max_lengths=[8] * 4) == found


def test_annotated_words_are_those_of_nltk() -> None:
    from nltk.tokenize import NLTKWordTokenizer

    from translator.config import TextConfig
    from translator.text import LegacyTokenizer

    tokenizer = LegacyTokenizer(TextConfig("en", level="treebank", normalise="none", lowercase=True), [], source=True)
    for text in (
        '"Why?" I can\'t say; it\'s "odd"...',
        "The cat's 3,000 dogs -- gonna (maybe) $5.",
        "''a'' ``b`` \" c",
    ):
        assert tokenizer.pretokens(text) == NLTKWordTokenizer().tokenize(text.lower())


GERMAN = ["ich", "renne", "in", "den", "park", "dem", "wetter"]
TARGET = ["[start]", "[end]", "i", "run", "into", "the", "park"]
BLOCK = 9


def nanogpt_shapes(bias: bool) -> dict[str, tuple[int, ...]]:
    src, tgt = len(GERMAN) + 1, len(TARGET) + 1
    shapes: dict[str, tuple[int, ...]] = {
        "encoder_embed.wte.weight": (src, D),
        "encoder_embed.wtp.weight": (BLOCK, D),
        "decoder_embed.wte.weight": (tgt, D),
        "decoder_embed.wtp.weight": (BLOCK, D),
        **linear_shapes("final_layer", tgt, D),
    }
    for name, rows in (
        ("encoder.attention_encoder.c_attn", 3 * D),
        ("encoder.attention_encoder.c_proj", D),
        ("decoder.masked_attention.c_attn", 3 * D),
        ("decoder.masked_attention.c_proj", D),
        ("decoder.encoder_decoder_attn.c_attn_en", 2 * D),
        ("decoder.encoder_decoder_attn.c_attn", D),
        ("decoder.encoder_decoder_attn.c_proj", D),
    ):
        shapes.update(linear_shapes(name, rows, D, bias))
    for side in ("encoder", "decoder"):
        name = f"{side}.{side}_processing_layer"
        shapes.update({**linear_shapes(f"{name}.denselayer1", FF, D), **linear_shapes(f"{name}.denselayer2", D, FF)})
        for norm in (f"{name}.layernorm1", f"{name}.layernorm2"):
            shapes.update({f"{norm}.weight": (D,), **({f"{norm}.bias": (D,)} if bias else {})})
    shapes.update({"decoder.layernorm.weight": (D,), **({"decoder.layernorm.bias": (D,)} if bias else {})})
    return shapes


def make_nanogpt(folder: Path, bias: bool) -> tuple[Path, dict[str, Tensor]]:
    folder.mkdir()
    state = random_state(nanogpt_shapes(bias))
    stored = {**state}
    if not bias:
        stored["decoder.masked_attention.bias"] = torch.ones(1, 1, BLOCK, BLOCK).tril()  # a mask under this name
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))]).state_dict()
    torch.save({"model_state_dict": stored, "optimizer_state_dict": optimizer, "epoch": 3}, folder / "model.pt")
    for side, words in (("src", GERMAN), ("tgt", TARGET)):
        ids = {word: n + 1 for n, word in enumerate(words)}
        (folder / f"{side}_vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    return folder, state


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_nanogpt_logits_and_weights(tmp_path: Path, dtype: str) -> None:
    folder, state = make_nanogpt(tmp_path / "nano", bias=False)
    bundle = load_bundle(convert(folder, tmp_path / "out", heads=HEADS, dtype=dtype))
    src = bundle.src.ids("Ich renne, flugs, in-den Park!")  # "flugs" and "inden" are unknown, and left out
    assert [bundle.src.token(id).surface for id in src] == ["ich", "renne", "park"]
    tgt = [*bundle.tgt.ids("I run into the park"), 2]
    logits, *maps = NanoGPT(state, BLOCK)([1, 2, 5], [1, 3, 4, 5, 6, 7])
    found = replay(EagerEngine(bundle.model), [*src, bundle.src.eos_id], tgt)
    rows = [3, 4, 5, 6, 7, 2]
    tolerance = 1e-4 if dtype == "float32" else 2e-2
    log_probs = logits.log_softmax(-1)[range(6), rows]
    torch.testing.assert_close(torch.from_numpy(found.log_probs), log_probs, atol=tolerance, rtol=0)
    for ours, expected in (
        (found.encoder, maps[0]),
        (found.decoder, maps[1][..., :6, :6]),
        (found.cross, maps[2][..., :6, :]),
    ):
        torch.testing.assert_close(torch.from_numpy(ours), expected, atol=tolerance / 10, rtol=0)


@pytest.mark.slow
def test_nanogpt_greedy_tokens_and_a_trace_with_its_padding(tmp_path: Path) -> None:
    folder, state = make_nanogpt(tmp_path / "nano", bias=False)
    engine = translator.load(convert(folder, tmp_path / "out", heads=HEADS))
    trace = engine.translate("Ich renne in den Park.", method="greedy")
    assert [token.surface for token in trace.src] == ["ich", "renne", "in", "den", "park"] + ["<pad>"] * 4
    ys = [1]
    while len(ys) <= BLOCK and ys[-1] != 2:
        logits = NanoGPT(state, BLOCK)([1, 2, 3, 4, 5], ys)[0][len(ys) - 1]
        ys.append(int(logits.index_fill(0, torch.tensor([0, 1]), -math.inf).argmax()))
    assert [theirs([token.id], [0, 1, 2, 0])[0] if token.id < 4 else token.id - 1 for token in trace.tgt] == ys[1:]


def spoil(folder: Path, **changes: Any) -> None:
    state = torch.load(folder / "model.pt", weights_only=True)
    state.update(changes)
    torch.save({name: value for name, value in state.items() if value is not None}, folder / "model.pt")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: (f / "src_vocab.json").unlink(), "src_vocab.json is missing; export"),
        (lambda f: (f / "tgt_vocab.json").write_text('{"BOS": 0}'), "lacks the word 'PAD'"),
        (lambda f: (f / "tgt_vocab.json").write_text('{"BOS": 0, "EOS": 0}'), "the id of 'EOS' is 0"),
        (lambda f: spoil(f, **{"src_embed.0.lut.weight": torch.zeros(99, D)}), "was trained with 99"),
        (lambda f: spoil(f, **{"generator.proj.bias": None}), "lacks generator.proj.bias"),
        (lambda f: spoil(f, **{"generator.proj.bias": torch.zeros(2)}), "generator.proj.bias has the shape"),
        (lambda f: spoil(f, more=torch.zeros(2)), "holds more"),
        (lambda f: spoil(f, **{"src_embed.1.pe": torch.zeros(1, 60, D)}), "other positions"),
        (lambda f: (f / "model.pt").write_bytes(b"x" * 40), "model.pt is cut off"),
        (lambda f: (f / "model.pt").unlink(), "holds no weights"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    annotated: Any, tmp_path: Path, damage: Any, said: str
) -> None:
    folder, _ = annotated
    damage(folder)
    with pytest.raises(CheckpointError, match=said):
        convert(folder, tmp_path / "out", heads=HEADS)
    assert not (tmp_path / "out").exists()


def test_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(1)}, tmp_path / "model.pt")
    with pytest.raises(CheckpointError, match="no layout that is known here"):
        convert(tmp_path, tmp_path / "out")


def test_a_source_documents_pickle_is_refused_by_load_with_the_command_that_converts_it(
    annotated: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(tmp_path / "checkpoints"))
    folder, _ = annotated
    free = tmp_path / "checkpoints" / folder.name
    with pytest.raises(
        CheckpointError, match=rf"^{folder}/model.pt is a pickle.*once: \S+ -m \S+ convert {folder} {free}$"
    ):
        load_bundle(folder)
