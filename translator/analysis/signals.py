"""Four signals of omitted source words and invented target words: log-probability, occlusion, ALTI+ and attention.

Higher is more suspicious.

Sources: Vamvas and Sennrich 2022 (a translation that is likelier without a source word leaves it out); Guerreiro et
al. 2023 (log-probability); Dale et al. 2023 (ALTI+). What each is worth was measured: see `omissions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from translator.analysis.alti import alti
from translator.analysis.deletion import deletion
from translator.analysis.faithfulness import occlusion
from translator.analysis.words import Words, source_words, target_words
from translator.pipeline import Translator
from translator.trace import Trace

SIGNALS = ("log-probability", "occlusion", "source share", "attention")


@dataclass(frozen=True, eq=False)
class Signals:
    """`source` words with `of_source` [W, 4], and the `target` words with `of_target` [V, 4], in the order of SIGNALS.

    Of a source word: nats per target token that the translation gains without the word; the same with the word hidden
    from attention; minus the largest share of a prediction that is its own by ALTI+; minus the largest weight that
    cross-attention, its heads averaged, gives it. Of a target word: minus its log-probability; minus the nats that its
    tokens lose, on average, with one source word after the other hidden; minus its source share by ALTI+; minus the
    cross-attention to words with letters.
    """

    source: Words
    target: Words
    of_source: np.ndarray
    of_target: np.ndarray


def signals(translator: Translator, trace: Trace, *, stop: Callable[[], bool] | None = None) -> Signals:
    """All signals of one translation, the model's own or a forced one.

    Raises:
        InputError: another checkpoint made the trace.
        CancelledError: `stop` said so.
    """
    source, target = source_words(trace), target_words(trace)
    masks: list[np.ndarray] = list(source.members)
    removed = deletion(translator, trace, masks, stop=stop)
    hidden = occlusion(translator, trace, masks, stop=stop)
    contributions = alti(translator, trace, stop=stop).total
    attention = source.sums(trace.cross.mean(axis=(0, 1)))
    of_source = (
        -removed.mean(axis=0),
        -hidden.mean(axis=0),
        -source.sums(contributions.source).max(axis=0),
        -attention.max(axis=0),
    )
    of_target = (
        -target.sums(trace.log_probs),
        -target.means(hidden.sum(axis=1)),
        -target.means(contributions.source_share),
        -target.means(attention[:, source.lettered].sum(axis=1)),
    )
    return Signals(source, target, np.stack(of_source, axis=1), np.stack(of_target, axis=1))
