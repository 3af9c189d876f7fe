"""Greedy, beam and sampled search against brute force, against each other and against `transformers`' rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType

import pytest
import torch

from translator.config import DecodeConfig
from translator.decode import Hypothesis, IdStep, finish, replay, search, search_batch
from translator.decode.beam import BeamSearch, penalty, run
from translator.decode.steps import Decoding
from translator.engine import EagerEngine
from translator.errors import CancelledError, InputError
from translator.model import Transformer

SOURCE = [4, 5, 3, 4, 2]
GREEDY = DecodeConfig()
METHODS = (
    GREEDY,
    DecodeConfig(method="beam", beam=3),
    DecodeConfig(method="beam", beam=3, penalty_kind="power", length_penalty=1.0, early_stopping=True),
    DecodeConfig(method="sample", seed=3, temperature=1.3, top_k=20, top_p=0.9),
)


@pytest.fixture(scope="module")
def model(checkpoint_maker: ModuleType) -> Transformer:
    return checkpoint_maker.tiny_model(9, 9)


@pytest.fixture(scope="module")
def wide(checkpoint_maker: ModuleType) -> Transformer:
    """A model of a larger vocabulary."""
    return checkpoint_maker.tiny_model(60, 60, seed=5)


def run_through(
    model: Transformer, src: Sequence[int], config: DecodeConfig, **more: object
) -> tuple[list[IdStep], Hypothesis]:
    steps = []
    searching = search(EagerEngine(model), src, config, **{"max_length": 12, **more})  # type: ignore[arg-type]
    while True:
        try:
            steps.append(next(searching))
        except StopIteration as end:
            return steps, end.value


def score(model: Transformer, src: Sequence[int], ids: Sequence[int]) -> float:
    """The log-probability of a target by the plain forward pass."""
    tgt = torch.tensor([[model.config.start_id, *ids]])
    with torch.inference_mode():
        logits = model(torch.tensor([src]), tgt[:, :-1], None)[0]
    return float(logits.log_softmax(-1).gather(1, tgt[0, 1:, None]).sum())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["wu", "power"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_a_beam_as_wide_as_the_tree_equals_brute_force(
    checkpoint_maker: ModuleType, seed: int, kind: str, alpha: float
) -> None:
    model = checkpoint_maker.tiny_model(9, 6, seed=seed)
    config = DecodeConfig(method="beam", beam=64, length_penalty=alpha, penalty_kind=kind)  # type: ignore[arg-type]
    length, words, eos = 3, [3, 4, 5], 2
    targets = [(*body, eos) for n in range(length) for body in itertools.product(words, repeat=n)]
    targets += list(itertools.product(words, repeat=length))
    best = max(targets, key=lambda ids: score(model, SOURCE, ids) / penalty(len(ids), config))
    _, found = run_through(model, SOURCE, config, max_length=length)
    assert found.ids == best
    assert found.truncated == (best[-1] != eos)


@pytest.mark.slow
@pytest.mark.parametrize("src", [SOURCE, [7, 2], [8, 8, 8, 2]])
def test_a_beam_of_one_is_greedy(wide: Transformer, src: list[int]) -> None:
    _, greedy = run_through(wide, src, GREEDY)
    _, one = run_through(wide, src, DecodeConfig(method="beam", beam=1))
    assert one == greedy
    searching = BeamSearch(DecodeConfig(method="beam", beam=1, early_stopping=True), 2, 12)
    engine = EagerEngine(wide)
    with torch.inference_mode():
        session = engine.start(engine.encode(torch.tensor([src]), None), max_length=12)
        for _ in run(Decoding(engine, session, GREEDY), [searching], [1]):
            pass
    assert searching.best().ids == greedy.ids


@pytest.mark.slow
def test_greedy_takes_the_best_of_what_is_allowed_at_every_step(wide: Transformer) -> None:
    _, found = run_through(wide, SOURCE, GREEDY)
    for t in range(len(found.ids)):
        alternatives = [id_ for id_ in range(60) if id_ not in (0, 1)]
        prefix = found.ids[:t]
        assert found.ids[t] == max(alternatives, key=lambda id_: score(wide, SOURCE, (*prefix, id_)))


@pytest.mark.parametrize("config", METHODS)
def test_step_log_probabilities_sum_to_the_forced_score(wide: Transformer, config: DecodeConfig) -> None:
    steps, found = run_through(wide, SOURCE, config)
    assert found.score == pytest.approx(sum(found.log_probs))
    assert found.score == pytest.approx(score(wide, SOURCE, found.ids), abs=1e-4)
    if config.method != "beam":
        assert [step.log_prob for step in steps] == pytest.approx(found.log_probs)


@pytest.mark.slow
@pytest.mark.parametrize("config", METHODS)
def test_the_search_stops_at_eos_and_never_chooses_padding_or_start(wide: Transformer, config: DecodeConfig) -> None:
    """EOS, padding and the start token are made ever more likely: only EOS may come, and only at the end."""
    ended = 0
    for push in range(0, 40, 4):
        model = Transformer(wide.config).eval()
        model.load_state_dict(wide.state_dict())
        model.output.bias = torch.nn.Parameter(torch.zeros(60).index_fill(0, torch.tensor([0, 1, 2]), float(push)))
        _, found = run_through(model, SOURCE, config)
        assert 0 not in found.ids
        assert 1 not in found.ids
        assert 2 not in found.ids[:-1]
        assert found.truncated == (found.ids[-1] != 2)
        assert not found.truncated or len(found.ids) == 12
        ended += not found.truncated
    assert ended >= 2


def test_ended_hypotheses_of_a_beam_keep_their_rank_against_the_reference() -> None:
    """A hand-worked case, beam 2, length^1: an end outside the best two is dropped, a better end is kept."""
    config = DecodeConfig(method="beam", beam=2, length_penalty=1.0, penalty_kind="power")
    searching = BeamSearch(config, eos_id=2, max_length=5)
    searching.grow([(0, 5, -1.0), (0, 6, -1.5), (0, 2, -2.0)])
    assert [h.ids for h in searching.live] == [(5,), (6,)]
    assert not searching.ended
    searching.grow([(0, 2, -0.2), (1, 7, -0.1), (0, 8, -0.9), (1, 2, -1.0)])
    assert [h.ids for h in searching.ended] == [(5, 2)]
    assert [h.ids for h in searching.live] == [(6, 7), (5, 8)]
    assert [beam.parent for beam in searching.beams] == [0, 1, 0]
    searching.grow([(0, 2, -0.1), (1, 2, -0.1)])
    assert [beam.parent for beam in searching.beams] == [1, 2]  # places among three beams, one of which had ended
    assert searching.best().ids == (6, 7, 2)  # -1.7 / 3 beats -1.2 / 2 and -2.0 / 3
    assert [h.ids for h in searching.ended] == [(6, 7, 2), (5, 2)]


@pytest.mark.parametrize("early", [True, False])
def test_when_a_beam_search_ends(early: bool) -> None:
    """Two have ended, at -1.0 and -1.3 / 2, while one lives at -1.9 / 2 and could still be better than -1.0."""
    config = DecodeConfig(method="beam", beam=2, length_penalty=1.0, penalty_kind="power", early_stopping=early)
    searching = BeamSearch(config, eos_id=2, max_length=9)
    searching.grow([(0, 2, -1.0), (0, 5, -1.2), (0, 6, -1.3)])
    assert not searching.done
    searching.grow([(0, 2, -0.1), (0, 7, -0.7), (1, 7, -0.7)])
    assert searching.done == early
    searching.grow([(0, 7, -5.0), (1, 7, -5.0)])
    assert searching.done


@pytest.mark.parametrize("first", [None, 5])
def test_a_beam_tells_the_log_probability_that_its_step_holds(wide: Transformer, first: int | None) -> None:
    config = DecodeConfig(method="beam", beam=4, first_id=first)
    steps, _ = run_through(wide, [5, 9, 7, 2], config)
    assert [step.log_prob for step in steps] == [float(step.log_probs[step.id]) for step in steps]
    assert all(step.known is not None for step in steps[first is not None :])


@pytest.mark.slow
def test_beams_tell_a_whole_story(wide: Transformer) -> None:
    steps, found = run_through(wide, SOURCE, DecodeConfig(method="beam", beam=4))
    before = None
    for step in steps:
        assert step.ids == step.beams[0].ids
        assert max(step.beams, key=lambda beam: beam.score).ids == step.ids
        for beam in step.beams:
            assert beam.score == pytest.approx(score(wide, SOURCE, beam.ids), abs=1e-3)
            if before is not None:
                assert before[beam.parent].ids == beam.ids[:-1]
                assert not before[beam.parent].ended
        before = step.beams
    assert any(beam.ids == found.ids for step in steps for beam in step.beams)


@pytest.mark.parametrize("config", METHODS)
def test_the_prefix_is_forced(wide: Transformer, config: DecodeConfig) -> None:
    prefix = (9, 50, 31)
    steps, found = run_through(wide, SOURCE, config, prefix=prefix)
    assert found.ids[:3] == prefix
    assert len(found.ids) > 3
    assert [len(step.ids) for step in steps] == list(range(1, len(steps) + 1))
    assert found.score == pytest.approx(score(wide, SOURCE, found.ids), abs=1e-4)
    _, ended = run_through(wide, SOURCE, config, prefix=(*prefix, 2))
    assert ended.ids == (*prefix, 2)
    assert not ended.truncated
    _, full = run_through(wide, SOURCE, config, prefix=prefix, max_length=3)
    assert full.ids == prefix
    assert full.truncated


def test_greedy_goes_on_from_its_own_prefix(wide: Transformer) -> None:
    _, whole = run_through(wide, SOURCE, GREEDY)
    _, resumed = run_through(wide, SOURCE, GREEDY, prefix=whole.ids[:5])
    assert resumed.ids == whole.ids


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prefix": (0,)}, "padding or the start"),
        ({"prefix": (2, 5)}, "goes on after"),
        ({"prefix": (99,)}, "id 99"),
        ({"prefix": (5,) * 13}, "13 tokens"),
        ({"max_length": 0}, "0 tokens"),
        ({"max_length": 201}, "201 tokens"),
        ({"src": []}, "0 tokens"),
        ({"src": [5] * 201}, "201 tokens"),
        ({"src": [5, 60]}, "id 60"),
        ({"src": [-1]}, "id -1"),
    ],
)
def test_what_does_not_fit_is_named(wide: Transformer, change: dict[str, object], words: str) -> None:
    arguments = {"src": SOURCE, "max_length": 12, **change}
    with pytest.raises(InputError, match=words):
        next(search(EagerEngine(wide), arguments.pop("src"), GREEDY, **arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize("config", METHODS)
def test_stop_is_asked_before_every_step(wide: Transformer, config: DecodeConfig) -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    searching = search(EagerEngine(wide), SOURCE, config, max_length=12, stop=stop)
    for _ in range(3):
        next(searching)
    with pytest.raises(CancelledError):
        next(searching)


@pytest.mark.slow
def test_sampling_is_repeatable_and_follows_the_seed(wide: Transformer) -> None:
    found = {run_through(wide, SOURCE, DecodeConfig(method="sample", seed=seed))[1].ids for seed in range(8)}
    again = {run_through(wide, SOURCE, DecodeConfig(method="sample", seed=seed))[1].ids for seed in range(8)}
    assert found == again
    assert len(found) == 8


def test_filters_of_sampling_leave_only_the_best(wide: Transformer) -> None:
    _, greedy = run_through(wide, SOURCE, GREEDY)
    for config in (DecodeConfig(method="sample", top_k=1, seed=4), DecodeConfig(method="sample", top_p=0.001, seed=4)):
        assert run_through(wide, SOURCE, config)[1].ids == greedy.ids


def _draws(model: Transformer, count: int, **settings: object) -> torch.Tensor:
    """How often each id is drawn first."""
    counts = torch.zeros(model.config.tgt_vocab)
    for seed in range(count):
        _, found = run_through(model, SOURCE, DecodeConfig(method="sample", seed=seed, **settings), max_length=1)  # type: ignore[arg-type]
        counts[found.ids[0]] += 1
    return counts / count


@pytest.mark.slow
@pytest.mark.parametrize(("temperature", "top_p"), [(3.0, 1.0), (3.0, 0.8), (1.0, 0.8)])
def test_sampling_draws_from_the_filtered_softmax(model: Transformer, temperature: float, top_p: float) -> None:
    """The best 4, then the fewest that hold `top_p` of those; 400 draws against the distribution by hand."""
    first = next(search(EagerEngine(model), SOURCE, GREEDY, max_length=1)).log_probs.clone()
    first[[0, 1]] = -torch.inf
    probs, ids = first.div(temperature).exp().topk(4)
    probs = probs / probs.sum()
    kept = next(n for n in range(1, 5) if probs[:n].sum() >= top_p - 1e-6)
    expected = torch.zeros(9).index_put((ids[:kept],), probs[:kept] / probs[:kept].sum())
    found = _draws(model, 400, temperature=temperature, top_k=4, top_p=top_p)
    assert set(found.nonzero().flatten().tolist()) == set(ids[:kept].tolist())
    assert (found - expected).abs().max() < 4 * (0.25 / 400) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("config", METHODS)
@pytest.mark.parametrize("rows", [1, 4, 64])
def test_a_batch_gives_the_tokens_of_single_searches(wide: Transformer, config: DecodeConfig, rows: int) -> None:
    generator = torch.Generator().manual_seed(7)
    sources = [[*torch.randint(3, 60, (n % 11 + 1,), generator=generator).tolist(), 2] for n in range(23)]
    limits = [n % 9 + 1 for n in range(23)]
    found = search_batch(EagerEngine(wide), sources, config, max_lengths=limits, rows=rows)
    for ids, source, limit in zip(found, sources, limits, strict=True):
        assert ids == finish(search(EagerEngine(wide), source, config, max_length=limit)).ids


def test_an_empty_batch_is_empty(wide: Transformer) -> None:
    assert search_batch(EagerEngine(wide), [], GREEDY, max_lengths=[]) == []


@pytest.mark.parametrize("config", METHODS)
def test_a_batch_can_be_stopped(wide: Transformer, config: DecodeConfig) -> None:
    with pytest.raises(CancelledError):
        search_batch(EagerEngine(wide), [SOURCE], config, max_lengths=[5], stop=lambda: True)


@pytest.mark.parametrize("decode", [search_batch, replay])
def test_a_fixed_length_model_reads_its_padding(checkpoint_maker: ModuleType, decode: Callable) -> None:
    """The same source, padded by hand for a twin without a fixed length, gives the same tokens and maps."""
    fixed = checkpoint_maker.tiny_model(30, 30, padded_length=8)
    plain = checkpoint_maker.tiny_model(30, 30)
    padded = [*SOURCE, 0, 0, 0]
    if decode is search_batch:
        found = search_batch(EagerEngine(fixed), [SOURCE, [5, 2]], GREEDY, max_lengths=[6, 6])[0]
        assert found == search_batch(EagerEngine(plain), [padded], GREEDY, max_lengths=[6])[0]
    else:
        assert replay(EagerEngine(fixed), SOURCE, [4, 2]).cross == pytest.approx(
            replay(EagerEngine(plain), padded, [4, 2]).cross
        )


def test_the_listener_is_not_left_in_inference_mode(wide: Transformer) -> None:
    for _ in search(EagerEngine(wide), SOURCE, GREEDY, max_length=3):
        assert not torch.is_inference_mode_enabled()


def test_length_penalties_by_hand() -> None:
    wu, power = (DecodeConfig(length_penalty=0.6, penalty_kind=kind) for kind in ("wu", "power"))  # type: ignore[arg-type]
    assert [penalty(n, wu) for n in (1, 7, 13)] == pytest.approx([1.0, 2**0.6, 3**0.6])
    assert [penalty(n, power) for n in (1, 7, 13)] == pytest.approx([1.0, 7**0.6, 13**0.6])
