"""Head ablation: heads gated one by one or in any combination, and the effect on a translation.

A gate between 0 and 1 multiplies a head's output before the output projection; 1 is the model as it is.
Sources: Voita et al. 2019, "Analyzing multi-head self-attention"; Michel et al. 2019, "Are sixteen heads
really better than one?". What the model would have learned without the head, neither can say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike

from translator.analysis.passes import KINDS, Pair, head_counts, pair_of, to_numpy
from translator.analysis.stopping import Stop, ask
from translator.errors import InputError
from translator.model import Gates, Transformer
from translator.pipeline import Translator
from translator.rules import whole
from translator.settings import Settings, Unpack
from translator.trace import Trace, known_kind

Values = Mapping[str, ArrayLike]
"""For each kind of attention that is changed, its gates [L, H] from 0 to 1."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Switched:
    """A translation as it was and as it is with the gates.

    `before` is the trace as the model gave it, `after` what it decodes with the gates set. `fixed` is the first
    translation's log-probability under the gates, [T] in nats, token by token.
    """

    before: Trace
    after: Trace
    fixed: np.ndarray

    @property
    def change(self) -> float:
        """How much log-probability the first translation gains, in nats (below 0: it loses)."""
        return float(self.fixed.sum() - self.before.score)


def make_gates(model: Transformer, values: Values) -> Gates:
    """`values` as the model takes them.

    Raises:
        InputError: an unknown kind of attention, a shape that does not fit, or a gate outside 0 to 1.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"the gates are {type(values).__name__}; they must be tables by the kind of attention")
    counts = head_counts(model)
    made = {}
    for kind, given in values.items():
        known_kind(kind)
        try:
            if np.asarray(given).dtype.kind not in "biuf":  # NumPy would read numbers out of texts
                raise TypeError(f"{given!r:.80}")
            array = np.array(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"the gates of {kind} are no table of numbers: {error}") from error
        if array.shape != counts[kind]:
            raise InputError(f"the gates of {kind} are {array.shape}; they must be {counts[kind]}, layers by heads")
        wrong = array[~((array >= 0) & (array <= 1))]
        if wrong.size:
            raise InputError(f"a gate of {kind} is {wrong.flat[0]:g}; gates are from 0 (silent) to 1 (as it is)")
        made[kind] = torch.from_numpy(array.astype(np.float32)).to(model.output.weight.device)
    return Gates(**made)


def silence(model: Transformer, heads: Sequence[tuple[str, int, int]]) -> dict[str, np.ndarray]:
    """Gates [L, H] of each kind: 0 for each (kind, layer, head) of `heads`, counted from 0, and 1 for the others.

    Raises:
        InputError: there is no such head.
    """
    counts = head_counts(model)
    values = {kind: np.ones(shape) for kind, shape in counts.items()}
    for each in heads:
        try:
            kind, layer, head = each
            place = tuple(whole("head", at, 0, size - 1) for at, size in zip((layer, head), counts[kind], strict=True))
        except (TypeError, ValueError, KeyError) as error:
            known = ", ".join(f"{name} {a} × {b}" for name, (a, b) in counts.items())
            said = f"there is no head {each!r:.80}; a head is (kind, layer, head), counted from 0"
            raise InputError(f"{said}, and layers × heads are {known}") from error
        values[kind][place] = 0
    return values


def switch(translator: Translator, trace: Trace, values: Values, **settings: Unpack[Settings]) -> Switched:
    """Decode the sentence of `trace` again, as it was decoded, with the gates `values`.

    Args:
        settings: over those of the trace: fields of `DecodeConfig`, `stop`, `deadline`.
    Raises:
        InputError: the gates are refused (see `make_gates`), or another checkpoint made the trace.
    """
    pair = pair_of(translator, trace)
    gates = make_gates(pair.model, values)
    after = translator.translate(trace.source, **{**asdict(trace.settings), **settings}, gates=gates)
    with torch.inference_mode():
        logits = pair.decode(pair.encode(gates).memory, gates).logits
        return Switched(trace, after, to_numpy(pair.log_probs(logits))[0])


def head_importance(
    translator: Translator,
    trace: Trace,
    kinds: Sequence[str] = KINDS,
    *,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> dict[str, np.ndarray]:
    """Δ log-probability in nats of the translation of `trace`, kept fixed, when each head alone is silent.

    One pass a layer, its heads side by side in the batch: a pass begins at its own layer, since what lies
    below a silent head is as it was. An adapted model, whose layers are another's, runs from the start each time.

    Args:
        stop: asked before every layer; True ends the work.
        progress: told how many layers are done, and of how many.
    Returns:
        [L, H] for each kind: below 0 the translation loses, above 0 it gains.
    Raises:
        InputError: an unknown kind of attention, or another checkpoint made the trace.
        CancelledError: `stop` said so.
    """
    pair = pair_of(translator, trace)
    counts = head_counts(pair.model)
    for kind in kinds:
        known_kind(kind)
    todo = [(kind, layer) for kind in kinds for layer in range(counts[kind][0])]
    out = {kind: np.zeros(counts[kind]) for kind in kinds}
    with torch.inference_mode():
        encoded = pair.encode()
        decoded = pair.decode(encoded.memory)
        usual = pair.log_probs(decoded.logits)[0].double().sum()
        for done, (kind, layer) in enumerate(todo):
            ask(stop, "the head map")
            if not hasattr(pair.model, "decoder"):
                scores = _gated(pair, kind, layer)
            elif kind == "encoder":
                memory = _encoder_without(pair, encoded.states[:, layer], layer)
                ask(stop, "the head map")
                scores = _decoder_without(pair, decoded.states[:, 0], memory, None, 0)
            else:
                scores = _decoder_without(pair, decoded.states[:, layer], encoded.memory, kind, layer)
            out[kind][layer] = to_numpy(scores - usual)
            if progress is not None:
                progress(done + 1, len(todo))
    return out


def _gated(pair: Pair, kind: str, layer: int) -> torch.Tensor:
    """Summed log-probabilities [H] of the target where row h lacks head h of a layer, by gates over the whole model."""
    layers, heads = head_counts(pair.model)[kind]
    gate = torch.ones(layers, heads, heads, device=pair.src_ids.device)
    gate[layer] -= torch.eye(heads, device=gate.device)
    gates = Gates(**{kind: gate})
    keep = None if pair.src_keep is None else pair.src_keep.expand(heads, -1)
    memory = pair.model.encode(pair.src_ids.expand(heads, -1), keep, gates).memory
    logits = pair.model.decode(pair.reads.expand(heads, -1), memory, keep, gates).logits
    return pair.log_probs(logits).double().sum(-1)


def _encoder_without(pair: Pair, x: torch.Tensor, first: int) -> torch.Tensor:
    """Memory [H, S, D] where row h lacks head h of layer `first`; x [1, S, D] is the stream before that layer."""
    heads = pair.model.config.encoder_heads
    keep = None if pair.src_keep is None else pair.src_keep[:, None, None, :]
    x, gate = x.expand(heads, -1, -1), 1 - torch.eye(heads, device=x.device)
    for index in range(first, pair.model.config.encoder_layers):
        x = pair.model.encoder[index](x, keep, gate if index == first else None)[0]
    normed: torch.Tensor = pair.model.encoder_norm(x)
    return normed


def _decoder_without(pair: Pair, x: torch.Tensor, memory: torch.Tensor, kind: str | None, first: int) -> torch.Tensor:
    """Summed log-probabilities [H] of the target where row h lacks head h of layer `first`.

    x [1, T, D] is the stream before that layer. With `kind` None nothing is silent here, and the rows are memory's.
    """
    model = pair.model
    heads = len(memory) if kind is None else model.config.decoder_heads
    keep = None if pair.src_keep is None else pair.src_keep[:, None, None, :]
    causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
    gate = 1 - torch.eye(heads, device=x.device)
    x, memory = x.expand(heads, -1, -1), memory.expand(heads, -1, -1)
    for index in range(first, model.config.decoder_layers):
        own, cross = (gate if kind == name and index == first else None for name in ("decoder", "cross"))
        x = model.decoder[index](x, causal, memory, keep, (own, cross))[0]
    return pair.log_probs(model.output(model.decoder_norm(x))).double().sum(-1)


def gate_gradient(translator: Translator, trace: Trace) -> dict[str, np.ndarray]:
    """∂ log p / ∂ gate of the fixed translation, with every gate at 1: [L, H] for each kind, in nats.

    One backward pass for all heads: the cheap cousin of `head_importance` (Michel et al. 2019, section 4.1, take
    its size as a head's importance). A gradient sees small changes only: a head that matters may have a small one.

    Raises:
        InputError: another checkpoint made the trace.
    """
    pair = pair_of(translator, trace)
    dtype, device = pair.model.output.weight.dtype, translator.device
    ones = {
        kind: torch.ones(shape, dtype=dtype, device=device, requires_grad=True)
        for kind, shape in head_counts(pair.model).items()
    }
    with torch.enable_grad():
        gates = Gates(**ones)
        logits = pair.decode(pair.encode(gates).memory, gates).logits
        pair.log_probs(logits).sum().backward()
    return {kind: to_numpy(gate.grad) for kind, gate in ones.items() if gate.grad is not None}
